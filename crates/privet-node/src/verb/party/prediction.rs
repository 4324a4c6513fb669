//! Parties of a job that predicts: the label holder has a model, and others have columns of the new rows.

use privet::party::PartyId;
use privet::setting::vertical::{LabelHolder, Outcome};
use sha2::{Digest, Sha256};

use super::Gained;
use super::play::{Playing, there};
use super::vertical;
use crate::job::PredictionJob;
use crate::verb::exit::Failure;
use crate::verb::plan::prediction::learns;
use crate::verb::predict::{BECAUSE, OutputTable, check_same, ids_of, unfit};
use crate::verb::request::Party;
use crate::verb::{open_model, output, permission, words};

/// The label holder, which alone has the model.
const LABEL_HOLDER: PartyId = PartyId(0);

/// What all parties must have alike besides the parameters of the columns. The model is nobody's business but the label holder's.
pub(super) fn settings(job: &PredictionJob) -> Vec<(String, String)> {
    let way = if job.branches { "branches" } else { "columns" };
    let mut all = vec![("predict".to_owned(), way.to_owned())];
    all.extend(job.parties.vertical.shared());
    all
}

pub(super) fn check(job: &PredictionJob, me: PartyId, party: &Party) -> Result<(), Failure> {
    if me != LABEL_HOLDER {
        if party.id.is_some() {
            return Err(Failure::usage(format!(
                "--id is for the party that writes predictions, which is {}",
                job.parties.trainer()
            )));
        }
        return vertical::check(&job.parties, me, party);
    }
    let own = &job.parties.label_holder;
    let what = format!("predicting the rows of {} as they are", own.name);
    permission::ask(&own.source.schema, &what, party.not_protected)?;
    let model = open_model(&job.model)?;
    let checked = job.parties.plan().check_model(&model, job.branches);
    checked.map_err(|e| unfit(job, e))?;
    there(&own.source)
}

pub(super) fn told(job: &PredictionJob, me: PartyId) -> Result<(Vec<String>, Vec<String>), Failure> {
    if me != LABEL_HOLDER {
        let (_, costs) = vertical::told(&job.parties, me);
        return Ok((learns(job, None)?, costs));
    }
    let own = &job.parties.label_holder;
    let mut costs = vec![
        format!(
            "reads {}, and the model {}",
            own.source.data.display(),
            job.model.display()
        ),
        format!(
            "uses '{}' as it is, without protection from whoever sees the predictions",
            own.source.schema.dataset()
        ),
    ];
    costs.extend(vertical::matching(&job.parties));
    Ok((learns(job, Some(&open_model(&job.model)?))?, costs))
}

/// What the record of the label holder is bound to besides its table: with another model a run does not go on.
fn mark(job: &PredictionJob) -> Result<String, Failure> {
    let unreadable = |e| Failure::input(format!("{}: it cannot be read: {e}", job.model.display()));
    let digest = Sha256::digest(std::fs::read(&job.model).map_err(unreadable)?);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// That predictions can be written there. Those of an earlier run are replaced.
pub(super) fn check_output(out: &std::path::Path, party: &Party) -> Result<(), Failure> {
    output::check(&party.ledger, out)?;
    output::check_writable(out)
}

pub(super) fn play(job: &PredictionJob, playing: &mut Playing<'_>, party: &Party) -> Result<Gained, Failure> {
    if playing.me != LABEL_HOLDER {
        return vertical::play(&job.parties, playing, party);
    }
    let own = &job.parties.label_holder;
    let model = open_model(&job.model)?;
    let table = own.read(own.plan.reads_new_rows())?;
    let mark = playing.mark(&own.source)? + &mark(job)?;
    playing.check_begun(&mark)?;
    let (data, column) = (&own.source.data, party.id.as_deref());
    let ids = column.map(|column| ids_of(&own.source.schema, data, column));
    let ids = ids.transpose()?;
    match own.source.schema.is_private() {
        true => permission::recognise(&mut playing.shared.store(), &[&own.source])?,
        false => permission::public(&own.source, playing.ledger)?,
    }
    let leaks = own.plan.leaks_of_predicting(job.branches);
    let permission = permission::take_showing(&own.source, (&leaks, BECAUSE), playing.shared, &party.ledger)?;
    let rows = permission::count_rows(&permission, &table);
    check_same(data, ids.as_ref(), rows)?;
    let outcome = playing.role(&mark, |_| {
        LabelHolder::predicting(own.plan.clone(), table, model.clone(), job.branches, permission)
    })?;
    let Outcome::Predicted {
        rows: common,
        predictions,
    } = outcome
    else {
        return Err(privet::Error::internal("a label holder that predicts has predictions").into());
    };
    let table = OutputTable::new(&model, (&predictions, Some(&common)), party.what, column.zip(ids))?;
    let all = words::count(rows as u64, "row", "rows");
    Ok(Gained::Predictions {
        csv: table.csv(),
        rows: common.len(),
        told: format!(
            "matched    {} of {all} are known to all parties (shown to this party only); the others have no prediction\n",
            common.len()
        ),
    })
}
