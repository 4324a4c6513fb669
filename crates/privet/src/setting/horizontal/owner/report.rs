//! An owner that has sent its own trees judges the model on its held-out rows.

use super::{Owner, Stage, with_others};
use crate::Error;
use crate::data::Cells;
use crate::model::{Model, Settings};
use crate::noisy::trees::Before;
use crate::party::{Context, TurnOutcome};
use crate::privacy::{Certificate, Ledger, Private};
use crate::setting::horizontal::evaluation::Judging;
use crate::setting::horizontal::message::{Message, OpenedSum};
use crate::setting::horizontal::plan::OwnerPlan;
use crate::setting::horizontal::{MINER, Outcome, Party, local};

/// An owner that has sent its trees, and judges.
pub(super) struct Reporting {
    /// Everything is paid for; the noise of the counts is still to be drawn.
    pub(super) ledger: Ledger,
    pub(super) held_out: Private<Cells>,
    pub(super) certificate: Certificate,
    /// The model, once the miner has sent it.
    pub(super) model: Option<Before>,
}

impl Reporting {
    pub(super) fn handle(
        mut self: Box<Self>,
        plan: &OwnerPlan,
        message: Message,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        let all = plan.plan();
        let judging = all.judging();
        let judging = judging.ok_or_else(|| Error::internal("an evaluation was planned"))?;
        let name = message.name();
        match (self.model.take(), message) {
            (None, Message::Judge(grown)) => {
                let model = local::received(&grown, all.schema()).map_err(|e| context.complain(MINER, e))?;
                self.judge(plan, judging, model, context)
            }
            (Some(model), Message::Report { sum, certificates }) => {
                let owners = all.least() as u32..=all.owners().len() as u32;
                if sum.values.len() != judging.dimension() || !owners.contains(&sum.contributions) {
                    return Err(context.complain(MINER, "counts that do not fit what was asked"));
                }
                let owners = certificates.len();
                let certificate = with_others(plan, self.certificate, certificates, context)?;
                let settings = Settings::new(all.model_settings(plan.place())?);
                let model = Model::new((**all.schema()).clone(), model.ensemble, certificate, settings)?;
                Ok(TurnOutcome::Finished(Outcome::Trained {
                    model: Box::new(model),
                    owners,
                    report: Some(Box::new(judging.added_up(&sum)?)),
                }))
            }
            _ => Err(context.complain(MINER, format!("{name} out of turn"))),
        }
    }

    /// Counts its held-out rows with its own noise, once, and sends the counts.
    fn judge(
        mut self: Box<Self>,
        plan: &OwnerPlan,
        judging: &Judging,
        model: Before,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        let about = (&model.ensemble, &**plan.plan().schema());
        let counts = context.once("the counts of held-out rows", || {
            let values = judging.released(about, &self.held_out, &mut self.ledger)?;
            Ok(OpenedSum {
                contributions: 1,
                values,
            })
        })?;
        context.send(MINER, &Message::Judged(counts.values))?;
        self.model = Some(model);
        self.wait(plan, context)
    }

    fn wait(
        self: Box<Self>,
        plan: &OwnerPlan,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        Owner {
            plan: plan.clone(),
            stage: Stage::Reporting(self),
            reminders: 0,
        }
        .wait(context)
    }
}
