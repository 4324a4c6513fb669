//! Trees that an owner trains on its own rows, alone or after others, and what becomes of the trees of all.

use super::message::Grown;
use super::plan::{OwnerPlan, coins};
use crate::Error;
use crate::boost::{Ensemble, Member};
use crate::data::Table;
use crate::data::schema::{Label, Schema};
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
    let before = all.before();
    let earlier = before.as_ref().map_or(0, |before| before.ensemble.members.len());
    let training = all.training(table.into_cells(), before);
    ledger.promise(all.price(), all.delta())?;
    if let Some(judging) = all.judging() {
        judging.pay(ledger)?;
    }
    let growth = trees.train_again(training, ledger, coins(agreement, plan.party()), progress)?;
    let unit = growth.unit();
    let mut own = growth.finish();
    // Everybody has the trees that the run starts from.
    own.members.drain(..earlier);
    grown(&own, unit)
}

/// Trees that somebody sent, if they fit a schema.
pub(super) fn received(grown: &Grown, schema: &Schema) -> Result<Before, Error> {
    let ensemble: Ensemble = serde_json::from_str(&grown.ensemble)
        .map_err(|e| Error::data(format!("trees that cannot be read: {e}")))?;
    ensemble.check(schema)?;
    if grown.unit.is_some() && !matches!(schema.label(), Some((_, Label::Number { .. }))) {
        return Err(Error::data(
            "trees with a unit of residuals, which is for labels that are numbers",
        ));
    }
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

/// The average of models: every score is the mean of theirs. The trees that all of them start from, which none of them contains, come first.
pub(super) fn average(models: Vec<Ensemble>, before: Option<&Ensemble>) -> Option<Ensemble> {
    let share = 1.0 / models.len() as f64;
    // What an owner's recalibration makes of a score, it makes of these trees, too.
    let slope: f64 = models.iter().map(|model| share * slope(model)).sum();
    let mut models = models.into_iter().map(|model| weighed(model, share));
    let first = models.next()?;
    let mut all = models.fold(first, |mut all, model| {
        all.base
            .iter_mut()
            .zip(&model.base)
            .for_each(|(sum, own)| *sum += own);
        all.members.extend(model.members);
        all
    });
    if let Some(before) = before {
        let earlier = before.members.iter().map(|member| times(member.clone(), slope));
        all.members.splice(..0, earlier);
    }
    Some(all)
}

/// A model whose recalibration is a part of its trees.
pub(super) fn folded(model: Ensemble) -> Ensemble {
    weighed(model, 1.0)
}

/// What a recalibration multiplies scores by.
fn slope(model: &Ensemble) -> f64 {
    let calibration = model.calibration.as_ref();
    calibration.map_or(1.0, |calibration| calibration.slope)
}

fn times(member: Member, factor: f64) -> Member {
    Member {
        weight: member.weight * factor,
        ..member
    }
}

/// A model whose scores are multiplied by a number. A recalibration becomes a part of its trees.
fn weighed(model: Ensemble, share: f64) -> Ensemble {
    let slope = slope(&model);
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
    let members = model
        .members
        .into_iter()
        .map(|member| times(member, slope * share));
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
    before.unit = before.unit.or(own.unit);
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::Link;
    use crate::data::schema::{Domain, label, number};

    /// A unit would skip the counts of classes and multiply leaves; only trees for numbers have one.
    #[test]
    fn trees_for_classes_have_no_unit() -> Result<(), Error> {
        let said = |of: Domain, link: Link, outputs: usize, unit: Option<f64>| -> Result<bool, Error> {
            let schema = Schema::builder("rows").columns([number("x", 0..=1), label("y", of)]);
            let ensemble = Ensemble::new(link, vec![0.0; outputs], Vec::new());
            Ok(received(&grown(&ensemble, unit)?, &schema.build()?).is_ok())
        };
        let two = || Domain::from(["a", "b"]);
        let three = || Domain::from(["a", "b", "c"]);
        assert!(said(two(), Link::Logistic, 1, None)? && said(three(), Link::Softmax, 3, None)?);
        assert!(!said(two(), Link::Logistic, 1, Some(1.0))?);
        assert!(!said(three(), Link::Softmax, 3, Some(1.0))?);
        assert!(said(Domain::from(0.0..=1.0), Link::Identity, 1, Some(1.0))?);
        Ok(())
    }
}
