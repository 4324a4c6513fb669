//! What parties will do, learn and pay, in words.

use std::fmt;

use super::plan::{MinerPlan, OwnerPlan, Plan};
use super::{Protocol, Recipients};
use crate::privacy::account::{Caps, Price};
use crate::privacy::{Delta, Epsilon};

/// Who learns what, and how far that is bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learning {
    /// Who.
    pub who: String,
    /// What.
    pub what: String,
}

/// What somebody pays who has rows at several owners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PersonAtSeveral {
    /// At how many owners.
    pub owners: u64,
    /// The price of all their ledgers together.
    pub price: Price,
    /// What that is as ε, at the run's δ.
    pub epsilon: Epsilon,
}

impl Plan {
    /// What a person pays who has rows at so many owners: where one noise covers all, changes at several owners add up before noise
    /// hides them; where each owner has noise of its own, prices add up. Nothing if that is beyond what can be counted.
    ///
    /// # Privacy
    /// `docs/proofs/horizontal.md#several-owners`.
    pub fn person_at(&self, owners: u64) -> Option<PersonAtSeveral> {
        let price = match self.protocol() {
            Protocol::Aggregated => self.price().group(owners)?,
            Protocol::Averaged | Protocol::Chain => self.price().times(owners)?,
        };
        Some(PersonAtSeveral {
            owners,
            price,
            epsilon: Caps::from(price).epsilon(self.delta()),
        })
    }

    /// Who learns what.
    pub fn learnings(&self) -> Vec<Learning> {
        let line = |who: &str, what: String| Learning {
            who: who.to_owned(),
            what,
        };
        let epsilon = self.epsilon();
        let price = match self.delta() {
            Delta::ZERO => format!("ε = {epsilon}"),
            delta => format!("ε = {epsilon} at δ = {delta}"),
        };
        let mut all = Vec::new();
        match self.sharing() {
            Some(sharing) => {
                let seen =
                    format!("noisy sums over all owners' rows and what follows from them, under {price}");
                all.push(line(
                    "the miner",
                    format!("{seen}; of a single owner's numbers, nothing"),
                ));
                all.push(line(
                    "an owner",
                    "the same; of another owner's numbers, nothing".to_owned(),
                ));
                let few = sharing.colluding();
                let noise = sharing.honest();
                all.push(line(
                    &match few {
                        1 => "one owner who colludes with the miner, or is the miner".to_owned(),
                        _ => format!("{few} owners who collude, the miner among them or not"),
                    },
                    format!(
                        "the same under {price}: noise is made in shares so that those of {noise} other owners are enough. If more collude, \
                         they may see every owner's numbers"
                    ),
                ));
            }
            None => {
                let seen = match (self.horizontal().quality, self.horizontal().judges()) {
                    (_, false) => "each owner's noisy trees",
                    (None, true) => {
                        "each owner's noisy trees, and noisy counts of how good the chain was before and after them"
                    }
                    (Some(_), true) => {
                        "each owner's noisy trees, also those that are left out, and noisy counts of how good the chain was before and after them"
                    }
                };
                let seen = format!("{seen}, under {price} of that owner's ledger");
                all.push(line("the miner", seen));
                let owner = match (self.protocol(), self.horizontal().recipients) {
                    (Protocol::Chain, _) if self.horizontal().judges() => {
                        "the noisy trees of the owners before it, whether there is another round, and the model if it gets it; no other owner's counts"
                    }
                    (Protocol::Chain, _) => {
                        "the noisy trees of the owners before it, and the model if it gets it"
                    }
                    (_, Recipients::Everyone) => "the model, and so every owner's noisy trees",
                    (_, Recipients::Miner) => "nothing",
                };
                all.push(line("an owner", owner.to_owned()));
                let none = "no more than that: each owner's own noise protects its rows, whoever colludes";
                all.push(line("any owners who collude", none.to_owned()));
            }
        }
        if self.judging().is_some() {
            let how_good = "how good the model is on held-out rows, from noisy counts";
            all.push(match self.sharing() {
                Some(_) => line(
                    "the miner and every owner",
                    format!("{how_good} over all owners, under the same ε"),
                ),
                None => line(
                    "the miner and every owner",
                    format!("{how_good} over all owners; the miner also each owner's noisy counts, under the same ε"),
                ),
            });
        }
        all.push(line(
            "a reader of the model",
            format!("no more than the miner, under {price}"),
        ));
        all.push(line(
            "everybody who takes part",
            "who the owners are, about how many rows each has, and who was absent when".to_owned(),
        ));
        all
    }

