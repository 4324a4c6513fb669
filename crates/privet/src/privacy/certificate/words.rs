//! Certificates in words.

use std::fmt;

use super::{Certificate, Claim, Guarantee, Observer};

impl fmt::Display for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anyone => f.write_str("anyone who sees the result"),
            Self::Party(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure { epsilon } => write!(f, "pure differential privacy, ε = {epsilon}"),
            Self::Approximate { epsilon, delta, .. } => {
                write!(f, "differential privacy, ε = {epsilon} at δ = {delta}")
            }
            Self::Local { epsilon } => write!(
                f,
                "local differential privacy, ε = {epsilon} for the whole message"
            ),
            Self::Distance {
                epsilon_per_unit,
                epsilon_whole_domain,
            } => write!(
                f,
                "distance-based privacy, ε = {epsilon_per_unit} per unit of distance, {epsilon_whole_domain} over the \
                 whole domain"
            ),
            Self::Partitioned {
                between: Some(between),
                within,
                width,
            } => write!(
                f,
                "partitioned privacy, ε = {between} between parts of {width} values and {within} per unit within one"
            ),
            Self::Partitioned {
                between: None,
                within,
                width,
            } => write!(
                f,
                "partitioned privacy: the part of {width} values is shown, ε = {within} per unit within it"
            ),
            Self::Simulated { leakage } => {
                f.write_str("nothing is shown but")?;
                for (i, item) in leakage.iter().enumerate() {
                    write!(
                        f,
                        "{} {} x {} (to {})",
                        if i == 0 { "" } else { "," },
                        item.count,
                        item.what,
                        item.to
                    )?;
                }
                Ok(())
            }
            Self::Void { because } => write!(f, "VOID, nobody is protected: {because}"),
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let void = |claim: &&Claim| matches!(claim.guarantee, Guarantee::Void { .. });
        // Whoever reads one line only reads this one.
        for claim in self.claims.iter().filter(void) {
            writeln!(f, "guarantee  {}", claim.guarantee)?;
        }
        writeln!(f, "data set   {}", self.dataset)?;
        for claim in self.claims.iter().filter(|claim| !void(claim)) {
            writeln!(f, "guarantee  {}", claim.guarantee)?;
            writeln!(f, "           against {}, when {}", claim.from, claim.protects)?;
        }
        if !self.is_void() {
            assuming(f, self.assuming())?;
        }
        if self.claims.is_empty() {
            writeln!(f, "guarantee  nothing was released")?;
        }
        for payment in &self.payments {
            writeln!(
                f,
                "paid       {} for {}, at most {} drawn",
                payment.price, payment.what, payment.draws
            )?;
        }
        if let Some(total) = &self.total {
            writeln!(
                f,
                "together   with all other runs on this data set: {}",
                total.guarantee
            )?;
            if !matches!(total.guarantee, Guarantee::Void { .. }) {
                assuming(f, total.assuming.iter().map(String::as_str))?;
            }
            if total.leaks > 0 {
                writeln!(
                    f,
                    "           not counting {} items shown in joint computations",
                    total.leaks
                )?;
            }
            if total.uncovered > 0 {
                writeln!(
                    f,
                    "           not counting {} payments made for another kind of change",
                    total.uncovered
                )?;
            }
            if total.changed > 0 {
                writeln!(
                    f,
                    "           under a limit that was changed {} times after releases",
                    total.changed
                )?;
            }
        }
        if self.recorded {
            write!(f, "ledger     {}", self.ledger)
        } else if self.payments.is_empty() {
            f.write_str("ledger     none: this run is recorded nowhere")
        } else {
            write!(f, "ledger     none: what was spent is not recorded anywhere")
        }
    }
}

/// What an ε rests on, in the reader's way: below the ε itself.
fn assuming<'a>(f: &mut fmt::Formatter<'_>, sentences: impl IntoIterator<Item = &'a str>) -> fmt::Result {
    for sentence in sentences {
        writeln!(f, "           PROVIDED THAT {sentence}")?;
    }
    Ok(())
}
