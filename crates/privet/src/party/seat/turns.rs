//! How a seat takes events in, lets its role handle them, and replays those of a record.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::{Holding, Seat};
use crate::Error;
use crate::party::context::{Asked, PartyProgress};
use crate::party::edge::{Absence, UNHELD};
use crate::party::record::{Checkpoint, Item};
use crate::party::recorder::{digest, other_job};
use crate::party::{Context, PartyEvent, PartyId, Role, TurnOutcome};
use crate::wire::{Body, Frame, Wire, frames};

impl<R: Role> Seat<R> {
    /// Takes in a frame; gives a message that it completes.
    pub(super) fn take_in(&mut self, from: PartyId, frame: Frame) -> Result<Option<Vec<u8>>, String> {
        if frame.agreement != self.agreement.digest() {
            return Err("a message of another run or under another agreement".into());
        }
        if frame.to != self.me.0 || frame.from != from.0 {
            return Err("a message that is not from it to us".into());
        }
        let ended = self.has_ended();
        let edge = self.edge(from);
        if edge.noticed == Absence::Ended {
            // Over a new connection it is told again. It can do nothing worse than before.
            if frame.body == Body::Greeting {
                edge.greeted_again(frame.number);
            }
            return Ok(None);
        }
        edge.acknowledged(frame.acknowledged)?;
        let (total, at, bytes) = match frame.body {
            Body::Acknowledged => return Ok(None),
            Body::Greeting => {
                edge.greeted(frame.number)?;
                return Ok(None);
            }
            Body::Aborted => (0, 0, None),
            Body::Part { total, at, bytes } => (total, at, Some(bytes)),
        };
        let expected = edge.received;
        if frame.number < edge.replayed && bytes.is_some() {
            return Ok(None);
        }
        if frame.number < expected {
            return Err(format!("message {} came a second time", nth(frame.number)));
        }
        if frame.number > expected {
            return Err(format!(
                "message {} came before message {}",
                nth(frame.number),
                nth(expected)
            ));
        }
        if let Some(bytes) = bytes {
            // Nobody would handle it, so nothing of it is held.
            return match ended {
                true => Err("a message came after the end".into()),
                false => Ok(edge.part(total, at, bytes)?),
            };
        }
        // Made again from its record, it goes on with its next message.
        let told = edge.noticed != Absence::Present || edge.absence != Absence::Present;
        edge.noticed = Absence::Gone;
        edge.forget_partial();
        if !told && !ended {
            self.events.push_back(Item::Gone(from));
        }
        Ok(None)
    }

    /// Handles a message that has just come.
    pub(super) fn message(
        &mut self,
        from: PartyId,
        bytes: Vec<u8>,
        progress: PartyProgress<'_>,
    ) -> Result<(), Error> {
        let message = match R::Message::from_bytes(&bytes) {
            Ok(message) => message,
            Err(e) => return self.fault(from, e.to_string(), progress),
        };
        let length = bytes.len() as u64;
        let said_again = match self.recorder.front() {
            Err(e) => {
                self.fail(e);
                return Ok(());
            }
            Ok(Some(Item::Digest { digest: then, .. })) if *then != digest(&bytes) => {
                let wrong = self.complain(from, "it said something else before");
                self.fail(wrong);
                return Ok(());
            }
            Ok(said) => said.is_some(),
        };
        let by_digest = match &self.holding {
            Some(Holding::Waiting(role)) => self.recorder.keeps_checkpoints() && role.by_digest(from),
            _ => false,
        };
        if said_again {
            // The digest is what the next turn was begun with.
            if let Err(e) = self.recorder.pop() {
                self.fail(e);
                return Ok(());
            }
        } else {
            self.recorder.event(match by_digest {
                true => Item::Digest {
                    from,
                    digest: digest(&bytes),
                },
                false => Item::Received { from, message: bytes },
            });
        }
        let unheld = by_digest || said_again;
        let edge = self.edge(from);
        (edge.absence, edge.noticed) = (Absence::Present, Absence::Present);
        if unheld {
            edge.unheld += length;
            self.unheld.insert(from);
        }
        self.handle(PartyEvent::Message { from, message }, progress);
        // A turn that failed is not in the record, and its message is not acknowledged.
        if !unheld && !matches!(self.holding, Some(Holding::Failed(_))) {
            self.edge(from).stored(length);
        }
        self.refresh(from);
        self.go_on(progress);
        Ok(())
    }

