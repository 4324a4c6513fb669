//! Two parties with made-up rows, connected by hand.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};

use privet::Error;
use privet::data::schema::{AnyColumn, category, flag, label, number};
use privet::data::{Keep, Schema, Table};
use privet::parameters::Builder;
use privet::party::{Agreement, MemoryRecord, PartyId, PartyProgress, Seat, SeatState, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::signature::SigningKey;
use privet::privacy::{AddRemove, Coins, Delta, Ledger, Neighbours, Randomness, Unprotected};
use privet::setting::secure::clear::InTheClear;
use privet::setting::secure::{
    AttributeChoice, Classifier, CoefficientRule, CutPlaces, INITIATOR, Initiator, Message, Outcome, Party,
    Plan, Responder, Round, Secure, Side, StartWeights, coins,
};
use privet::wire::{Body, Frame, RunId, Wire};
use privet_testkit::faults::Faulty;

const QUIET: PartyProgress<'static> = &|_, _, _| {};

pub(crate) type Line = Vec<String>;

/// The names of classes.
pub(crate) const CLASSES: [&str; 4] = ["a", "b", "c", "d"];

/// Numbers with few and with many bins, categories, a flag.
pub(crate) fn schema() -> Schema {
    schema_of(2)
}

/// The same with so many classes.
pub(crate) fn schema_of(classes: usize) -> Schema {
    let columns: [AnyColumn; 5] = [
        number("x", -2.0..=2.0).into(),
        number("z", 0.0..=10.0).bins(5).into(),
        category("colour", ["red", "green", "blue"]).into(),
        flag("old").into(),
        label("y", CLASSES[..classes].to_vec()).into(),
    ];
    Schema::builder("rows").columns(columns).build().unwrap()
}

/// Rows whose label follows from the features, with some chance; some cells are missing.
pub(crate) fn lines(rows: usize, seed: u64) -> Vec<Line> {
    lines_of(2, rows, seed)
}

/// The same with so many classes.
pub(crate) fn lines_of(classes: usize, rows: usize, seed: u64) -> Vec<Line> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut coins = Coins::from_seed(bytes);
    let line = |_| {
        let mut number = |scale: f64| (coins.unit() * 2.0 - 1.0) * scale;
        let (x, z, chance) = (number(2.0), number(5.0) + 5.0, number(1.2));
        let (colour, old) = (coins.below(3) as usize, coins.below(2));
        let signal = x + [0.8, 0.0, -0.8][colour] + old as f64 * 0.5 - 0.25 + (z - 5.0) * 0.1 + chance;
        let missing = coins.below(8) == 0;
        vec![
            if missing { String::new() } else { x.to_string() },
            z.to_string(),
            ["red", "green", "blue"][colour].into(),
            ["false", "true"][old as usize].into(),
            match classes {
                2 => CLASSES[usize::from(signal > 0.0)],
                _ => CLASSES[((signal + 1.5).max(0.0) as usize).min(classes - 1)],
            }
            .into(),
        ]
    };
    (0..rows).map(line).collect()
}

pub(crate) fn table(plan: &Plan, lines: &[Line]) -> Table {
    privet_testkit::rows::table(&plan.reads(), lines)
}

/// The names of parties.
pub(crate) const NAMES: [&str; 5] = ["ann", "bob", "cem", "dan", "eva"];

/// The key that a party is known by.
pub(crate) fn identity(place: usize) -> SigningKey {
    SigningKey::from_bytes(&[place as u8 + 1; 32])
}

/// Two parties or more, with their ledgers.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) agreement: Agreement,
    pub(crate) rows: Vec<Vec<Line>>,
    pub(crate) journals: Vec<Faulty>,
}

