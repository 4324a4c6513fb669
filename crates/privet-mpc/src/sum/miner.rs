//! What the miner does in a sum: it relays envelopes that it cannot read, and opens the sum from answers.

use super::field::{self, Mersenne61};
use super::message::{self, Kind, Survivors};
use super::scheme::Interpolated;
use super::{SumFault, SumTerms};
use crate::Error;

/// Collects the shares of a round, until all owners have sent theirs or the caller does not wait any longer.
pub struct Collecting {
    terms: SumTerms,
    round: u32,
    /// Messages by owner.
    shares: Vec<Option<Vec<u8>>>,
}

impl Collecting {
    /// Waits for the shares of a round.
    pub fn new(terms: &SumTerms, round: u32) -> Self {
        Self {
            terms: terms.clone(),
            round,
            shares: vec![None; terms.owners()],
        }
    }

    /// Whether [`receive`](Self::receive) would take an owner's message of shares: for vectors that are shared in several rounds.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn check(&self, from: u16, shares: &[u8]) -> Result<(), Error> {
        match self.shares.get(usize::from(from)) {
            None => Err(Error::Sum(SumFault::NoOwner { owner: from })),
            Some(Some(_)) => Err(Error::Sum(SumFault::Twice { owner: from })),
            Some(None) => message::check_shares(&self.terms, self.round, from, shares),
        }
    }

    /// Takes an owner's message of shares.
    ///
    /// # Errors
    /// [`Error::Sum`] that names the owner, if it has sent shares before or its message is not as agreed on. Nothing has changed then.
    pub fn receive(&mut self, from: u16, shares: Vec<u8>) -> Result<(), Error> {
        self.check(from, &shares)?;
        self.shares[usize::from(from)] = Some(shares);
        Ok(())
    }

    /// How many owners have shared.
    pub fn received(&self) -> usize {
        self.shares.iter().flatten().count()
    }

    /// Whether all have.
    pub fn complete(&self) -> bool {
        self.received() == self.shares.len()
    }

    /// Who has not.
    pub fn missing(&self) -> Vec<u16> {
        self.owners(Option::is_none)
    }

    fn owners(&self, which: impl Fn(&Option<Vec<u8>>) -> bool) -> Vec<u16> {
        let owners = (0_u16..).zip(&self.shares);
        owners
            .filter(|(_, shares)| which(shares))
            .map(|(owner, _)| owner)
            .collect()
    }

    /// Fixes the survivor set: those who have shared.
    ///
    /// # Errors
    /// Gives itself back with [`Error::Sum`] if these are too few.
    pub fn fix(self) -> Result<Relaying, (Self, Error)> {
        let survivors = self.owners(Option::is_some);
        let least = self.terms.least_survivors();
        if survivors.len() < least {
            let fault = SumFault::FewSurvivors {
                survivors: survivors.len(),
                least,
            };
            return Err((self, Error::Sum(fault)));
        }
        Ok(Relaying {
            terms: self.terms,
            round: self.round,
            survivors: Survivors::new(survivors),
            shares: self.shares,
        })
    }
}

/// The survivor set of a round is fixed; every survivor is told it, with its envelopes.
pub struct Relaying {
    terms: SumTerms,
    round: u32,
    survivors: Survivors,
    shares: Vec<Option<Vec<u8>>>,
}

impl Relaying {
    /// The survivors, in ascending order.
    pub fn survivors(&self) -> &[u16] {
        self.survivors.as_slice()
    }

    /// The survivors that hold shares, in ascending order: those who are told, and answer.
    pub fn holders(&self) -> &[u16] {
        self.survivors.holders(&self.terms)
    }

    /// The message for a survivor that holds shares.
    ///
    /// # Errors
    /// [`Error::Sum`] if it is none.
    pub fn message(&self, to: u16) -> Result<Vec<u8>, Error> {
        self.survivors.place_of_holder(&self.terms, to)?;
        let bytes = self.terms.envelope_bytes();
        let mut message = message::head(
            Kind::Relay,
            self.round,
            self.terms.relay_bytes(self.survivors.len()),
        );
        message.extend(self.survivors.bits(self.terms.owners()));
        let senders = (0_u16..).zip(&self.shares).filter(|(from, _)| *from != to);
        for (from, shares) in senders {
            // Among the envelopes of a sender there is none for itself; a sender before a holder is one, too.
            let place = usize::from(to) - usize::from(to > from);
            if let Some(shares) = shares {
                message.extend_from_slice(&shares[message::HEAD + place * bytes..][..bytes]);
            }
        }
        Ok(message)
    }

    /// All holders among the survivors have been told; answers follow.
    pub fn sent(self) -> Opening {
        Opening::over(self.terms, self.round, self.survivors)
    }
}

