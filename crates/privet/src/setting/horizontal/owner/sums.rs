//! An owner's part in joint sums.

use std::collections::BTreeSet;
use std::sync::Arc;

use privet_mpc::sealed::SealingKey;
use privet_mpc::sum::{OwnerRound, Seed, SumOwner};
use zeroize::Zeroizing;

use super::{Brings, Owner, Stage, with_others};
use crate::Error;
use crate::model::{Model, Settings};
use crate::party::{Context, PartyId, RunKey, RunKeys, TurnOutcome};
use crate::privacy::joint::signed;
use crate::privacy::{Certificate, Ledger};
use crate::setting::horizontal::joint::{Asked, Joint};
use crate::setting::horizontal::message::{Message, OpenedSum};
use crate::setting::horizontal::plan::{NOBODY, OwnerPlan, unrandom};
use crate::setting::horizontal::shared::ShareAllowances;
use crate::setting::horizontal::{MINER, Outcome, PATIENCE, Party, certified};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// An owner in joint sums.
pub(super) struct Summing {
    joint: Joint,
    sum: SumOwner,
    /// What a checkpoint keeps.
    saved: Saved,
    /// Of how many owners the last sum is.
    contributions: u32,
    /// The number of the current question's first round.
    round: u32,
    state: State,
}

enum State {
    /// It pays and draws from its ledger.
    Paying(Box<Paying>, Turn),
    /// All sums are opened, and it has closed its run.
    Certified(Box<Certificate>),
}

struct Paying {
    ledger: Ledger,
    paid: ShareAllowances,
}

enum Turn {
    /// It waits to be asked.
    Idle,
    /// It is asked to share its numbers.
    Asked,
    /// It has shared them, and can answer once, as a holder.
    Shared(Vec<OwnerRound>),
    /// It has answered about so many owners' numbers.
    Answered(u32),
    /// It has shared them and holds no shares: it waits for the sum.
    Dealt,
}

type Next = Result<TurnOutcome<Party>, Error>;

impl Summing {
    /// Pays, and is ready to share its numbers for the first question.
    ///
    /// # Errors
    /// [`Error::Peer`] if a key is not its owner's, or there are too few; nothing is paid then. What the ledger refuses.
    pub(super) fn begin(
        plan: &OwnerPlan,
        mut brings: Brings,
        keys: &[(PartyId, RunKey)],
        context: &mut Context<'_, Message>,
    ) -> Result<Self, Error> {
        let mut known = RunKeys::default();
        let all = plan.plan();
        let sums = &all.joint()?.sums;
        let (me, nobody) = (plan.place() as u16, all.nobody(context.agreement()));
        // An owner that holds no shares has envelopes for holders only: other keys are of no use to it.
        let used = |party: PartyId| {
            let place = party.0.wrapping_sub(1);
            sums.is_holder(me) || sums.is_holder(place) || place == me
        };
        let keys_used = keys.iter().filter(|(party, _)| used(*party));
        let keys_used = keys_used.map(|(party, key)| (*party, key));
        known.insert_all(context.agreement(), keys_used.clone())?;
        for (party, _) in keys_used {
            if nobody.contains(known.get(party)) {
                return Err(context.complain(party, NOBODY));
            }
        }
        let key = brings.key.take();
        let key = key.ok_or_else(|| Error::internal("an owner of joint sums has drawn its key"))?;
        if known.get(context.me()) != Some(&key.public()) {
            return Err(context.complain(MINER, "it begins without this owner's key"));
        }
        let owners = 1..=all.owners().len() as u16;
        let begin = keys.iter().map(|(party, _)| party.0);
        let begin: BTreeSet<u16> = begin.filter(|party| owners.contains(party)).collect();
        if begin.len() < all.least() {
            return Err(context.complain(MINER, "it begins with fewer owners than a sum needs"));
        }
        let keys = (1..).zip(nobody.keys()).map(|(party, nobody)| {
            let key = known.get(PartyId(party));
            *key.unwrap_or(nobody)
        });
        let saved = Saved {
            key: Zeroizing::new(*key.expose()),
            keys: keys.flatten().collect(),
            opened: 0,
            told: Told::default(),
            asked: true,
            certificate: None,
            held_out: brings.held_out,
        };
        Self::of(plan, brings, saved, context)
    }

    /// From a checkpoint.
    pub(super) fn restore(
        plan: &OwnerPlan,
        brings: Brings,
        saved: Saved,
        context: &mut Context<'_, Message>,
    ) -> Next {
        Box::new(Self::of(plan, brings, saved, context)?).unchanged(plan)
    }

