//! Parties connected by hand: frames can be changed on their way, and parties can be away for a while.

use std::collections::{BTreeSet, VecDeque};

use privet::party::{MemoryRecord, PartyId, Seat, SeatState};
use privet::setting::horizontal::{MINER, Message, Miner, Outcome, Owner, Party};
use privet::wire::{Body, Frame, Wire};
use privet::{Error, privacy::AddRemove, privacy::Ledger};

use super::world::{World, identity, table};

const QUIET: privet::party::PartyProgress<'static> = &|_, _, _| {};

pub(crate) struct Net {
    pub(crate) seats: Vec<Seat<Party>>,
    queue: VecDeque<(PartyId, PartyId, Vec<u8>)>,
    away: BTreeSet<PartyId>,
}

impl Net {
    pub(crate) fn new(world: &World, ledger: impl Fn(usize) -> Ledger<AddRemove>) -> Self {
        let seat = |party: PartyId| {
            let record = Box::new(MemoryRecord::default());
            Seat::take(world.agreement.clone(), party, record, QUIET, |run| {
                if party == MINER {
                    return Ok(Miner::party(&world.plan.miner()));
                }
                let place = usize::from(party.0) - 1;
                let table = table(world.plan.schema(), &world.rows[place]);
                Owner::party(
                    world.plan.owner(place)?,
                    table,
                    ledger(place),
                    &run,
                    Some(identity(place)),
                )
            })
            .unwrap()
        };
        Self {
            seats: world.agreement.parties().map(seat).collect(),
            queue: VecDeque::new(),
            away: BTreeSet::new(),
        }
    }

    pub(crate) fn seat(&mut self, party: PartyId) -> &mut Seat<Party> {
        &mut self.seats[usize::from(party.0)]
    }

    /// A party is away, and the miner is told so.
    pub(crate) fn leave(&mut self, party: PartyId) {
        self.away.insert(party);
        self.queue.retain(|(from, to, _)| *from != party && *to != party);
        self.seat(party).disconnected(MINER);
        self.seat(MINER).disconnected(party);
        self.seat(MINER).gone(party, QUIET);
    }

    /// It is back, over a new connection, and finds that it has waited for long.
    pub(crate) fn come_back(&mut self, party: PartyId) {
        self.away.remove(&party);
        for (from, to) in [(party, MINER), (MINER, party)] {
            let greeting = self.seat(from).greeting(to);
            self.seat(to).deliver(from, greeting, QUIET).unwrap();
        }
        self.seat(party).deadline(0, QUIET);
    }

    /// Carries frames until nothing is on its way, or `stop` says so. Each message passes `change`.
    pub(crate) fn carry(
        &mut self,
        mut change: impl FnMut(PartyId, PartyId, Message) -> Message,
        mut stop: impl FnMut(&Message) -> bool,
    ) {
        loop {
            for (party, seat) in self.seats.iter_mut().enumerate() {
                while seat.state() == SeatState::Working {
                    seat.work(QUIET);
                }
                while let Some(sent) = seat.next_frame() {
                    self.queue.push_back((PartyId(party as u16), sent.to, sent.bytes));
                }
            }
            let Some((from, to, bytes)) = self.queue.pop_front() else {
                return;
            };
            if self.away.contains(&from) || self.away.contains(&to) {
                continue;
            }
            let mut frame = Frame::from_bytes(bytes).unwrap();
            let mut stops = false;
            if let Body::Part { bytes, .. } = &frame.body {
                let message = change(from, to, Message::from_bytes(bytes).unwrap());
                stops = stop(&message);
                frame.body = Body::message(message.to_bytes());
            }
            // A frame after the end is an error of the transport's own.
            let _ = self.seat(to).deliver(from, frame.to_bytes(), QUIET);
            if stops {
                return;
            }
        }
    }

    pub(crate) fn finish(self) -> Vec<Result<Outcome, Error>> {
        self.seats.into_iter().map(Seat::finish).collect()
    }
}
