//! Random trees whose leaves count rows by class.
//!
//! Not in the paper: measured to beat boosted trees under pure ε where there are more than two classes (`docs/decisions/0062-forest.md`).

use super::{Algorithm, Balance, Facts, Resolved, Run, Train, noise};
use crate::Error;
use crate::boost::Ensemble;
use crate::data::schema::Label;
use crate::data::{Keep, Table};
use crate::noisy::trees::Forest as Planned;
use crate::parameters::parameters;

/// A leaf has so many rows for each row that its noise weighs as much as, about.
const ROWS_PER_NOISE: f64 = 3.0;
/// Fewest and most trees under pure ε, where each costs a share of it, and how many are aimed at.
const TREES: [f64; 3] = [4.0, 32.0, 16.0];
/// How many with a δ, where only squares add up.
const GAUSSIAN_TREES: u32 = 64;
/// The least and the largest depth that the public rule chooses.
const DEPTHS: [f64; 2] = [2.0, 8.0];
/// The most counts of a forest: a model has a number for each.
const MOST_COUNTS: u64 = 1 << 18;

parameters! {
    /// Parameters of random trees whose leaves count rows by class.
    pub struct Forest("forest") {
        /// How many trees; by a public rule if not given.
        trees: Option<u32> = None, in 1..=1000;
        /// The depth of every tree; by a public rule if not given.
        depth: Option<u32> = None, in 1..=10;
        /// Whether scores of three classes or more are shrunk towards how frequent classes are, where they call no more rows right than the most frequent
        /// class, for a twentieth of the budget; they are if not given.
        calibrate: Option<bool> = None;
        /// Not for this algorithm, which counts all rows.
        balance: Balance = Balance(false);
    }
}

impl Algorithm for Forest {
    fn may_be_trees(&self) -> bool {
        true
    }

    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        if facts.balanced {
            return Err(Error::parameter(
                "balance",
                "balance = true is for other algorithms: forest counts all rows. Remove it",
            ));
        }
        let classes = match facts.schema.label() {
            Some((_, Label::Classes(declared))) => declared.values().len(),
            _ => {
                return Err(Error::parameter(
                    "name",
                    "name = \"forest\" tells classes apart, and the label is a number: use name = \"trees\"",
                ));
            }
        };
        if self.calibrate == Some(true) && classes < 3 {
            let why = "calibrate = true is for a label of three classes or more: remove it";
            return Err(Error::parameter("calibrate", why));
        }
        let planned = self.bounded(self.planned(facts, classes)?)?;
        let filled = Self {
            trees: Some(planned.trees),
            depth: Some(planned.depth),
            calibrate: self.calibrate.or(planned.calibrated.then_some(true)),
            ..self.clone()
        };
        let mut lines = vec![format!(
            "Rows are counted by leaf and class in {} random trees of depth {}; noise adds an error of {} rows to each count (one standard error). A leaf has \
             about {:.0} rows.",
            planned.trees,
            planned.depth,
            noise::whole(planned.deviation(&facts.relation)?),
            facts.budget.rows as f64 / f64::from(1u32 << planned.depth)
        )];
        if let (_, Some(price)) = planned.prices()? {
            lines.push(format!(
                "{price} of the budget counts rows by score and class then: scores are shrunk towards how frequent classes are, unless that makes fewer rows \
                 right (calibrate = false turns this off)."
            ));
        }
        Ok(Resolved {
            keep: Keep::Bins,
            ..Resolved::new(&filled, facts, lines, planned)
        })
    }
}

impl Forest {
    /// At most so many counts as a model can hold: less deep if there are more, then fewer trees. What was given stays.
    fn bounded(&self, mut planned: Planned) -> Result<Planned, Error> {
        let counts =
            |planned: &Planned| u64::from(planned.trees) * planned.classes as u64 * (1 << planned.depth);
        while counts(&planned) > MOST_COUNTS {
            match (self.depth, self.trees) {
                (None, _) if planned.depth > DEPTHS[0] as u32 => planned.depth -= 1,
                (_, None) if planned.trees > 1 => planned.trees -= 1,
                _ => {
                    let (trees, depth, classes) = (planned.trees, planned.depth, planned.classes);
                    let why = format!(
                        "{trees} trees of depth {depth} count the rows of {classes} classes in {} cells, and a model holds {MOST_COUNTS} at most: \
                         ask for fewer trees or less depth",
                        counts(&planned)
                    );
                    return Err(Error::parameter("trees", why));
                }
            }
        }
        Ok(planned)
    }

    /// With what the public rule decides: as many leaves in all as rows can be told from noise in.
    fn planned(&self, facts: &Facts, classes: usize) -> Result<Planned, Error> {
        let with = |trees: u32, depth: u32| Planned {
            trees,
            depth,
            classes,
            price: facts.budget.price,
            calibrated: classes > 2 && self.calibrate.unwrap_or(true),
        };
        let one = with(1, 1).deviation(&facts.relation)?;
        let rows = facts.budget.rows as f64;
        let is_pure = facts.budget.delta == crate::privacy::Delta::ZERO;
        let [least, most] = DEPTHS;
        let depth = |leaves: f64| {
            let rule = leaves.max(1.0).log2().round().clamp(least, most) as u32;
            self.depth.unwrap_or(rule)
        };
        if !is_pure {
            let trees = self.trees.unwrap_or(GAUSSIAN_TREES);
            let leaves = rows / (ROWS_PER_NOISE * one * f64::from(trees).sqrt());
            return Ok(with(trees, depth(leaves)));
        }
        // A Laplace deviation is √2 of its scale.
        let leaves = rows * std::f64::consts::SQRT_2 / (ROWS_PER_NOISE * one);
        let [fewest, largest, usual] = TREES;
        let depth = depth(leaves / self.trees.map_or(usual, f64::from));
        let rule = (leaves / f64::from(1u32 << depth)).round().clamp(fewest, largest);
        Ok(with(self.trees.unwrap_or(rule as u32), depth))
    }
}

impl Train for Planned {
    /// # Privacy
    /// The budget's ε, or ε and δ, in one release of all counts, and one of rows by score and class; `docs/proofs/central.md#forest`.
    fn train(&self, table: Table, run: Run<'_>) -> Result<Ensemble, Error> {
        run.at(0, 1)?;
        let schema = &run.facts.schema;
        schema.covered_by(&run.facts.relation)?;
        Planned::train(self, schema, &table.into_cells(), run.ledger)
    }
}
