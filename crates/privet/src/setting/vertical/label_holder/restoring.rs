//! A label holder that goes on from a state it handed over.

use super::{Expecting, LabelHolder, Stage};
use crate::Error;
use crate::party::{Context, TurnOutcome};
use crate::setting::vertical::Party;
use crate::setting::vertical::checkpoint::{Settled, foreign};
use crate::setting::vertical::meeting;
use crate::setting::vertical::message::Message;
use crate::wire::Wire;

impl LabelHolder {
    /// Goes on after rows were settled, or in the middle of training.
    pub(in crate::setting::vertical) fn restore(
        self,
        state: &[u8],
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        let Settled {
            ids,
            rows,
            columns,
            boosted,
        } = Settled::from_bytes(state).map_err(|_| foreign())?;
        let (mut run, _) = self.begin(context)?;
        if run.ids != ids {
            return Err(meeting::other_ids());
        }
        if rows.iter().any(|row| *row >= run.own.cells.rows()) {
            return Err(foreign());
        }
        run.settle(rows);
        let mut expecting = Expecting::all(run, context.others());
        if columns.is_empty() {
            return Self::wait(Stage::ExpectColumns(expecting));
        }
        for (party, message) in columns {
            let message = Message::from_bytes(&message).map_err(|_| foreign())?;
            let received = expecting.run.received(party, message, context)?;
            expecting.take(party, received);
        }
        let gathered = expecting.gathered(context)?;
        if let TurnOutcome::Working(Party::LabelHolder(Self(Stage::Training(mut fitting)))) = gathered {
            fitting.boosted = boosted;
            return Ok(TurnOutcome::Working(Self::next(Stage::Training(fitting))));
        }
        Err(foreign())
    }
}
