//! Boosted trees, each released with noise, by a curator.
//!
//! Where labels and some columns are public, plain trees on these come first, without charge: they look at nothing else. The
//! noisy trees then ask about private columns only, and from the first of them on nothing about gradients is public.

use std::ops::ControlFlow;

use super::{Algorithm, Builder, Facts, Resolved, Run, Splits, Train, Trees};
use crate::Error;
use crate::boost::gradient::{Gradient, LabelledRows, Training as Fitting};
use crate::boost::{Ensemble, Member};
use crate::data::schema::Transform;
use crate::data::{Keep, Public, Schema, Table};
use crate::learner::Learner;
use crate::learner::tree::Growth;
use crate::noisy::trees::{self, Start, Training, Unchanged};
use crate::parameters::Parameters;

/// Levels of trees on public columns.
const PUBLIC_LEVELS: usize = 3;

impl Algorithm for Trees {
    fn may_be_trees(&self) -> bool {
        true
    }

    fn weighs_rows(&self) -> bool {
        true
    }

    /// What is wrong with its own parameters comes first.
    fn check(&self, _: &Facts) -> Result<(), Error> {
        Ok(())
    }

    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        if facts.balanced {
            return Err(Error::parameter(
                "balance",
                "balance = true is for other algorithms: trees learn from all rows. Remove it",
            ));
        }
        let own = trees::Facts {
            price: facts.budget.price,
            rows: facts.budget.rows,
            features: facts.private_features().count(),
            relation: &facts.relation,
            unchanged: Unchanged::under(&facts.schema, &facts.relation),
            counts_labels: true,
            // Trees on public columns are plain ones, for the usual bins.
            one_curator: facts.private_features().count() == facts.schema.features().count(),
        };
        let plan = Trees::plan(self, &facts.schema, &own)?;
        facts.check_private(Self::NAME)?;
        let (noise, finer) = (plan.noise(&own)?, plan.finds_spikes());
        Ok(Resolved {
            keep: Keep::Bins,
            finer,
            ..Resolved::new(&self.filled(&plan), facts, noise, plan)
        })
    }
}

/// InPrivate's algorithm 1, corrected: one tree of so many levels of nodes, that of the leaves included. It wants an ε, and has no δ.
///
/// # Paper
/// InPrivate, algorithm 1. Candidates are those of the schema, residuals are clipped to a public bound, the exponent is ε·gain/(4R²)
/// under what one row can do to the range of all gains, and a leaf's two sums are one release.
///
/// # Privacy
/// ε; `docs/proofs/trees.md`.
pub fn inprivate(depth: u32) -> Builder<Trees> {
    Trees::builder()
        .splits(Splits::NoisyGreedy)
        .trees(1)
        .depth(depth.saturating_sub(1))
        .gradient_clip(1.0)
        .learning_rate(1.0)
        .ridge(1.0)
        .shrinkage(0.0)
        .calibrate(false)
}

impl Train for trees::Plan {
    /// # Privacy
    /// The budget's ε, or ε and δ; `docs/proofs/trees.md`.
    fn train(&self, table: Table, run: Run<'_>) -> Result<Ensemble, Error> {
        let Facts { schema, relation, .. } = run.facts;
        schema.covered_by(relation)?;
        let unchanged = Unchanged::under(schema, relation);
        let start = match table.public_under(relation) {
            Some(public) if unchanged == Unchanged::Label && !public.places.is_empty() => {
                start(self.public_trees, schema, &public, self.transform)?
            }
            _ => None,
        };
        let training = Training {
            schema,
            cells: table.into_cells(),
            features: run.facts.private_features().map(|(place, _)| place).collect(),
            unchanged,
            start,
            before: None,
        };
        trees::Plan::train(self, training, run.ledger, run.progress)
    }
}

/// Plain trees on public columns and public labels, which are transformed first.
fn start(trees: u32, schema: &Schema, public: &Public, transform: Transform) -> Result<Option<Start>, Error> {
    let names: Vec<&str> = schema.features().map(|column| column.name.as_str()).collect();
    let own = schema.select(|column| {
        let place = names.iter().position(|name| *name == column.name);
        !column.kind.is_feature() || place.is_some_and(|place| public.places.contains(&place))
    })?;
    if public.cells.rows() == 0 {
        return Ok(None);
    }
    let cells = public.cells.with_labels(|label| transform.apply(label));
    let gradient = Gradient::builder()
        .rounds(trees as usize)
        .growth(Growth::Levels(PUBLIC_LEVELS))
        .build()?;
    let fitting = Fitting {
        schema: &own,
        rows: LabelledRows {
            cells: &cells,
            weights: cells
                .weights()
                .filter(|weights| weights.iter().any(|weight| *weight > 0.0)),
        },
        validation: None,
        start: None,
    };
    let fitted = gradient.fit(&fitting, &mut |_| ControlFlow::Continue(()))?;
    let outputs = fitted.base.len();
    let scores = fitted.scores(&own, &cells)?;
    let members = fitted.trees.into_iter().enumerate().map(|(number, mut tree)| {
        for node in &mut tree.nodes {
            node.feature = public.places[node.feature as usize] as u32;
        }
        Member::new(1.0, number % outputs, Learner::Tree(tree))
    });
    Ok(Some(Start {
        scores,
        base: fitted.base.iter().map(|&base| base.into()).collect(),
        members: members.collect(),
    }))
}
