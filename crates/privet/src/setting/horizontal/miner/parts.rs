//! Models that owners train on their own rows, and their average.

use std::collections::BTreeMap;

use super::attendance::Attendance;
use super::report::Reporting;
use super::{Next, Stage};
use crate::Error;
use crate::model::{Model, Settings};
use crate::noisy::evaluation::PaidReport;
use crate::noisy::trees::Before;
use crate::party::{Context, PartyId};
use crate::privacy::Certificate;
use crate::setting::horizontal::message::{Grown, Message, OpenedSum};
use crate::setting::horizontal::plan::Plan;
use crate::setting::horizontal::{MINER, Outcome, PATIENCE, certified, local};

/// An owner's trees, and the promise that holds for them.
struct Part {
    trees: Before,
    certificate: Certificate,
}

impl Part {
    /// What an owner sent, if it fits the schema.
    fn read(grown: &Grown, certificate: &str, plan: &Plan) -> Option<Self> {
        Some(Self {
            trees: local::received(grown, plan.schema()).ok()?,
            certificate: certified::theirs(certificate)?,
        })
    }
}

/// Each owner trains on its own rows, all at the same time.
pub(super) struct Averaging {
    came: BTreeMap<PartyId, Part>,
}

impl Averaging {
    pub(super) fn begin(
        here: &Attendance,
        plan: &Plan,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        for party in here.here() {
            context.send(party, &Message::Begin(Vec::new()))?;
        }
        context.deadline(PATIENCE, plan.patience());
        let came = BTreeMap::new();
        Ok(Next::Wait(Stage::Averaging(Self { came })))
    }

    pub(super) fn awaits(&self, party: PartyId) -> bool {
        !self.came.contains_key(&party)
    }

    pub(super) fn take(
        mut self,
        message: Option<(PartyId, Message)>,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        if let Some((from, message)) = message {
            match trees(from, message, plan, here, context)? {
                Some(part) if self.awaits(from) => {
                    self.came.insert(from, part);
                }
                // It has sent its trees already.
                Some(_) => here.exclude(from),
                None => {}
            }
        }
        if here.misses(|party| !self.awaits(party)) {
            return Ok(Next::Wait(Stage::Averaging(self)));
        }
        here.check(&self.came.keys().copied().collect(), context)?;
        let mut certificates = Vec::new();
        let mut models = Vec::new();
        for (party, part) in self.came {
            certificates.push((party, part.certificate));
            models.push(part.trees.ensemble);
        }
        let before = plan.before();
        let all = local::average(models, before.as_ref().map(|before| &before.ensemble));
        let all = all.ok_or_else(|| Error::internal("at least one owner is there"))?;
        let trees = Before {
            ensemble: all,
            unit: None,
            scores: None,
        };
        finish((trees, Vec::new()), certificates, plan, here, context)
    }
}

/// An owner's trees, if that is what it sent. An owner whose trees do not fit the schema takes part no longer.
fn trees(
    from: PartyId,
    message: Message,
    plan: &Plan,
    here: &mut Attendance,
    context: &mut Context<'_, Message>,
) -> Result<Option<Part>, Error> {
    match message {
        Message::Trees { grown, certificate } if here.takes_part(from) => {
            let part = Part::read(&grown, &certificate, plan);
            if part.is_none() {
                here.exclude(from);
            }
            Ok(part)
        }
        Message::Here { .. } => Ok(None),
        Message::Hello { .. } => {
            context.send(from, &Message::Refused(Vec::new()))?;
            Ok(None)
        }
        _ => {
            here.exclude(from);
            Ok(None)
        }
    }
}

/// A model that is there, and what its settings say besides what was planned.
pub(super) type Chained = (Before, Vec<(String, String)>);

/// The model is there: owners judge it, if that was planned; else everybody is told.
pub(super) fn finish(
    trees: Chained,
    certificates: Vec<(PartyId, Certificate)>,
    plan: &Plan,
    here: &mut Attendance,
    context: &mut Context<'_, Message>,
) -> Result<Next, Error> {
    match plan.judging() {
        Some(_) => Reporting::begin(trees, certificates, plan, here, context),
        None => told(trees, certificates, None, plan, here, context),
    }
}

/// Tells everybody who is to know, and has the model.
pub(super) fn told(
    (trees, notes): Chained,
    certificates: Vec<(PartyId, Certificate)>,
    judged: Option<(OpenedSum, Box<PaidReport>)>,
    plan: &Plan,
    here: &Attendance,
    context: &mut Context<'_, Message>,
) -> Result<Next, Error> {
    let owners = certificates.len();
    let told = certificates
        .iter()
        .map(|(party, certificate)| (*party, certificate.to_json()));
    let told: Vec<(PartyId, String)> = told.collect();
    let grown = local::grown(&trees.ensemble, trees.unit)?;
    let shown = plan.is_for_everyone();
    let certificates_told = if shown { told.clone() } else { Vec::new() };
    let message = match &judged {
        // Who has judged the model has it.
        Some((sum, _)) => Message::Report {
            sum: sum.clone(),
            certificates: certificates_told,
        },
        None => Message::Finished {
            trees: shown.then_some(grown),
            certificates: certificates_told,
        },
    };
    for (party, _) in told.iter().filter(|(party, _)| here.has(*party)) {
        context.send(*party, &message)?;
    }
    let parties = certified::of_others(context.agreement(), MINER, certificates);
    let certificate = certified::of_miner(plan, parties);
    let settings = plan.model_settings(0)?.into_iter().chain(notes);
    let settings = Settings::new(settings.collect());
    let model = Model::new((**plan.schema()).clone(), trees.ensemble, certificate, settings)?;
    Ok(Next::Done(Outcome::Trained {
        model: Box::new(model),
        owners,
        report: judged.map(|(_, report)| report),
    }))
}
