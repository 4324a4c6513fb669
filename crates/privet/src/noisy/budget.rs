//! What a run may spend, and about how many rows there are.

use crate::Error;
use crate::privacy::account::{MuSquared, Price};
use crate::privacy::{Delta, Epsilon, getters};

/// What may be spent, and the public number of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    pub(crate) epsilon: Epsilon,
    /// With what probability the promise may fail; none if ε is pure.
    pub(crate) delta: Delta,
    /// The same in the currency it will be spent in.
    pub(crate) price: Price,
    pub(crate) rows: u64,
}

impl Budget {
    /// The names of its numbers in a job.
    pub const KEYS: [&str; 3] = ["epsilon", "delta", "rows_about"];

    /// Pure ε, for about `rows` rows. How many rows there are comes from public knowledge and is never counted: rounds, coefficients and
    /// the choice of an algorithm follow from it; a wrong one costs accuracy, never privacy.
    ///
    /// # Errors
    /// As [`with_delta`](Self::with_delta).
    pub fn pure(epsilon: Epsilon, rows: u64) -> Result<Self, Error> {
        Self::with_delta(epsilon, Delta::ZERO, rows)
    }

    /// ε, or as much Gaussian μ² as keeps ε but with probability δ. Only trees make use of a δ.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε or the number of rows is zero, or δ is too large for so many rows.
    pub fn with_delta(epsilon: Epsilon, delta: Delta, rows: u64) -> Result<Self, Error> {
        if epsilon == Epsilon::ZERO {
            return Err(Error::parameter(
                "epsilon",
                "epsilon must be above zero: it is what may be spent",
            ));
        }
        if !(1..=1 << 40).contains(&rows) {
            return Err(Error::parameter(
                "rows_about",
                "rows_about must be a number of rows above zero: about how many the table has, by public knowledge",
            ));
        }
        if people_exposed(delta, rows) >= 1.0 {
            let why = format!(
                "delta = {delta} is too large for about {rows} rows: it would allow a release that shows the whole row of one person or \
                 more (delta times rows_about is 1 or more). Write a delta far below one over the number of people, such as delta = {}",
                suitable(rows)
            );
            return Err(Error::parameter("delta", why));
        }
        let price = match delta {
            Delta::ZERO => Price::Pure(epsilon),
            delta => Price::Gaussian(MuSquared::for_budget(epsilon, delta)?),
        };
        Ok(Self {
            epsilon,
            delta,
            price,
            rows,
        })
    }

    getters! {
        /// What may be spent.
        pub epsilon(epsilon) -> Epsilon;
        /// With what probability the promise may fail; zero if ε is pure.
        pub delta(delta) -> Delta;
    }

    /// One of so many equal shares; what does not divide is not spent.
    pub(crate) fn share(&self, shares: u64) -> Result<Epsilon, Error> {
        let share = self.epsilon.billionths() / shares.max(1);
        if share == 0 {
            let why = format!(
                "epsilon = {} cannot be cut into {shares} shares: raise it, or ask for fewer rounds",
                self.epsilon
            );
            return Err(Error::parameter("epsilon", why));
        }
        Ok(Epsilon::from_billionths(share))
    }

    /// What whoever runs this should know before it is paid for: so far, that δ is large for so many people.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let Self { delta, rows, .. } = *self;
        let exposed = people_exposed(delta, rows);
        if exposed <= 0.01 {
            return Vec::new();
        }
        vec![format!(
            "delta = {delta} is large for about {rows} rows. A release that keeps this promise may show the whole rows of delta times \
             rows_about = {exposed:.2} people, on average. Write a smaller one, such as delta = {}",
            suitable(rows)
        )]
    }

    /// Names and values as a job says them.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        let delta = (self.delta != Delta::ZERO).then(|| ("delta".to_owned(), self.delta.to_string()));
        let epsilon = ("epsilon".to_owned(), self.epsilon.to_string());
        let rows = ("rows_about".to_owned(), self.rows.to_string());
        [epsilon].into_iter().chain(delta).chain([rows]).collect()
    }
}

/// δ times the number of rows: a mechanism that shows a whole row with probability δ, for each row, keeps every (ε, δ).
fn people_exposed(delta: Delta, rows: u64) -> f64 {
    delta.to_f64() * rows as f64
}

/// A power of ten that exposes at most a hundredth of a person.
fn suitable(rows: u64) -> String {
    let digits = (rows.max(1) as f64).log10().ceil() as u32 + 2;
    format!("1e-{digits}")
}
