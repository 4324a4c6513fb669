//! Trees that an owner trains on its own rows, alone or after others, and what becomes of the trees of all.

use super::message::Grown;
use super::plan::{OwnerPlan, coins};
use crate::Error;
use crate::boost::{Ensemble, Member};
use crate::data::Table;
use crate::data::schema::Schema;
use crate::learner::Progress;
use crate::noisy::trees::Before;
use crate::party::Agreement;
use crate::privacy::Ledger;

/// The trees of an owner who trains alone.
///
/// # Privacy
/// The price of the plan, under the ledger's relation: `docs/proofs/horizontal.md#chain`.
pub(super) fn train(
    plan: &OwnerPlan,
    table: Table,
    ledger: &mut Ledger,
    agreement: &Agreement,
    progress: Progress<'_>,
) -> Result<Grown, Error> {
    let all = plan.plan();
    let trees = &all.local(plan.place(), 0)?.first;
    let training = all.training(table.into_cells(), None);
    ledger.promise(all.price(), all.delta())?;
    if let Some(judging) = all.judging() {
        judging.pay(ledger)?;
    }
    let growth = trees.train_again(training, ledger, coins(agreement, plan.party()), progress)?;
    let unit = growth.unit();
    grown(&growth.finish(), unit)
}

/// Trees that somebody sent, if they fit a schema.
pub(super) fn received(grown: &Grown, schema: &Schema) -> Result<Before, Error> {
    let ensemble: Ensemble = serde_json::from_str(&grown.ensemble)
        .map_err(|e| Error::data(format!("trees that cannot be read: {e}")))?;
    ensemble.check(schema)?;
    Ok(Before {
        ensemble,
        unit: grown.unit,
        scores: None,
    })
}

/// Trees as they are sent.
pub(super) fn grown(ensemble: &Ensemble, unit: Option<f64>) -> Result<Grown, Error> {
    let ensemble = serde_json::to_string(ensemble)
        .map_err(|e| Error::internal(format!("an ensemble is plain data ({e})")))?;
    Ok(Grown { ensemble, unit })
}

/// The average of models: every score is the mean of theirs.
pub(super) fn average(models: Vec<Ensemble>) -> Option<Ensemble> {
    let share = 1.0 / models.len() as f64;
    let mut models = models.into_iter().map(|model| weighed(model, share));
    let first = models.next()?;
    Some(models.fold(first, |mut all, model| {
        all.base
            .iter_mut()
            .zip(&model.base)
            .for_each(|(sum, own)| *sum += own);
        all.members.extend(model.members);
        all
    }))
}

/// A model whose scores are multiplied by a number. A recalibration becomes a part of its trees.
fn weighed(model: Ensemble, share: f64) -> Ensemble {
    let slope = model
        .calibration
        .as_ref()
        .map_or(1.0, |calibration| calibration.slope);
    let intercept = |output: usize| {
        let calibration = model.calibration.as_ref();
        calibration
            .and_then(|own| own.intercepts.get(output))
            .copied()
            .unwrap_or(0.0)
    };
    let base = model.base.iter().enumerate();
    let base = base.map(|(output, own)| share * (slope * own + intercept(output)));
    let base: Vec<f64> = base.collect();
    let members = model.members.into_iter().map(|member| Member {
        weight: member.weight * slope * share,
        ..member
    });
    Ensemble::new(model.link, base, members.collect())
}

/// The trees of a chain, and those that one more owner has added.
pub(super) fn chained(before: Option<Before>, own: Before) -> Before {
    let Some(mut before) = before else {
        return own;
    };
    before.ensemble.members.extend(own.ensemble.members);
    // An owner that goes on from others' trees has added their base to its own, which is zero.
    before.ensemble.base = own.ensemble.base;
    before.ensemble.calibration = own.ensemble.calibration;
    before
}
