//! One party of a run: frames in, frames out, over any transport.

use std::collections::VecDeque;
use std::marker::PhantomData;

use super::context::{PartyProgress, complain};
use super::record::{self, Recorder};
use super::{Agreement, Context, PartyId, Record, Role, RunName, TurnOutcome};
use crate::Error;
use crate::error::PeerError;
use crate::wire::{Body, Frame, Wire};

/// A frame to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// To whom.
    pub to: PartyId,
    /// Which of the frames to that party it is, from 0.
    pub number: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The state of a party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeatState {
    /// It waits for messages of these parties.
    Waiting(Vec<PartyId>),
    /// It has work to do: call [`Seat::work`].
    Working,
    /// It has its result.
    Finished,
    /// It has given up.
    Failed,
}

enum Holding<R: Role> {
    Waiting(R),
    Working(R),
    Finished(R::Output),
    Failed(Error),
}

/// A party with its role, its record and its place in an agreement.
pub struct Seat<R: Role> {
    agreement: Agreement,
    me: PartyId,
    recorder: Recorder,
    holding: Option<Holding<R>>,
    /// Frames so far, by party.
    sent: Vec<u64>,
    received: Vec<u64>,
    /// Messages received while working: one per party, so that no peer can exhaust memory.
    inbox: VecDeque<(PartyId, Vec<u8>)>,
}

impl<R: Role> Seat<R> {
    /// Builds the role, starts it, and replays its record if there is one. It returns all frames since the start, including
    /// those sent before an interruption; a transport skips those its peers have ([`received`](Self::received)).
    ///
    /// # Errors
    /// [`Error::Journal`] if the record cannot be read, and the errors of `make`. A role that fails is a state, not an error.
    pub fn take(
        agreement: Agreement,
        me: PartyId,
        mut record: Box<dyn Record>,
        progress: PartyProgress<'_>,
        make: impl FnOnce(RunName) -> Result<R, Error>,
    ) -> Result<(Self, Vec<Sent>), Error> {
        let role = make(record::name(&mut *record)?)?;
        let parties = agreement.parties().count();
        let mut seat = Self {
            agreement,
            me,
            recorder: Recorder::new(record)?,
            holding: None,
            sent: vec![0; parties],
            received: vec![0; parties],
            inbox: VecDeque::new(),
        };
        let mut sent = seat.step(progress, |context| role.start(context));
        sent.extend(seat.go_through(progress));
        Ok((seat, sent))
    }

    /// Replays what was received before an interruption.
    fn go_through(&mut self, progress: PartyProgress<'_>) -> Vec<Sent> {
        let mut sent = Vec::new();
        loop {
            match self.recorder.received() {
                Ok(None) => return sent,
                Ok(Some((from, message))) => {
                    while self.state() == SeatState::Working {
                        sent.extend(self.work_once(progress));
                    }
                    if let Some(count) = self.received.get_mut(usize::from(from.0)) {
                        *count += 1;
                    }
                    sent.extend(self.handle(from, &message, progress));
                }
                Err(e) => {
                    sent.extend(self.fail(e));
                    return sent;
                }
            }
        }
    }

    /// The state of the party.
    pub fn state(&self) -> SeatState {
        match &self.holding {
            Some(Holding::Waiting(role)) => SeatState::Waiting(role.waits_for()),
            Some(Holding::Working(_)) => SeatState::Working,
            Some(Holding::Finished(_)) => SeatState::Finished,
            Some(Holding::Failed(_)) | None => SeatState::Failed,
        }
    }

    /// How many frames of a party were received: the transport continues with the next.
    pub fn received(&self, from: PartyId) -> u64 {
        self.received.get(usize::from(from.0)).copied().unwrap_or(0)
    }

    /// Receives a frame whose sender the transport has authenticated, and returns the frames to send.
    ///
    /// # Errors
    /// [`Error::Peer`] if the party has already ended; its state is unchanged. Any other fault becomes the state
    /// [`SeatState::Failed`], and the returned frames tell all parties that this one gave up.
    pub fn deliver(
        &mut self,
        from: PartyId,
        bytes: &[u8],
        progress: PartyProgress<'_>,
    ) -> Result<Vec<Sent>, Error> {
        let opened = self.open(from, bytes);
        if matches!(self.state(), SeatState::Finished | SeatState::Failed) {
            return match opened {
                // Whoever has ended need not know that another has, too.
                Ok(Body::Aborted) => Ok(Vec::new()),
                Ok(Body::Message(_)) => Err(self.complain(from, "a message came after the end")),
                Err(e) => Err(e),
            };
        }
        Ok(match opened {
            Ok(Body::Message(_)) if self.inbox.iter().any(|(other, _)| *other == from) => {
                let wrong = self.complain(from, "it sent a message before it received an answer");
                self.fail(wrong)
            }
            Ok(Body::Message(message)) if self.state() == SeatState::Working => {
                self.inbox.push_back((from, message));
                Vec::new()
            }
            Ok(Body::Message(message)) => self.take_in(from, message, progress),
            Ok(Body::Aborted) => {
                let gone = self.complain(from, "has given up; the reason is shown only there");
                self.fail(gone)
            }
            Err(e) => self.fail(e),
        })
    }