    fn of(
        plan: &OwnerPlan,
        brings: Brings,
        saved: Saved,
        context: &mut Context<'_, Message>,
    ) -> Result<Self, Error> {
        let all = plan.plan();
        let together = all.joint()?;
        let Brings {
            table, mut ledger, ..
        } = brings;
        let mut joint = Joint::new(all, context.agreement(), table, saved.held_out)?;
        let (mut round, mut contributions) = (0, 0);
        let told = saved.told.whole();
        let mut reader = Reader::new(&told);
        for _ in 0..saved.opened {
            let sum =
                OpenedSum::read(&mut reader).map_err(|e| Error::internal(format!("its own state ({e})")))?;
            let question = asked(&joint)?;
            round += together.numbered(&question);
            joint.take(together, &question, &sum)?;
            contributions = sum.contributions;
        }
        let numbered: Vec<(u16, [u8; 32])> = (1..).zip(saved.keys.as_chunks().0.iter().copied()).collect();
        let me = plan.place() as u16;
        let under = together.laws.sealed_under(context.agreement(), all.schema())?;
        let sum = SumOwner::new(
            &together.sums,
            me,
            &SealingKey::new(*saved.key),
            &numbered,
            &under,
            round,
        );
        let sum = sum.map_err(|e| context.complain(MINER, e))?;
        let state = match &saved.certificate {
            Some(text) => State::Certified(Box::new(certified::own(text)?)),
            None => {
                ledger.promise(all.price(), all.delta())?;
                let paid = together
                    .laws
                    .pay(&mut ledger, together.trees.trees, together.sharing)?;
                let turn = if saved.asked { Turn::Asked } else { Turn::Idle };
                State::Paying(Box::new(Paying { ledger, paid }), turn)
            }
        };
        Ok(Self {
            joint,
            sum,
            saved,
            contributions,
            round,
            state,
        })
    }

    /// The number of the current question.
    pub(super) fn next(&self) -> u32 {
        self.saved.opened
    }

    /// Works if it is asked, else waits.
    fn go_on(self: Box<Self>, plan: &OwnerPlan, context: &mut Context<'_, Message>) -> Next {
        if !self.is_asked() {
            context.deadline(PATIENCE, plan.plan().patience());
        }
        self.unchanged(plan)
    }

    /// The same with the deadline that it has already.
    fn unchanged(self: Box<Self>, plan: &OwnerPlan) -> Next {
        let works = self.is_asked();
        let owner = Party::Owner(Owner {
            plan: plan.clone(),
            stage: Stage::Summing(self),
            reminders: 0,
        });
        Ok(if works {
            TurnOutcome::Working(owner)
        } else {
            TurnOutcome::Continue(owner)
        })
    }

    fn is_asked(&self) -> bool {
        matches!(self.state, State::Paying(_, Turn::Asked))
    }

    /// Draws its numbers with its share of noise, once, and shares them.
    pub(super) fn resume(mut self: Box<Self>, plan: &OwnerPlan, context: &mut Context<'_, Message>) -> Next {
        let together = plan.plan().joint()?;
        let (number, question) = (self.next(), asked(&self.joint)?);
        let State::Paying(paying, turn) = &mut self.state else {
            return Err(Error::internal(
                "an owner that has closed its run is asked nothing",
            ));
        };
        let law = together.laws.of(&question)?;
        let (joint, Paying { ledger, paid }) = (&mut self.joint, &mut **paying);
        let draw = || {
            let numbers = law.contribution(joint, &question, ledger, paid)?;
            Ok(Residues(numbers.into_residues()))
        };
        let numbers = context.once(&format!("share {number}"), draw)?;
        let rounds = together.rounds(question.dimension());
        let seeds = context.once(&format!("seeds {number}"), || Seeds::draw(rounds))?;
        let (sums, me) = (&together.sums, plan.place() as u16);
        let length = sums.length();
        let mut shared = Vec::with_capacity(rounds as usize);
        let mut sealed = Vec::with_capacity(rounds as usize * sums.share_bytes(me));
        for (place, (numbers, seed)) in numbers.0.chunks(length).zip(seeds.0).enumerate() {
            let mut signed: Zeroizing<Vec<i64>> =
                Zeroizing::new(numbers.iter().map(|&number| signed(number)).collect());
            // What does not fill a round is filled up: zeros say nothing.
            signed.resize(length, 0);
            let (one, message) = self
                .sum
                .share(self.round + place as u32, &signed, seed)
                .map_err(|e| Error::internal(format!("each round is shared once ({e})")))?;
            shared.extend(one);
            sealed.extend(message);
        }
        context.send(MINER, &Message::Shares { number, sealed })?;
        *turn = match sums.is_holder(me) {
            true => Turn::Shared(shared),
            false => Turn::Dealt,
        };
        self.go_on(plan, context)
    }