pub(crate) fn journal(plan: &Plan) -> Faulty {
    let mut journal = Faulty::default();
    privet::privacy::ledger::begin(&mut journal).unwrap();
    let limit = Event::Limit {
        dataset: "rows".into(),
        relation: plan.relation().clone(),
        caps: Caps::ZERO,
        delta: Delta::ZERO,
    };
    privet::privacy::ledger::append(&mut journal, limit).unwrap();
    journal
}

impl World {
    pub(crate) fn new(secure: &Secure, rows: impl IntoIterator<Item = Vec<Line>>) -> Self {
        Self::of(&schema(), secure, rows)
    }

    pub(crate) fn of(schema: &Schema, secure: &Secure, rows: impl IntoIterator<Item = Vec<Line>>) -> Self {
        let rows: Vec<Vec<Line>> = rows.into_iter().collect();
        let plan = secure.plan_for(rows.len() as u16, schema).unwrap();
        // Two parties relay nothing, and need none.
        let is_relayed = rows.len() > 2;
        let of = |place| is_relayed.then(|| identity(place).public());
        let identities: Vec<_> = (0..rows.len()).map(of).collect();
        let agreement = plan
            .agreement(RunId([3; 16]), &NAMES[..rows.len()], &identities)
            .unwrap();
        let journals = rows.iter().map(|_| journal(&plan)).collect();
        Self {
            plan,
            agreement,
            rows,
            journals,
        }
    }

    pub(crate) fn make(&self, party: PartyId, run: &privet::party::RunName) -> Result<Party, Error> {
        let place = usize::from(party.0);
        let table = table(&self.plan, &self.rows[place]);
        let journal = self.journals[place].clone();
        let ledger = Ledger::open("rows", AddRemove::row(), journal, Randomness::from_os().unwrap()).unwrap();
        let plan = self.plan.clone();
        match party == INITIATOR {
            true => Initiator::party(plan, table, ledger, run, Some(identity(place))),
            false => Responder::party(plan, table, ledger, run, Some(identity(place))),
        }
    }

    pub(crate) fn simulation(&self) -> Simulation<'_, Party> {
        Simulation::of(self.agreement.clone(), |party, run| self.make(party, &run))
    }

    /// The same run in the clear. At a rendezvous both meet where they met in the run.
    pub(crate) fn in_the_clear(&self, run: &[Round]) -> Vec<Round> {
        let permission = Unprotected::unrecorded("rows", &AddRemove::row().relation(), "a test");
        let sides = self.rows.iter().map(|rows| {
            let cells = permission.reveal(table(&self.plan, rows).into_cells());
            Side::new(&self.plan, cells).unwrap()
        });
        let mut boosting = InTheClear::new(&self.plan, sides, &coins(&self.agreement));
        let output = Cell::new(0);
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut meeting = |first: &[bool], second: &[bool]| {
            let place = places.entry(output.get()).or_default();
            let mut of_class = run.iter().filter(|round| round.output == output.get());
            let met = of_class.nth(*place).map(|round| {
                let stump = round.weak.voters()[0].stump().unwrap();
                stump.feature / usize::from(*self.plan.secure().group())
            });
            *place += 1;
            match met {
                Some(met) => {
                    assert!(first[met] && second[met], "both are free where they meet");
                    Some(met)
                }
                None => {
                    let common = (0..first.len()).any(|place| first[place] && second[place]);
                    assert!(!common, "they meet if they can");
                    None
                }
            }
        };
        while boosting.round(&mut meeting) {
            output.set(boosting.output());
        }
        boosting.rounds().to_vec()
    }
}