    /// Handles what is in the record, and then what has happened meanwhile, as long as the role takes events.
    pub(super) fn go_on(&mut self, progress: PartyProgress<'_>) {
        loop {
            let item = match self.recorder.front() {
                Err(e) => return self.fail(e),
                Ok(None) if matches!(self.holding, Some(Holding::Waiting(_))) => {
                    match self.events.pop_front() {
                        None => return,
                        Some(item) => {
                            self.recorder.event(item.clone());
                            item
                        }
                    }
                }
                Ok(None) => return,
                // A role that worked did so before it took the next event.
                Ok(Some(_)) if matches!(self.holding, Some(Holding::Working(_))) => {
                    self.resume(progress);
                    continue;
                }
                Ok(Some(_)) if matches!(self.holding, Some(Holding::Failed(_)) | None) => return,
                Ok(Some(&Item::Digest { from, .. })) => {
                    if self.edge(from).noticed != Absence::Present {
                        let wrong = self.complain(from, "it does not say again what it said before");
                        self.fail(wrong);
                    }
                    return;
                }
                Ok(Some(_)) => match self.recorder.pop() {
                    Ok(Some(item)) => item,
                    Ok(None) => return,
                    Err(e) => return self.fail(e),
                },
            };
            match item {
                Item::Received { from, message } => {
                    let edge = self.edge(from);
                    edge.replayed(message.len() as u64);
                    (edge.absence, edge.noticed) = (Absence::Present, Absence::Present);
                    match R::Message::from_bytes(&message) {
                        Ok(message) => self.handle(PartyEvent::Message { from, message }, progress),
                        Err(_) => self.fail(other_job()),
                    }
                }
                Item::Gone(party) => {
                    let edge = self.edge(party);
                    edge.absence = edge.absence.max(Absence::Gone);
                    self.handle(PartyEvent::Gone(party), progress);
                }
                Item::Fault { party, why } => {
                    self.edge(party).close();
                    self.refresh(party);
                    self.handle(PartyEvent::Fault { party, why }, progress);
                }
                Item::Deadline(id) => {
                    self.deadlines.remove(&id);
                    self.handle(PartyEvent::Deadline(id), progress);
                }
                _ => self.fail(other_job()),
            }
        }
    }

    fn handle(&mut self, event: PartyEvent<R::Message>, progress: PartyProgress<'_>) {
        match self.holding.take() {
            Some(Holding::Waiting(role)) => self.turn(progress, |context| role.handle(event, context)),
            other => {
                self.holding = other;
                self.fail(other_job());
            }
        }
    }

    pub(super) fn resume(&mut self, progress: PartyProgress<'_>) {
        match self.holding.take() {
            Some(Holding::Working(role)) => self.turn(progress, |context| role.resume(context)),
            other => self.holding = other,
        }
    }

    /// The turn in which a role takes its state back. It would make and send the same after every restart, so it makes and sends nothing.
    pub(super) fn restore(&mut self, role: R, state: &[u8], progress: PartyProgress<'_>) {
        let place = self.recorder.place();
        self.turn(progress, |context| {
            let outcome = role.restore(state, context)?;
            match context.asked.is_empty() && context.recorder.place() == place {
                true => Ok(outcome),
                false => Err(Error::internal(
                    "a role that takes its state back makes and sends nothing",
                )),
            }
        });
    }

