//! What is fixed about a chain before it begins: rounds, which units are in which, who judges.

use std::num::NonZeroU32;

use super::quality::Quality;
use super::resolve::Apart;
use super::{Horizontal, Plan};
use crate::Error;
use crate::data::schema::Schema;
use crate::privacy::account::Price;
use crate::privacy::{Portions, Relation};

/// The most rounds, each owner's portions, and what is measured.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) rounds: u32,
    /// None where all units are in one round.
    pub(super) portions: Option<Portions>,
    pub(super) quality: Option<Quality>,
}

impl Chain {
    /// Of so many owners, each of which pays this price.
    pub(super) fn new(
        own: &Horizontal,
        schema: &Schema,
        relation: &Relation,
        price: Price,
        owners: usize,
    ) -> Result<Self, Error> {
        // A round is never broken off, so one that would not end is not begun.
        let whole = own
            .turns
            .map_or(own.rounds, |turns| own.rounds.min(turns / owners.max(1) as u32));
        let Some(rounds) = NonZeroU32::new(whole) else {
            let why = format!(
                "{owners} owners have one turn each in a round, which is never broken off: write turns = {owners} or more"
            );
            return Err(Error::parameter("turns", why));
        };
        let portions = Portions {
            rounds,
            judges: own.judges(),
        };
        let portions = (portions.count().get() > 1).then_some(portions);
        if portions.is_some() && relation.unit().is_none() && relation.rows().get() > 1 {
            return Err(Error::parameter(
                "rounds",
                "rounds and measurements need all rows of one unit together: declare the column that tells units apart, or one row per unit",
            ));
        }
        let quality = own.judges().then(|| {
            let each = price.part(1, u64::from(whole)).ok_or_else(|| {
                Error::parameter("rounds", "no budget remains to measure so many rounds with")
            })?;
            Quality::new(schema, relation, each)
        });
        Ok(Self {
            rounds: whole,
            portions,
            quality: quality.transpose()?,
        })
    }

    /// About how many of so many rows train in a round.
    pub(super) fn rows(&self, rows: u64, round: u32) -> u64 {
        let share = self.portions.map_or(1.0, |portions| portions.share(round));
        ((rows as f64 * share).round() as u64).max(1)
    }

    /// How many draws an owner may make with these plans for its rounds.
    pub(super) fn draws(&self, rounds: &[Apart]) -> u64 {
        let trees = rounds
            .iter()
            .map(|round| round.first.draws_by_level().max(round.later.draws_by_level()));
        trees.sum::<u64>() + self.quality.as_ref().map_or(0, |_| u64::from(self.rounds))
    }
}

impl Plan {
    /// How a chain goes and what that costs, sentence by sentence; nothing for other protocols.
    pub fn turns(&self) -> Vec<String> {
        let (own, Ok(chain)) = (self.horizontal(), self.chain()) else {
            return Vec::new();
        };
        let owners = self.owners().len();
        let mut lines = Vec::new();
        if chain.rounds > 1 {
            lines.push(format!(
                "The chain goes round {} times{}. Each unit is in one round only, by a private coin of its own: about half of an owner's units in \
                 the first round, half of those that remain in the next, and all that remain in the last. So all rounds together cost an owner \
                 what one round costs.",
                chain.rounds,
                if own.advance.is_some() { " at most" } else { "" },
            ));
        }
        if let Some(turns) = own.turns {
            lines.push(format!(
                "Owners have {turns} turns together at most. Rounds are never broken off, so there are {} turns at most.",
                chain.rounds as usize * owners
            ));
        }
        let mut judging = None;
        if let (Some(quality), Some(portions)) = (&chain.quality, chain.portions) {
            let share = portions.share(chain.rounds);
            let rows = |place: usize| self.owners()[place].rows_about as f64 * share;
            let least = (0..owners).map(rows).fold(f64::MAX, f64::min);
            judging = Some(quality.deviation(least));
            lines.push(format!(
                "About a fifth of each owner's units train no tree: they judge. In each of its turns an owner counts with noise, on its own judging \
                 units, how many rows {} before and after its trees. {}, before the first turn. That costs nothing more, since the units that judge are in \
                 no round. {} by noise by about {:.3} (one standard error) where fewest rows judge.",
                match quality.is_of_classes() {
                    true => "are predicted right",
                    false => "there are, and how large their errors are (clipped),",
                },
                match chain.rounds {
                    1 => format!("One measurement is reserved for {}", quality.price()),
                    rounds => format!("{rounds} measurements are reserved for {} each", quality.price()),
                },
                match quality.is_of_classes() {
                    true => "An accuracy is off",
                    false => "A mean error, in parts of the clip, is off",
                },
                quality.deviation(least),
            ));
        }
        if let Some(least) = own.quality {
            lines.push(format!(
                "The miner leaves out trees with which that figure falls by more than {least}. They have been paid for, and the miner has seen them. \
                 This finds owners whose rows give poor trees. It does not find an owner that lies about its own figure.{}",
                match judging {
                    Some(noise) if least < 2.0 * noise => " Some trees will be left out by chance: the threshold is near the noise.",
                    _ => "",
                }
            ));
        }
        if let Some(least) = own.advance {
            lines.push(format!(
                "From the second round on the chain ends after a round by which the figure of all owners together has risen by less than {least}; the \
                 model is the chain at the end of the round with the best figure. Whole rounds are made, whoever is absent."
            ));
        }
        let pairs = owners * owners.saturating_sub(1) / 2;
        if own.broadcast {
            lines.push(format!(
                "Trees of a turn are sent to all who still wait in the round, who apply them meanwhile: {pairs} messages with trees in a full first \
                 round instead of {}, and as many trees.",
                owners.saturating_sub(1)
            ));
        }
        lines
    }
}
