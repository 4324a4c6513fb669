//! A model that is being trained, some rounds at a time.

use std::ops::ControlFlow;

use super::{Expecting, LabelHolder, Run, Stage};
use crate::Error;
use crate::boost::gradient::{Boosted, Gradient, LabelledRows, Training};
use crate::party::{Context, PartyId, TurnOutcome};
use crate::setting::vertical::Party;
use crate::setting::vertical::asking::RankedModel;
use crate::setting::vertical::checkpoint::Settled;
use crate::setting::vertical::joined::Joined;
use crate::setting::vertical::message::Message;
use crate::setting::vertical::release::Release;

/// A run trains in about so many pieces, so that it can be watched and stopped.
const PIECES: u32 = 10;

/// A model that is being trained.
pub(super) struct Fitting {
    pub(super) run: Run,
    pub(super) joined: Joined,
    pub(super) gradient: Gradient,
    pub(super) boosted: Option<Boosted>,
    /// What the ranks of each party mean, as published only.
    pub(super) ranks: Vec<(PartyId, Release)>,
    /// What feature holders sent, if the state is handed over after the first piece.
    pub(super) columns: Vec<(PartyId, Vec<u8>)>,
}

impl Fitting {
    /// Trains some rounds more.
    pub(super) fn piece(
        mut self: Box<Self>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        let rounds = self.run.plan.vertical.trees.rounds;
        let done = self.boosted.as_ref().map_or(0, |boosted| boosted.rounds() as u32);
        let until = (done + rounds.div_ceil(PIECES)).min(rounds);
        let training = Training {
            schema: &self.joined.schema,
            rows: LabelledRows {
                cells: &self.joined.cells,
                weights: None,
            },
            validation: None,
            start: self.boosted.as_ref(),
        };
        let report = context.progress_callback();
        // A party that is made again takes these trees from its record. They are a small part of the state below.
        let boosted = context.once("trees", || {
            self.gradient.fit(&training, &mut |progress| {
                let now = done + progress.done as u32;
                report("Training", now.into(), rounds.into());
                if now >= until {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
        })?;
        self.boosted = Some(boosted);
        if until < rounds {
            if self.run.restores && done == 0 {
                context.checkpoint(&Settled {
                    ids: self.run.ids,
                    rows: self.run.rows.clone(),
                    columns: std::mem::take(&mut self.columns),
                    boosted: self.boosted.clone(),
                });
            }
            return Ok(TurnOutcome::Working(LabelHolder::next(Stage::Training(self))));
        }
        let Self {
            run,
            joined,
            boosted,
            ranks,
            ..
        } = *self;
        let boosted = boosted.ok_or_else(|| Error::internal("a model was trained"))?;
        if ranks.is_empty() {
            return run.trained(joined, boosted);
        }
        let (ranked, splits) = RankedModel::ask(boosted, run.own.schema.features().count(), ranks);
        let expecting = Expecting::all(run, splits.iter().map(|(party, _)| *party));
        for (party, splits) in splits {
            context.send(party, &Message::Splits(splits))?;
        }
        LabelHolder::wait(Stage::ExpectThresholds(expecting, Box::new(ranked)))
    }
}