    /// One turn of the role. What it asks for is done when the turn has succeeded and is written down.
    pub(super) fn turn(
        &mut self,
        progress: PartyProgress<'_>,
        step: impl FnOnce(&mut Context<'_, R::Message>) -> Result<TurnOutcome<R>, Error>,
    ) {
        let mut context = Context {
            agreement: &self.agreement,
            me: self.me,
            recorder: &mut self.recorder,
            asked: Asked::default(),
            progress,
            messages: PhantomData,
        };
        let outcome = step(&mut context);
        let asked = context.asked;
        let settled = outcome.and_then(|outcome| {
            let last = matches!(outcome, TurnOutcome::Finished(_));
            self.settle(asked, last).map(|()| outcome)
        });
        match settled {
            Err(e) => {
                self.recorder.forget();
                self.fail(e);
            }
            Ok(TurnOutcome::Continue(role)) => self.holding = Some(Holding::Waiting(role)),
            Ok(TurnOutcome::Working(role)) => self.holding = Some(Holding::Working(role)),
            Ok(TurnOutcome::Finished(output)) => self.holding = Some(Holding::Finished(output)),
        }
    }

    /// Writes down what a turn did, and does what it asked for; `last` if it was the last.
    fn settle(&mut self, asked: Asked, last: bool) -> Result<(), Error> {
        let mut ends: BTreeMap<PartyId, u64> = BTreeMap::new();
        let mut messages = Vec::with_capacity(asked.messages.len());
        for (to, message) in asked.messages {
            let edge = self.edge(to);
            if edge.absence != Absence::Present {
                continue;
            }
            let end = ends.entry(to).or_insert(edge.end());
            messages.push((to, *end, message));
            *end += frames(messages.last().map_or(0, |(_, _, message)| message.len()) as u64);
        }
        match asked.checkpoint {
            Some(state) if self.recorder.takes_checkpoint()? => {
                let mut edges: BTreeMap<PartyId, _> = BTreeMap::new();
                for (party, edge) in &self.edges {
                    edges.insert(*party, edge.state(*party));
                }
                for (to, _, message) in &messages {
                    if let Some(edge) = edges.get_mut(to) {
                        edge.outgoing.push(message.clone());
                    }
                }
                let mut deadlines = self.deadlines.clone();
                deadlines.extend(asked.deadlines.iter().copied());
                self.recorder.replace(Checkpoint {
                    state,
                    brings: self.brings,
                    edges: edges.into_values().collect(),
                    deadlines: deadlines.into_iter().collect(),
                })?;
                let parties: Vec<PartyId> = self.edges.keys().copied().collect();
                for party in parties {
                    self.edge(party).covered();
                    self.refresh(party);
                }
                self.unheld.clear();
            }
            _ => {
                let edges = self.unheld.iter().filter_map(|party| self.edges.get(party));
                let most = if last { 0 } else { UNHELD };
                if edges.map(|edge| edge.unheld).any(|bytes| bytes > most) {
                    return Err(Error::internal(
                        "a role that receives by digest hands over checkpoints in time, and one in its last turn",
                    ));
                }
                self.recorder.settled(&messages)?;
            }
        }
        // Asked again, the time begins again.
        for (id, _) in &asked.deadlines {
            self.events.retain(|event| *event != Item::Deadline(*id));
        }
        self.deadlines.extend(asked.deadlines.iter().copied());
        self.asked.extend(asked.deadlines);
        for (to, _, message) in messages {
            self.edge(to).push(Some(message));
            self.refresh(to);
        }
        Ok(())
    }

    /// Other parties do not learn the reason.
    pub(super) fn fail(&mut self, why: Error) {
        self.holding = Some(Holding::Failed(why));
        let others: Vec<PartyId> = self.agreement.neighbours(self.me).collect();
        for to in others {
            let edge = self.edge(to);
            if edge.absence != Absence::Ended {
                edge.push(None);
                self.refresh(to);
            }
        }
    }
}

/// Counts from 1. A peer can send any number.
fn nth(number: u64) -> u64 {
    number.saturating_add(1)
}