/// Collects answers and opens the sum of a survivor set.
pub struct Opening {
    terms: SumTerms,
    round: u32,
    survivors: Survivors,
    /// Answers of the holders among the survivors.
    answers: Vec<Option<Vec<u64>>>,
}

/// An opened sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The sums modulo [`MODULUS`](super::MODULUS), each as the number nearest to 0 with this remainder.
    pub numbers: Vec<i64>,
    /// Whose numbers were added, in ascending order.
    pub survivors: Vec<u16>,
    /// How many answers beyond the required ones lie on the same polynomials. Without any, a wrong answer is not noticed.
    pub checked: usize,
}

impl Opening {
    /// Opens the sum of a survivor set that somebody else has fixed.
    ///
    /// # Errors
    /// [`Error::Sum`] if there are too few survivors, they do not ascend, or one is no owner.
    pub fn of(terms: &SumTerms, round: u32, survivors: &[u16]) -> Result<Self, Error> {
        let least = terms.least_survivors();
        if survivors.len() < least {
            let survivors = survivors.len();
            return Err(Error::Sum(SumFault::FewSurvivors { survivors, least }));
        }
        if let Some(pair) = survivors.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::Sum(SumFault::NoSurvivor { owner: pair[1] }));
        }
        if let Some(&owner) = survivors
            .last()
            .filter(|last| usize::from(**last) >= terms.owners())
        {
            return Err(Error::Sum(SumFault::NoOwner { owner }));
        }
        Ok(Self::over(
            terms.clone(),
            round,
            Survivors::new(survivors.to_vec()),
        ))
    }

    fn over(terms: SumTerms, round: u32, survivors: Survivors) -> Self {
        Self {
            answers: vec![None; survivors.holders(&terms).len()],
            terms,
            round,
            survivors,
        }
    }

    /// The round.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The survivors, in ascending order.
    pub fn survivors(&self) -> &[u16] {
        self.survivors.as_slice()
    }

    /// The survivors that hold shares, in ascending order: those who answer.
    pub fn holders(&self) -> &[u16] {
        self.survivors.holders(&self.terms)
    }

    /// Takes the answer of a survivor that holds shares.
    ///
    /// # Errors
    /// [`Error::Sum`] that names the owner, if it is no survivor, holds no shares, has answered before, or its answer is not as agreed on. Nothing has changed
    /// then.
    pub fn receive(&mut self, from: u16, answer: &[u8]) -> Result<(), Error> {
        let place = self.survivors.place_of_holder(&self.terms, from)?;
        if self.answers[place].is_some() {
            return Err(Error::Sum(SumFault::Twice { owner: from }));
        }
        self.answers[place] = Some(message::read_answer(&self.terms, self.round, from, answer)?);
        Ok(())
    }

    /// Leaves out the answer of an owner: one that does not fit, so that the others can be opened.
    pub fn exclude(&mut self, owner: u16) {
        if let Ok(place) = self.survivors.place_of_holder(&self.terms, owner) {
            self.answers[place] = None;
        }
    }

    /// The survivors that hold shares and have no answer here: none came, or it was left out.
    pub fn unanswered(&self) -> impl Iterator<Item = u16> {
        let each = self.holders().iter().zip(&self.answers);
        each.filter(|(_, answer)| answer.is_none())
            .map(|(holder, _)| *holder)
    }

    /// How many have answered.
    pub fn received(&self) -> usize {
        self.answers.iter().flatten().count()
    }

    /// Whether the sum can be opened. Further answers check it.
    pub fn enough(&self) -> bool {
        self.received() >= self.terms.required()
    }

    /// Whether all have answered that were told.
    pub fn complete(&self) -> bool {
        self.received() == self.answers.len()
    }

    /// The sum, from the answers so far.
    ///
    /// # Errors
    /// [`Error::Sum`] with [`SumFault::FewAnswers`], or [`SumFault::Inconsistent`] if there are more answers than required and they do not
    /// lie on one polynomial.
    pub fn open(&self) -> Result<Opened, Error> {
        let (answers, least) = (self.received(), self.terms.required());
        if answers < least {
            return Err(Error::Sum(SumFault::FewAnswers { answers, least }));
        }
        let answered = self.holders().iter().zip(&self.answers);
        let (mut holders, mut shares) = (Vec::new(), Vec::new());
        for (holder, answer) in answered {
            if let Some(answer) = answer {
                holders.push(*holder);
                shares.extend_from_slice(answer);
            }
        }
        match self.terms.scheme().interpolate(&holders, &shares) {
            Interpolated::Whole(numbers) => Ok(Opened {
                numbers: numbers.into_iter().map(field::centred::<Mersenne61>).collect(),
                survivors: self.survivors().to_vec(),
                checked: answers - least,
            }),
            Interpolated::Inconsistent(owners) => Err(Error::Sum(SumFault::Inconsistent { owners })),
        }
    }
}