    /// Does the next piece of work, if there is any.
    pub fn work(&mut self, progress: PartyProgress<'_>) -> Vec<Sent> {
        let mut sent = self.work_once(progress);
        while matches!(self.state(), SeatState::Waiting(_)) {
            let Some((from, message)) = self.inbox.pop_front() else {
                break;
            };
            sent.extend(self.take_in(from, message, progress));
        }
        sent
    }

    /// The party's result.
    ///
    /// # Errors
    /// Why it failed; [`Error::Peer`] with the parties it still waits for.
    pub fn finish(self) -> Result<R::Output, Error> {
        match self.holding {
            Some(Holding::Finished(output)) => Ok(output),
            Some(Holding::Failed(e)) => Err(e),
            Some(Holding::Waiting(role)) => {
                let parties = role.waits_for().into_iter();
                Err(Error::Peer(PeerError {
                    parties: parties.map(|party| self.agreement.name(party).into()).collect(),
                    what: "a message is missing".into(),
                }))
            }
            Some(Holding::Working(_)) | None => Err(Error::misuse("the party was not done")),
        }
    }

    /// The body of a frame that is for this party, of this run, in turn.
    fn open(&mut self, from: PartyId, bytes: &[u8]) -> Result<Body, Error> {
        let wrong = |why: String| complain(&self.agreement, from, why);
        let frame = Frame::from_bytes(bytes).map_err(|e| wrong(e.to_string()))?;
        if frame.run != self.agreement.run() {
            return Err(wrong("a message of another run".into()));
        }
        if frame.to != self.me.0 || frame.from != from.0 || from == self.me {
            return Err(wrong("a message that is not from it to us".into()));
        }
        let expected = self.received(from);
        if frame.number < expected {
            return Err(wrong(format!("message {} came a second time", nth(frame.number))));
        }
        if frame.number > expected {
            return Err(wrong(format!(
                "message {} came before message {}",
                nth(frame.number),
                nth(expected)
            )));
        }
        let Some(count) = self.received.get_mut(usize::from(from.0)) else {
            return Err(wrong("no party of this run".into()));
        };
        *count += 1;
        Ok(frame.body)
    }

    fn take_in(&mut self, from: PartyId, message: Vec<u8>, progress: PartyProgress<'_>) -> Vec<Sent> {
        match self.recorder.receive(from, message) {
            Ok(message) => self.handle(from, &message, progress),
            Err(e) => self.fail(e),
        }
    }

    fn handle(&mut self, from: PartyId, message: &[u8], progress: PartyProgress<'_>) -> Vec<Sent> {
        let message = match R::Message::from_bytes(message) {
            Ok(message) => message,
            Err(e) => {
                let wrong = self.complain(from, e);
                return self.fail(wrong);
            }
        };
        match self.holding.take() {
            Some(Holding::Waiting(role)) => {
                self.step(progress, |context| role.handle(from, message, context))
            }
            other => {
                self.holding = other;
                let wrong = self.complain(from, "a message out of turn");
                self.fail(wrong)
            }
        }
    }

    fn work_once(&mut self, progress: PartyProgress<'_>) -> Vec<Sent> {
        match self.holding.take() {
            Some(Holding::Working(role)) => self.step(progress, |context| role.resume(context)),
            other => {
                self.holding = other;
                Vec::new()
            }
        }
    }

    fn step(
        &mut self,
        progress: PartyProgress<'_>,
        step: impl FnOnce(&mut Context<'_, R::Message>) -> Result<TurnOutcome<R>, Error>,
    ) -> Vec<Sent> {
        let mut context = Context {
            agreement: &self.agreement,
            me: self.me,
            recorder: &mut self.recorder,
            outbox: Vec::new(),
            progress,
            messages: PhantomData,
        };
        let step = step(&mut context);
        let outbox = context.outbox;
        match step {
            Err(e) => return self.fail(e),
            Ok(TurnOutcome::Continue(role)) => self.holding = Some(Holding::Waiting(role)),
            Ok(TurnOutcome::Working(role)) => self.holding = Some(Holding::Working(role)),
            Ok(TurnOutcome::Finished(output)) => self.holding = Some(Holding::Finished(output)),
        }
        outbox
            .into_iter()
            .map(|(to, message)| self.frame(to, Body::Message(message)))
            .collect()
    }

    /// Other parties do not learn the reason.
    fn fail(&mut self, why: Error) -> Vec<Sent> {
        self.holding = Some(Holding::Failed(why));
        let others: Vec<PartyId> = self.agreement.parties().filter(|p| *p != self.me).collect();
        others
            .into_iter()
            .map(|to| self.frame(to, Body::Aborted))
            .collect()
    }

    fn frame(&mut self, to: PartyId, body: Body) -> Sent {
        let count = self.sent.get_mut(usize::from(to.0));
        let number = count.map_or(0, |count| {
            *count += 1;
            *count - 1
        });
        let frame = Frame {
            run: self.agreement.run(),
            from: self.me.0,
            to: to.0,
            number,
            body,
        };
        Sent {
            to,
            number,
            bytes: frame.to_bytes(),
        }
    }

    fn complain(&self, about: PartyId, why: impl std::fmt::Display) -> Error {
        complain(&self.agreement, about, why)
    }
}

/// Counts from 1. A peer can send any number.
fn nth(number: u64) -> u64 {
    number.saturating_add(1)
}