/// All parameters that fit together, with few rounds.
pub(crate) fn options(rounds: u32) -> Vec<Secure> {
    let mut all = Vec::new();
    for (_, classifier) in Classifier::NAMES {
        for (_, attribute) in AttributeChoice::NAMES {
            for (_, thresholds) in CutPlaces::NAMES {
                for (_, coefficient) in CoefficientRule::NAMES {
                    for (_, start) in StartWeights::NAMES {
                        // Where retries meet is not in what a run gives.
                        for retry in [false, attribute != AttributeChoice::Rendezvous] {
                            let secure: Builder<Secure> = Secure::builder()
                                .rounds(rounds)
                                .classifier(classifier)
                                .attribute(attribute)
                                .thresholds(thresholds)
                                .coefficient(coefficient)
                                .start(start)
                                .bins(4)
                                .retry(retry);
                            all.extend(secure.build().ok());
                        }
                    }
                }
            }
        }
    }
    all.dedup();
    // Groups of attributes, an end that depends on rows, trees.
    let mut more = Vec::new();
    for secure in all.iter().filter(|secure| !secure.retry()) {
        let builder = || Builder::of(secure.clone());
        more.extend(builder().group(2).build().ok());
        more.extend(builder().stop_at(0.2).build().ok());
        more.extend(builder().depth(2).group(3).build().ok());
    }
    all.extend(more);
    all
}

/// Both parties, connected by hand.
pub(crate) struct Net {
    seats: Vec<Seat<Party>>,
    queue: VecDeque<(PartyId, PartyId, Vec<u8>)>,
    /// What each party said last.
    last: BTreeMap<PartyId, Body>,
}

impl Net {
    pub(crate) fn new(world: &World) -> Self {
        let seat = |party: PartyId| {
            let record = Box::new(MemoryRecord::default());
            let make = |run| world.make(party, &run);
            Seat::take(world.agreement.clone(), party, record, QUIET, make).unwrap()
        };
        Self {
            seats: world.agreement.parties().map(seat).collect(),
            queue: VecDeque::new(),
            last: BTreeMap::new(),
        }
    }

    /// Carries frames, and shows each message to one party.
    pub(crate) fn carry_to(&mut self, party: PartyId, mut show: impl FnMut(PartyId, &Message)) {
        self.carry_all(|from, to, message| {
            if to == party {
                show(from, &message);
            }
            Some(message)
        });
    }

    /// Carries frames until nothing is on its way. Each message passes `change`; nothing is delivered in place of none.
    pub(crate) fn carry(&mut self, mut change: impl FnMut(PartyId, Message) -> Option<Message>) {
        self.carry_all(|from, _, message| change(from, message));
    }

    /// The same with the receiver of each message.
    pub(crate) fn carry_all(&mut self, mut change: impl FnMut(PartyId, PartyId, Message) -> Option<Message>) {
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
            let mut frame = Frame::from_bytes(bytes).unwrap();
            self.last.insert(from, frame.body.clone());
            if let Body::Part { bytes, .. } = &frame.body {
                let Some(message) = change(from, to, Message::from_bytes(bytes).unwrap()) else {
                    continue;
                };
                frame.body = Body::message(message.to_bytes());
            }
            // A frame after the end is an error of the transport's own.
            let _ = self.seats[usize::from(to.0)].deliver(from, frame.to_bytes(), QUIET);
        }
    }

    pub(crate) fn leave(&mut self, party: PartyId, other: PartyId) {
        self.seats[usize::from(other.0)].disconnected(party);
        self.seats[usize::from(other.0)].gone(party, QUIET);
    }

    /// What a party said last, acknowledgements included.
    pub(crate) fn last_body(&self, party: PartyId) -> Option<&Body> {
        self.last.get(&party)
    }

    pub(crate) fn state(&self, party: PartyId) -> SeatState {
        self.seats[usize::from(party.0)].state()
    }

    pub(crate) fn finish(self) -> Vec<Result<Outcome, Error>> {
        self.seats.into_iter().map(Seat::finish).collect()
    }
}

/// That numbers are read only where thresholds are data.
#[test]
fn thresholds_of_the_grid_need_no_numbers() {
    for secure in options(1) {
        let plan = secure.plan(&schema()).unwrap();
        assert_eq!(
            plan.keep() == Keep::Values,
            *secure.thresholds() == CutPlaces::Data
        );
    }
}