    /// How the model is judged on held-out rows and what that costs, sentence by sentence; nothing if it is not judged.
    pub fn evaluation_words(&self) -> Vec<String> {
        let Some(judging) = self.judging() else {
            return Vec::new();
        };
        let percent = judging.percent();
        let amount = |price: Price, epsilon: Epsilon| match price {
            Price::Pure(_) => price.to_string(),
            _ => format!("{price}, which is ε = {epsilon} at δ = {}", self.delta()),
        };
        let deviation = self.report_deviation(self.owners().len() as u32).unwrap_or(0.0);
        let rows = self.owners().iter();
        let rows = rows.fold(0_u64, |sum, owner| {
            let held_out = owner.rows_about.saturating_sub(judging.learnt(owner.rows_about));
            sum.saturating_add(held_out)
        });
        let noise = match self.sharing() {
            Some(_) => "which all owners make in shares and nobody knows",
            None => "each owner adds its own, and the miner adds up the counts",
        };
        vec![
            format!(
                "Each person is held out with a chance of {percent} in 100, by a secret coin at their owner: no tree learns from their rows, and \
                 the model is judged on these, about {rows} at all owners"
            ),
            format!(
                "The evaluation costs each owner {}",
                amount(judging.price(), judging.budget().epsilon())
            ),
            format!(
                "The trees cost each owner {}",
                amount(self.training_price(), self.training_epsilon())
            ),
            format!(
                "Together {}. Both are charged to everybody, also to those whose rows are in one part only",
                amount(self.price(), self.epsilon())
            ),
            format!("Noise in each count of held-out rows: standard deviation {deviation:.1}, {noise}"),
        ]
    }

    /// What owners who do not follow the protocol can do.
    pub fn caution(&self) -> &'static str {
        match self.protocol() {
            Protocol::Aggregated => {
                "One owner can spoil the model by adding whatever numbers it likes, and nobody can tell: they are seen in sums only."
            }
            Protocol::Averaged | Protocol::Chain => {
                "One owner can spoil the model by sending whatever trees it likes."
            }
        }
    }

    fn head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owners = self.owners().len();
        let absent = self.absent();
        let how = match self.protocol() {
            Protocol::Aggregated => "train trees together, by secure sums",
            Protocol::Averaged => "train trees of their own, which are averaged",
            Protocol::Chain => "add trees of their own, one after another",
        };
        writeln!(f, "{owners} owners {how}; {absent} of them may be absent.")?;
        if let Some(sharing) = self.sharing() {
            writeln!(f, "Provided that {sharing}.")?;
            let holders = self.joint().map_or(owners, |joint| joint.sums.holders());
            if holders < owners {
                writeln!(
                    f,
                    "The first {holders} owners hold shares of all numbers and answer for sums; whether who colludes or is absent is one of them \
                     does not matter."
                )?;
            }
        }
        for line in self.start_words().into_iter().chain(self.turns()) {
            writeln!(f, "{line}")?;
        }
        let features = self.schema().features().map(|column| column.name.as_str());
        writeln!(f, "Learning from {}", features.collect::<Vec<_>>().join(", "))
    }

    fn learnt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Learning { who, what } in self.learnings() {
            writeln!(f, "What {who} learns: {what}.")?;
        }
        writeln!(f, "{}", self.caution())
    }
}

/// What it will do, pay and show, in words.
impl fmt::Display for OwnerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan();
        plan.head(f)?;
        let own = &plan.owners()[self.place()];
        writeln!(f, "{}, with about {} rows, pays:", own.name, own.rows_about)?;
        writeln!(
            f,
            "Price: {}, for the case that {}",
            plan.price(),
            plan.relation()
        )?;
        if plan.delta() != Delta::ZERO {
            writeln!(f, "That is ε = {} at δ = {}", plan.epsilon(), plan.delta())?;
        }
        for line in plan.evaluation_words() {
            writeln!(f, "{line}")?;
        }
        if let Some(two) = plan.person_at(2) {
            writeln!(
                f,
                "A person with rows at two owners pays {} in both ledgers together: ε = {}",
                two.price, two.epsilon
            )?;
        }
        let noise = plan.noise(self.place()).map_err(|_| fmt::Error)?;
        for line in plan.warnings().iter().chain(&noise) {
            writeln!(f, "{line}")?;
        }
        plan.learnt(f)
    }
}

/// What it will do, and what is shown, in words.
impl fmt::Display for MinerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.plan();
        plan.head(f)?;
        writeln!(
            f,
            "The miner has no rows and pays nothing; each owner pays {}.",
            plan.price()
        )?;
        for line in plan.evaluation_words() {
            writeln!(f, "{line}")?;
        }
        for line in plan.noise(0).map_err(|_| fmt::Error)? {
            writeln!(f, "{line}")?;
        }
        plan.learnt(f)
    }
}
