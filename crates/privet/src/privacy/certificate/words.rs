//! Certificates in words. Whoever wrote one may have written anything: characters that cannot be seen are shown as their numbers, and a text is one line.

use std::fmt;

use crate::privacy::mechanism::ordered::Distance;
use crate::privacy::texts::shown;
use crate::privacy::{Epsilon, Sharing};

use super::{Certificate, Claim, Guarantee, Observer, PartyCertificate, Total};

impl fmt::Display for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anyone => f.write_str("anyone who sees the result"),
            Self::Party(name) => f.write_str(&shown(name)),
            Self::Provided(all) => {
                f.write_str("anyone who sees the result")?;
                provided(f, all)
            }
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
                "local differential privacy, ε = {epsilon} for everything that was sent"
            ),
            Self::Distance {
                columns,
                record,
                unit,
            } => {
                f.write_str("distance-based privacy, ε per unit of distance and over the whole domain:")?;
                let alike = |a: &Distance, b: &Distance| {
                    (&a.mechanism, a.within, a.across, a.whole) == (&b.mechanism, b.within, b.across, b.whole)
                };
                for group in columns.chunk_by(alike) {
                    distance(f, group)?;
                }
                write!(f, " {record} for a row over all of them")?;
                if unit == record {
                    Ok(())
                } else {
                    write!(f, ", {unit} for all rows of a unit")
                }
            }
            Self::Simulated { leakage } => {
                f.write_str("nothing is shown but")?;
                for (i, item) in leakage.iter().enumerate() {
                    write!(
                        f,
                        "{} {} x {} (to {})",
                        if i == 0 { "" } else { "," },
                        item.count,
                        shown(&item.what),
                        shown(&item.to)
                    )?;
                }
                Ok(())
            }
            Self::Void { because } => write!(f, "VOID, nobody is protected: {}", shown(because)),
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
        writeln!(f, "data set   {}", shown(&self.dataset))?;
        for claim in self.claims.iter().filter(|claim| !void(claim)) {
            writeln!(f, "guarantee  {}", claim.guarantee)?;
            writeln!(f, "           against {}, when {}", claim.from, claim.protects)?;
        }
        if !self.is_void() {
            assuming(f, self.assuming())?;
        }
        if self.is_without_rows() {
            writeln!(
                f,
                "guarantee  of each owner: this party has no rows and paid nothing"
            )?;
        } else if self.claims.is_empty() {
            writeln!(f, "guarantee  nothing was released")?;
        }
        for payment in &self.payments {
            writeln!(
                f,
                "paid       {} for {}, at most {} drawn",
                payment.price,
                shown(&payment.what),
                payment.draws
            )?;
        }
        if let Some(total) = &self.total {
            let at_other = self.at_delta_of(total);
            f.write_str("together   ")?;
            if at_other.is_some() {
                f.write_str("under this ledger's budget, ")?;
            }
            f.write_str("with all other runs on this data set: ")?;
            if total.uncovered > 0 && !matches!(total.guarantee, Guarantee::Void { .. }) {
                writeln!(
                    f,
                    "NO PROMISE COVERS EVERYTHING, since {} {} made for another kind of change",
                    total.uncovered,
                    if total.uncovered == 1 {
                        "payment was"
                    } else {
                        "payments were"
                    }
                )?;
                f.write_str("           what this budget counts: ")?;
            }
            match total.guarantee {
                // Beside other releases, an ε of zero would be read as a promise about them.
                Guarantee::Pure {
                    epsilon: Epsilon::ZERO,
                } if total.leaks > 0 || total.desensitised.is_some() => f.write_str("no ε was spent\n")?,
                _ => writeln!(f, "{}", total.guarantee)?,
            }
            if let Some(epsilon) = at_other {
                writeln!(f, "           at that δ this run alone has ε = {epsilon}")?;
            }
            if !matches!(total.guarantee, Guarantee::Void { .. }) {
                assuming(f, total.assuming.iter().map(String::as_str))?;
                if !total.sharing.is_empty() {
                    f.write_str("           against anyone who sees it")?;
                    provided(f, &total.sharing)?;
                    f.write_str("\n")?;
                }
            }
            if total.leaks > 0 {
                writeln!(
                    f,
                    "           not counting {} items shown in joint computations",
                    total.leaks
                )?;
            }
            if let Some(columns) = &total.desensitised {
                writeln!(
                    f,
                    "           not counting {} desensitised columns, by which two rows can be told apart by {}",
                    columns.columns, columns.record
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
        if let Some(commitment) = self.commitment.as_ref().filter(|_| self.is_for_partners()) {
            let seal: String = commitment.as_str().chars().take(16).collect();
            write!(
                f,
                "ledger     its owner's: only they can look up where it ended (commitment {}…)",
                shown(&seal)
            )
        } else if self.is_without_rows() {
            f.write_str("ledger     those of the owners")
        } else if self.is_for_partners() {
            f.write_str("ledger     its owner's: where it ended is not said")
        } else if self.recorded {
            write!(f, "ledger     {}", self.ledger)
        } else if self.payments.is_empty() {
            f.write_str("ledger     none: this run is recorded nowhere")
        } else {
            write!(f, "ledger     none: what was spent is not recorded anywhere")
        }?;
        for PartyCertificate { party, certificate } in &self.parties {
            write!(f, "\n\nWhat {} says of its part:\n{certificate}", shown(party))?;
        }
        for PartyCertificate { party, certificate } in &self.earlier {
            let party = shown(party);
            write!(
                f,
                "\n\nThe run started from a model, whose trees are in this one. What {party} said of it:\n{certificate}"
            )?;
        }
        Ok(())
    }
}

impl Certificate {
    /// What this run's own ε is at the δ of the budget, where a job stated its promise at another one.
    fn at_delta_of(&self, total: &Total) -> Option<Epsilon> {
        let Guarantee::Approximate { delta: stated, .. } = total.guarantee else {
            return None;
        };
        self.claims.iter().find_map(|claim| match claim.guarantee {
            Guarantee::Approximate { delta, caps, .. } if delta != stated => Some(caps.epsilon(stated)),
            _ => None,
        })
    }
}

/// Columns of one mechanism, with the loss of the worst pair of values, not the ε that was requested.
fn distance(f: &mut fmt::Formatter<'_>, group: &[Distance]) -> fmt::Result {
    let [first, rest @ ..] = group else {
        return Ok(());
    };
    if rest.is_empty() {
        write!(f, " '{}'", shown(&first.column))?;
    } else {
        write!(f, " '{}' and {} more, each", shown(&first.column), rest.len())?;
    }
    write!(f, " {}", first.within)?;
    if let Some(across) = first.across {
        write!(f, " within a part, {across} over a border")?;
    }
    write!(f, " and {};", first.whole)
}

/// What is assumed of the owners of joint sums, as the end of a sentence.
fn provided(f: &mut fmt::Formatter<'_>, all: &[Sharing]) -> fmt::Result {
    for (place, sharing) in all.iter().enumerate() {
        let joined = if place == 0 {
            ", provided that"
        } else {
            "; and that"
        };
        write!(f, "{joined} {sharing}")?;
    }
    Ok(())
}

/// Printed below the one assumption that payments ever made, about minima in floating point.
pub const REFUTED: &str =
    "WHICH IS FALSE: an attack has refuted it since, so count what was paid under it as not protected";

/// Writes the assumptions of an ε below it.
fn assuming<'a>(f: &mut fmt::Formatter<'_>, sentences: impl IntoIterator<Item = &'a str>) -> fmt::Result {
    for sentence in sentences {
        writeln!(f, "           PROVIDED THAT {}", shown(sentence))?;
        writeln!(f, "           {REFUTED}")?;
    }
    Ok(())
}