    pub(super) fn handle(
        mut self: Box<Self>,
        plan: &OwnerPlan,
        message: Message,
        context: &mut Context<'_, Message>,
    ) -> Next {
        let name = message.name();
        match (self.state, message) {
            (State::Paying(paying, Turn::Shared(rounds)), Message::Survivors { number, sealed })
                if number == self.saved.opened =>
            {
                let turn = answer(&self.sum, rounds, number, &sealed, context)?;
                self.state = State::Paying(paying, turn);
                self.go_on(plan, context)
            }
            (
                State::Paying(paying, turn),
                Message::Opened {
                    first,
                    sums,
                    digest,
                    asks,
                },
            ) => {
                self.state = State::Paying(paying, turn);
                self.opened(plan, (first, sums), digest, asks, context)
            }
            // It has all of it already.
            (State::Certified(own), Message::Opened { .. }) => {
                self.state = State::Certified(own);
                self.go_on(plan, context)
            }
            (State::Certified(own), Message::Finished { certificates, .. }) => {
                let certificate = with_others(plan, *own, certificates, context)?;
                let owners = self.contributions as usize;
                let all = plan.plan();
                let settings = Settings::new(all.model_settings(plan.place())?);
                let schema = (**all.schema()).clone();
                let (ensemble, report) = self.joint.finish();
                let model = Model::new(schema, ensemble, certificate, settings)?;
                let model = Box::new(model);
                Ok(TurnOutcome::Finished(Outcome::Trained {
                    model,
                    owners,
                    report,
                }))
            }
            _ => Err(context.complain(MINER, format!("{name} out of turn"))),
        }
    }

    /// Sums that were opened: the model follows from them, and must be the miner's.
    fn opened(
        mut self: Box<Self>,
        plan: &OwnerPlan,
        (first, sums): (u32, Vec<OpenedSum>),
        digest: [u8; 32],
        asks: bool,
        context: &mut Context<'_, Message>,
    ) -> Next {
        let together = plan.plan().joint()?;
        let known = self.next();
        let end = u64::from(first) + sums.len() as u64;
        if first > known {
            return Err(context.complain(MINER, "it left out sums that were opened"));
        }
        if end < u64::from(known) {
            // Said before it heard that this owner has them.
            return self.go_on(plan, context);
        }
        for sum in sums.into_iter().skip((known - first) as usize) {
            let question =
                asked(&self.joint).map_err(|_| context.complain(MINER, "more sums than were asked for"))?;
            let least = plan.plan().least() as u32;
            let owners = plan.plan().owners().len() as u32;
            let answered = match &self.state {
                State::Paying(_, Turn::Answered(contributions)) => Some(*contributions),
                _ => None,
            };
            let is_wrong = sum.values.len() != question.dimension()
                || !(least..=owners).contains(&sum.contributions)
                || answered.is_some_and(|answered| answered != sum.contributions);
            if is_wrong {
                return Err(context.complain(MINER, "a sum that does not fit what was asked"));
            }
            self.round += together.numbered(&question);
            self.joint.take(together, &question, &sum)?;
            self.saved.told.extend(&sum.to_bytes());
            self.saved.opened += 1;
            self.contributions = sum.contributions;
            if let State::Paying(_, turn) = &mut self.state {
                *turn = Turn::Idle;
            }
        }
        if self.joint.digest() != digest {
            return Err(context.complain(
                MINER,
                "its model is not the one that follows from the opened sums",
            ));
        }
        let done = self.joint.asked().is_none();
        let news = self.next() > known;
        match self.state {
            State::Paying(paying, _) if done => {
                let certificate = certified::of_run(&paying.ledger, context)?;
                let told = certificate.for_partners().to_json();
                context.send(MINER, &Message::Certified(told))?;
                self.state = State::Certified(Box::new(certificate));
            }
            State::Paying(paying, Turn::Idle) if asks => self.state = State::Paying(paying, Turn::Asked),
            state => self.state = state,
        }
        if news {
            // With this the secrets of the question are dropped from the record.
            self.saved.asked = self.is_asked();
            if let State::Certified(own) = &self.state {
                self.saved.certificate = Some(own.to_json());
            }
            context.checkpoint(&self.saved);
        }
        self.go_on(plan, context)
    }
}

/// What is asked now.
fn asked(joint: &Joint) -> Result<Asked, Error> {
    joint
        .asked()
        .ok_or_else(|| Error::internal("a question is asked"))
}

