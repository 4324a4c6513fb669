//! The label holder or a feature holder of the vertical setting on a network.

use privet::party::PartyId;
use privet::setting::vertical::{Alignment, FeatureHolder, LabelHolder, NoisyLabels, Outcome, Release};

use super::Gained;
use super::play::{Playing, there};
use crate::job::{FeatureHolderJob, VerticalJob};
use crate::verb::exit::Failure;
use crate::verb::parties::{Outgoing, lines};
use crate::verb::plan::vertical::learns;
use crate::verb::request::Party;
use crate::verb::train::BECAUSE;
use crate::verb::{output, permission, words};

fn other(job: &VerticalJob, me: PartyId) -> Option<&FeatureHolderJob> {
    job.feature_holders.get(usize::from(me.0).checked_sub(1)?)
}

pub(super) fn check(job: &VerticalJob, me: PartyId, party: &Party) -> Result<(), Failure> {
    let ledger = &party.ledger;
    if let Some(holder) = other(job, me) {
        output::check_record(ledger, &holder.kept)?;
        lines(
            ledger.path()?,
            &[(&*holder.source.schema, holder.plan.columns().relation())],
        )?;
        return there(&holder.source);
    }
    let own = &job.label_holder;
    output::check_record(ledger, &own.kept)?;
    match job.vertical.label_epsilon().is_some() {
        true => lines(ledger.path()?, &[(&*own.source.schema, own.plan.relation())])?,
        false => {
            let what = format!("training on the rows and labels of {} as they are", own.name);
            permission::ask(&own.source.schema, &what, party.not_protected)?;
        }
    }
    there(&own.source)
}

pub(super) fn told(job: &VerticalJob, me: PartyId) -> (Vec<String>, Vec<String>) {
    let mut costs = Vec::new();
    match other(job, me) {
        Some(holder) => {
            costs.push(format!("reads {}", holder.source.data.display()));
            costs.push(format!(
                "releases {} of '{}', each value changed, once; by which two rows can be told apart by {}",
                words::count(
                    holder.plan.columns().distances().len() as u64,
                    "column",
                    "columns"
                ),
                holder.source.schema.dataset(),
                holder.plan.columns().distance(),
            ));
        }
        None => {
            let own = &job.label_holder;
            costs.push(format!("reads {}", own.source.data.display()));
            costs.push(match job.vertical.label_epsilon() {
                Some(epsilon) => format!("releases its labels to the model, changed with ε = {epsilon}"),
                None => format!(
                    "uses '{}' as it is, without protection from whoever sees the model",
                    own.source.schema.dataset()
                ),
            });
        }
    }
    costs.extend(matching(job));
    (learns(job), costs)
}

/// What a party shows when rows are matched.
pub(super) fn matching(job: &VerticalJob) -> Option<String> {
    let private = *job.vertical.alignment() == Alignment::Private;
    private.then(|| "shows which of its people all parties have, and how many rows it has".into())
}

pub(super) fn play(job: &VerticalJob, playing: &mut Playing<'_>, party: &Party) -> Result<Gained, Failure> {
    let outcome = match other(job, playing.me) {
        Some(holder) => feature_holder(holder, playing)?,
        None => label_holder(job, playing, party)?,
    };
    Ok(match outcome {
        Outcome::Contributed(certificate) => Gained::Contributed(certificate),
        Outcome::Trained { model, rows } => {
            let rows = words::count(
                rows as u64,
                "row that all parties have",
                "rows that all parties have",
            );
            let told = format!("matched    {rows} (shown to this party only)\n");
            Gained::Model { model, told }
        }
        Outcome::Predicted { .. } => {
            return Err(privet::Error::internal("a run that trains does not predict").into());
        }
    })
}

fn feature_holder(holder: &FeatureHolderJob, playing: &mut Playing<'_>) -> Result<Outcome, Failure> {
    let plan = holder.plan.columns();
    let table = holder.read(plan.reads())?;
    let shared = playing.shared;
    let outgoing = Outgoing::of(holder, plan.relation(), shared)?;
    outgoing.check(
        |ledger| Release::check_keep(plan, &table, ledger),
        |ledger, earlier| Release::import(plan, &table, ledger, earlier, false),
    )?;
    permission::recognise(&mut shared.store(), &[&holder.source])?;
    if holder.id.is_some() {
        outgoing.check_ids(&table, plan.distances())?;
    }
    outgoing.release(
        |ledger| Release::keep(plan, &table, ledger),
        |ledger, earlier| Release::import(plan, &table, ledger, earlier, true),
    )?;
    let mark = playing.mark(&holder.source)?;
    playing.role(&mark, |run| {
        FeatureHolder::party(holder.plan.clone(), table, outgoing.ledger()?, &run)
    })
}

fn label_holder(job: &VerticalJob, playing: &mut Playing<'_>, party: &Party) -> Result<Outcome, Failure> {
    let own = &job.label_holder;
    let table = own.read(own.plan.reads())?;
    let shared = playing.shared;
    let mark = playing.mark(&own.source)?;
    if job.vertical.label_epsilon().is_none() {
        match own.source.schema.is_private() {
            true => permission::recognise(&mut shared.store(), &[&own.source])?,
            false => permission::public(&own.source, playing.ledger)?,
        }
        let shows = (&own.plan.leaks()[..], BECAUSE);
        let permission = permission::take_showing(&own.source, shows, shared, &party.ledger)?;
        return playing.role(&mark, |_| LabelHolder::party(own.plan.clone(), table, permission));
    }
    let labels = Outgoing::of(own, own.plan.relation(), shared)?;
    labels.check(
        |ledger| NoisyLabels::check_keep(&own.plan, &table, ledger),
        |ledger, earlier| NoisyLabels::import(&own.plan, &table, ledger, earlier, false),
    )?;
    permission::recognise(&mut shared.store(), &[&own.source])?;
    labels.release(
        |ledger| NoisyLabels::keep(&own.plan, &table, ledger),
        |ledger, earlier| NoisyLabels::import(&own.plan, &table, ledger, earlier, true),
    )?;
    playing.role(&mark, |run| {
        LabelHolder::with_noisy_labels(own.plan.clone(), table, labels.ledger()?, &run)
    })
}
