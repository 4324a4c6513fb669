//! One curator, one table, a released model.
//!
//! **Paper.** BRC: AdaBoost with random classifiers when only some features are private (algorithm 2), or everything is
//! (algorithm 3); and four methods that are better at the same ε.
//!
//! **Who takes part.** A curator who has the table and is trusted with it, and everybody else, who sees the model.
//!
//! **What happens.** Public columns, where the label is public too, are learnt from as they are. About private ones a few
//! integers are released with exact noise: errors of planes that were drawn blindly, one choice among many, counts, a sum of
//! residuals. Everything in the model follows from these and from public columns.
//!
//! **Who learns what.** Whoever sees the model, and whatever else they know, can hardly tell whether one person's private
//! columns (or, where everything is private, one person) were others, or there: their odds change by a factor of e^ε at most, and by
//! e^2ε between two people where a budget is about one who comes or goes. How much
//! that is, `privet plan` says before anything is paid. Where some columns are public, membership, public columns and a public
//! label are *not* protected, and nothing is promised about what can be guessed from them.
//!
//! **What it does not do.** It looks at no private column to choose bounds, bins, rounds or the algorithm: those follow from
//! the schema, ε and a number of rows that the job declares. It never fails because of what rows say. Two classes only, except for trees.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `params` | parameters, parsed once |
//! | `auto` | which algorithm is best, by a public rule |
//! | `noise` | how far off the noise will put things, before anything is paid |
//! | `rows` | numbers behind the wall, public columns in front of it |
//! | `brc` | algorithms 2 and 3 |
//! | `select` | one choice among random planes |
//! | `bayes` | naive Bayes from noisy counts |
//! | `moment` | a noisy direction, and a choice around it |
//! | `objective` | logistic regression with a perturbed loss |
//! | `logistic` | the same as its authors have it: every column private |
//! | `people` | boosting of classifiers that are private themselves |
//! | `regression` | the minimum of a perturbed logistic loss |
//! | `as_published` | what papers print, or compare with, and what protects nobody |
//! | `trees` | boosted trees, which live next door (`setting/trees`) |
//! | `public` | public columns alone |
//! | `rehearsal` | runs that no ledger records |

pub mod as_published;
mod auto;
mod bayes;
mod brc;
mod logistic;
mod moment;
mod noise;
mod objective;
mod params;
mod people;
mod public;
mod regression;
mod rehearsal;
mod rows;
mod select;
mod trees;

pub use crate::setting::trees::{Places, Splits, Trees};
pub use bayes::HistogramBayes;
pub use brc::{Brc, Clip, Coefficient, Normaliser, Planes};
pub use moment::MomentSelect;
pub use objective::{Encoding, Perturbation};
pub use params::{Algorithm, Builder, Central};
pub(crate) use params::{is_public, name_of};
pub use people::People;
pub use select::Select;
pub use trees::inprivate;

use crate::Error;
use crate::boost::Ensemble;
use crate::data::Table;
use crate::model::{Model, Settings};
use crate::privacy::account::{MuSquared, Price};
use crate::privacy::{Delta, Epsilon, Ledger, Neighbours};
use rows::Rows;
pub(super) use rows::covers;

/// Told how much of how much is done.
type Progress<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// What may be spent, and the public number of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Budget {
    pub(super) epsilon: Epsilon,
    /// With what probability the promise may fail; none if ε is pure.
    pub(super) delta: Delta,
    /// The same in the currency it will be spent in.
    pub(super) price: Price,
    pub(super) rows: u64,
}

impl Budget {
    /// Of pure ε, or of as much Gaussian μ² as keeps ε but with probability δ.
    fn new(epsilon: Epsilon, delta: Delta, rows: u64) -> Result<Self, Error> {
        if people_exposed(delta, rows) >= 1.0 {
            return Err(Error::parameter(
                "delta",
                format!(
                    "delta = {delta} is too large for about {rows} rows: it would allow a release that shows the whole row of one person or \
                 more (delta times rows_about is 1 or more). Write a delta far below one over the number of people, such as delta = {}",
                    suitable(rows)
                ),
            ));
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

    /// One of so many equal shares; what does not divide is not spent.
    fn share(&self, shares: u64) -> Result<Epsilon, Error> {
        let share = self.epsilon.billionths() / shares.max(1);
        if share == 0 {
            return Err(Error::parameter(
                "epsilon",
                format!(
                    "epsilon = {} cannot be cut into {shares} shares: raise it, or ask for fewer rounds",
                    self.epsilon
                ),
            ));
        }
        Ok(Epsilon::from_billionths(share))
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

impl Central {
    /// What whoever runs this should know before it is paid for: so far, that δ is large for so many people.
    pub fn warnings(&self) -> Vec<String> {
        let Budget { delta, rows, .. } = self.budget;
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

    /// Trains a model on a table that was read with what [`keep`](Self::keep) asks for, and closes the run.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    pub fn fit<N: Neighbours>(
        &self,
        table: Table,
        mut ledger: Ledger<N>,
        progress: Progress<'_>,
    ) -> Result<Model, Error> {
        let schema = table.schema().clone();
        let relation = ledger.relation().relation();
        let resolved = self.resolve(&schema, &relation)?;
        let mut settings = resolved.settings();
        let noise = resolved.noise(&schema, &relation)?;
        settings.extend(noise.into_iter().map(|line| ("noise".to_owned(), line)));
        let ensemble = resolved.train(table, &mut ledger, progress)?;
        Model::new(schema, ensemble, ledger.close(), Settings::new(settings))
    }

    /// Trains an ensemble, paying for it from `ledger`.
    ///
    /// # Privacy
    /// At most the ε of its parameters, pure unless they name a δ, under the ledger's relation; `docs/proofs/central.md`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the parameters do not fit the schema, [`Error::Budget`] and [`Error::Journal`] as the ledger says,
    /// [`Error::Misuse`] if the ledger protects fewer columns or smaller units than the schema asks for (that people are replaced, not
    /// added or removed, is for the job to say). What the rows say is never the reason.
    pub fn train<N: Neighbours>(
        &self,
        table: Table,
        ledger: &mut Ledger<N>,
        progress: Progress<'_>,
    ) -> Result<Ensemble, Error> {
        let relation = ledger.relation().relation();
        let own = self.resolve(table.schema(), &relation)?;
        let budget = own.budget();
        ledger.promise(own.price(table.schema(), &relation)?, own.delta())?;
        if let Algorithm::Trees(trees) = own.algorithm() {
            return trees::train(trees, table, ledger, &budget, progress);
        }
        let mut rows = Rows::new(table, &relation)?;
        if own.is_balanced() {
            rows.balance(&mut ledger.coins()?);
        }
        match own.algorithm() {
            Algorithm::Brc(brc) => brc.train(&rows, ledger, &budget, progress),
            Algorithm::Select(select) => select.train(&rows, ledger, &budget, progress),
            Algorithm::HistogramBayes(bayes) => bayes.train(&rows, ledger, &budget, progress),
            Algorithm::MomentSelect(moment) => moment.train(&rows, ledger, &budget, progress),
            Algorithm::Objective(perturbation) => perturbation.train(&rows, ledger, &budget, progress),
            Algorithm::DpLogistic => logistic::train(&rows, ledger, &budget, progress),
            Algorithm::People(people) => people.train(&rows, ledger, &budget, progress),
            Algorithm::Public => public::train(&rows, ledger),
            Algorithm::Trees(_) | Algorithm::Auto => Err(Error::misuse("the rule chose no algorithm")),
        }
    }
}
