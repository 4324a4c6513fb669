//! Boosted trees, each released with noise, by a curator.

use super::params::private_features;
use super::rows::covers;
use super::{Budget, Progress, Trees};
use crate::Error;
use crate::boost::Ensemble;
use crate::data::{Schema, Table};
use crate::privacy::{Ledger, Neighbours, Relation};
use crate::setting::trees::{Facts, Plan, Training};

/// What the public rule makes of the parameters.
pub(super) fn plan(
    trees: &Trees,
    budget: &Budget,
    schema: &Schema,
    relation: &Relation,
) -> Result<Plan, Error> {
    let fixed_label = match (relation, schema.label()) {
        (Relation::ReplacePrivate { columns, .. }, Some((label, _))) => !columns.contains(&label.name),
        _ => false,
    };
    let facts = Facts {
        price: budget.price()?,
        rows: budget.rows,
        features: private_features(schema, relation).count(),
        relation,
        fixed_label,
    };
    trees.plan(schema, &facts)
}

/// # Privacy
/// The budget's ε, or ε and δ; `docs/proofs/trees.md`.
pub(super) fn train<N: Neighbours>(
    trees: &Trees,
    table: Table,
    ledger: &mut Ledger<N>,
    budget: &Budget,
    progress: Progress<'_>,
) -> Result<Ensemble, Error> {
    let relation = ledger.relation().relation();
    let schema = table.schema().clone();
    covers(&schema, &relation)?;
    let plan = plan(trees, budget, &schema, &relation)?;
    let features = private_features(&schema, &relation).map(|(place, _)| place).collect();
    let training = Training {
        schema: &schema,
        cells: table.into_cells(),
        features,
        base: None,
    };
    plan.train(training, ledger, progress)
}
