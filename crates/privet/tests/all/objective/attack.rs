//! The attack on empty cells: it breaks the textbook's floating-point minima and says nothing about ours.

use crate::central::curator::Central;
use privet::data::schema::{category, label};
use privet::data::{Keep, Schema};
use privet::learner::{Learner, Term};
use privet::privacy::account::{Caps, Price};
use privet::privacy::mechanism::{Ball, Objective, RowLoss};
use privet::privacy::{AddRemove, Anchor, Coins, Delta, Epsilon, Ledger, Neighbours, Randomness};
use privet::setting::central::Encoding;
use privet_testkit::attack::empty_cell::{NoiseModel, textbook};

use crate::home::{schema, table};

const COLUMNS: usize = 8;
const OTHERS: usize = 40;
const EPSILON: f64 = 0.1;

/// Eight categories, each with a value that nobody has but perhaps one person.
fn categories() -> Schema {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let [a, b, c, d, e, f, g, h] = names.map(|name| category(name, ["x", "y", "rare"]));
    let label = label("label", ["no", "yes"]);
    schema([a, b, c, d, e, f, g, h, label])
}

fn lines(with: bool) -> Vec<[&'static str; COLUMNS + 1]> {
    let other = |row: usize| {
        let mut line = ["x"; COLUMNS + 1];
        (0..COLUMNS)
            .filter(|i| (row >> (i % 5)) & 1 == 1)
            .for_each(|i| line[i] = "y");
        line[COLUMNS] = if row.is_multiple_of(3) { "yes" } else { "no" };
        line
    };
    let mut rare = ["rare"; COLUMNS + 1];
    rare[COLUMNS] = "yes";
    (0..OTHERS).map(other).chain(with.then_some(rare)).collect()
}

/// What the attacker thinks of noise and ridge: indicators of eight columns of so many cells.
fn known(cells: usize) -> NoiseModel {
    let loss = RowLoss {
        ball: Ball::Cross,
        dimension: 1 + COLUMNS * cells,
        slope: (COLUMNS + 1) as f64,
        curvature: (COLUMNS + 1) as f64 / 4.0,
        anchor: Anchor::new("objective#logistic-losses"),
    };
    let epsilon = Epsilon::new(EPSILON).expect("an epsilon");
    let made = Objective::calibrated(epsilon, &AddRemove::row(), loss).expect("an objective");
    NoiseModel {
        scale: made.scale(),
        ridge: made.ridge(),
    }
}

/// The released coefficients of the rare values.
fn released(with: bool) -> Vec<f64> {
    let epsilon = Epsilon::new(EPSILON).expect("an epsilon");
    let central = Central::builder()
        .algorithm("objective")
        .encoding(Encoding::Indicators);
    let central = central
        .epsilon(epsilon)
        .rows_about(100)
        .build()
        .expect("parameters");
    let random = Randomness::from_os().expect("randomness");
    let caps = Caps::from(Price::Pure(epsilon));
    let mut ledger = Ledger::volatile(AddRemove::row().relation(), caps, Delta::ZERO, random).expect("opens");
    let rows = table(categories(), Keep::Values, &lines(with));
    let ensemble = central
        .train(rows, &mut ledger, privet::learner::SILENT)
        .expect("a model");
    let Learner::Linear(linear) = &ensemble.members[0].learner else {
        panic!("a sum");
    };
    let rare = |term: &Term| match term {
        Term::Slots(slots) => slots[2],
        other => panic!("{other:?}"),
    };
    linear.terms.iter().map(rare).collect()
}

/// The same table as the textbook sees it: an intercept, then three cells for each column.
fn by_the_book(with: bool, coins: &mut Coins) -> Vec<f64> {
    let place = |(i, value): (usize, &&str)| {
        let cell = ["x", "y", "rare"].iter().position(|name| name == value);
        1 + 3 * i + cell.expect("a declared value")
    };
    let row = |line: &[&'static str; COLUMNS + 1]| {
        let places = line[..COLUMNS].iter().enumerate().map(place);
        (std::iter::once(0).chain(places).collect(), line[COLUMNS] == "yes")
    };
    let rows: Vec<(Vec<usize>, bool)> = lines(with).iter().map(row).collect();
    let unit = || (coins.below(1 << 53) as f64 + 0.5) / (1u64 << 53) as f64;
    let found = textbook(&rows, 1 + 3 * COLUMNS, known(3), unit);
    (0..COLUMNS).map(|i| found[1 + 3 * i + 2]).collect()
}

/// At a claimed ε of 0.1 the textbook's minima show ε above 2 with 95 % confidence. Ours show no more than they claim: that they seem
/// to is a false alarm, once in a million runs of this test.
#[test]
fn empty_cells_betray_the_textbook_and_not_us() {
    let runs = 200;
    let mut random = Randomness::from_os().expect("randomness");
    let mut seed = [0; 32];
    random.bytes(&mut seed);
    let mut coins = Coins::from_seed(seed);
    let mut sampled =
        |with: bool| -> Vec<Vec<f64>> { (0..runs).map(|_| by_the_book(with, &mut coins)).collect() };
    let broken = known(3).evidence(&sampled(false), &sampled(true), 0.05);
    println!(
        "textbook: ε is at least {:.2} at 95 %: {}",
        broken.bound, broken.event
    );
    assert!(broken.bound > 2.0, "{broken:?}");

    let sampled = |with: bool| -> Vec<Vec<f64>> { (0..runs).map(|_| released(with)).collect() };
    let (without, with) = (sampled(false), sampled(true));
    // By the attacker's own statistic, and by the last digits as they stand.
    let cells = 3;
    let digits = |releases: &[Vec<f64>]| -> Vec<u64> {
        let last = |release: &Vec<f64>| {
            release
                .iter()
                .map(|c| (c * (1u64 << 36) as f64) as i64 as u64 & 3)
                .sum()
        };
        releases.iter().map(last).collect()
    };
    let plain = known(cells).evidence(&without, &with, 0.05);
    println!("ours: ε is at least {:.2} at 95 %: {}", plain.bound, plain.event);
    let ours = known(cells).evidence(&without, &with, 1e-6);
    assert!(ours.bound <= EPSILON, "{ours:?}");
    let low = privet_testkit::epsilon::lower_bound(&digits(&without), &digits(&with), 1e-6);
    assert!(low.bound <= EPSILON, "{low:?}");
}