/// Answers with the sum of the shares that others sealed for this owner: once, and about one set of owners.
fn answer(
    owner: &SumOwner,
    rounds: Vec<OwnerRound>,
    number: u32,
    sealed: &[u8],
    context: &mut Context<'_, Message>,
) -> Result<Turn, Error> {
    let each = sealed.len() / rounds.len().max(1);
    if each == 0 || each * rounds.len() != sealed.len() {
        return Err(context.complain(MINER, "shares that are cut short"));
    }
    let mut sum = Vec::new();
    let mut survivors: Option<Vec<u16>> = None;
    for (round, relayed) in rounds.into_iter().zip(sealed.chunks(each)) {
        let answered = round
            .answer(owner, relayed)
            .map_err(|e| context.complain(MINER, e))?;
        if survivors
            .as_ref()
            .is_some_and(|before| *before != answered.survivors)
        {
            return Err(context.complain(MINER, "different owners in the parts of one sum"));
        }
        survivors = Some(answered.survivors);
        sum.extend(answered.message);
    }
    context.send(MINER, &Message::Answer { number, sum })?;
    Ok(Turn::Answered(survivors.map_or(0, |all| all.len() as u32)))
}

/// An owner's numbers with its share of noise, on their way into the record and out of it.
struct Residues(Zeroizing<Vec<u64>>);

impl Wire for Residues {
    fn room(&self) -> usize {
        8 + 8 * self.0.len()
    }

    fn write(&self, to: &mut Writer) {
        to.list(&self.0, |number, to| to.long(*number));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.list(8, Reader::long)
            .map(|numbers| Self(Zeroizing::new(numbers)))
    }
}

/// What the shares of a question follow from.
struct Seeds(Vec<Seed>);

impl Seeds {
    fn draw(count: u32) -> Result<Self, Error> {
        let one = |_| Seed::from_os().map_err(unrandom);
        (0..count).map(one).collect::<Result<_, _>>().map(Self)
    }
}

impl Wire for Seeds {
    fn room(&self) -> usize {
        8 + 32 * self.0.len()
    }

    fn write(&self, to: &mut Writer) {
        to.list(&self.0, |seed, to| to.fixed(seed.expose()));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.list(32, |from| Ok(Seed::new(from.array()?))).map(Self)
    }
}

/// Opened sums, one after the other. Each state holds all of them, so most of their bytes are shared by states.
#[derive(Default)]
struct Told {
    shared: Vec<Arc<[u8]>>,
    /// The last bytes.
    last: Vec<u8>,
    length: usize,
}

impl Told {
    /// Every state has a copy of fewer bytes than these.
    const COPIED: usize = 1 << 11;

    fn of(bytes: &[u8]) -> Self {
        Self {
            shared: vec![bytes.into()],
            last: Vec::new(),
            length: bytes.len(),
        }
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.last.extend_from_slice(bytes);
        self.length += bytes.len();
        if self.last.len() < Self::COPIED {
            return;
        }
        let mut part = std::mem::take(&mut self.last);
        // Parts that are shared become shorter and shorter, so that there are few of them.
        while let Some(before) = self.shared.pop_if(|before| before.len() <= part.len()) {
            part = [&before, &part[..]].concat();
        }
        self.shared.push(part.into());
    }

    fn whole(&self) -> Vec<u8> {
        let shared = self.shared.iter().flat_map(|bytes| bytes.iter());
        shared.chain(&self.last).copied().collect()
    }

    /// All bytes, after their length.
    fn write(&self, to: &mut Writer) {
        to.long(self.length as u64);
        self.shared.iter().for_each(|bytes| to.shared(bytes));
        to.fixed(&self.last);
    }
}

/// The state of an owner between two questions. It holds no numbers of its own.
pub(super) struct Saved {
    /// Its own secret key, and the keys of all owners, one after the other.
    key: Zeroizing<[u8; 32]>,
    keys: Arc<[u8]>,
    /// How many sums were opened, and all of them.
    opened: u32,
    told: Told,
    asked: bool,
    certificate: Option<String>,
    held_out: Option<[u8; 32]>,
}

impl Wire for Saved {
    fn room(&self) -> usize {
        let certificate = self.certificate.as_ref().map_or(0, String::len);
        128 + Told::COPIED + certificate
    }

    fn write(&self, to: &mut Writer) {
        to.fixed(&*self.key);
        to.long(self.keys.len() as u64 / 32);
        to.shared(&self.keys);
        to.word(self.opened);
        self.told.write(to);
        to.byte(u8::from(self.asked));
        to.text(self.certificate.as_deref().unwrap_or_default());
        // Records of runs without an evaluation end here, as they always did.
        if let Some(seed) = &self.held_out {
            to.fixed(seed);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            key: Zeroizing::new(from.array()?),
            keys: from
                .list(32, |from| from.array::<32>())?
                .into_iter()
                .flatten()
                .collect(),
            opened: from.word()?,
            told: Told::of(from.bytes()?),
            asked: from.byte()? == 1,
            certificate: Some(from.text(1 << 24)?).filter(|text| !text.is_empty()),
            held_out: match from.is_empty() {
                true => None,
                false => Some(from.array()?),
            },
        })
    }
}
