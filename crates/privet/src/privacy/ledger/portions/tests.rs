use std::collections::BTreeMap;

use super::super::allowance::tests::Shared;
use super::super::append;
use super::*;
use crate::privacy::journal::Event;
use crate::privacy::mechanism::{Exponential, Laplace};
use crate::privacy::{Anchor, Norm, Private, Ratio, Relation, Replace};

fn epsilon(text: &str) -> Epsilon {
    text.parse().expect("an epsilon")
}

fn journal() -> Shared {
    let pure = |cap| Caps::from(Price::Pure(epsilon(cap)));
    Shared::limited([(AddRemove::row().relation(), pure("1"))])
}

fn portions(rounds: u32, judges: bool) -> Portions {
    let rounds = NonZeroU32::new(rounds).expect("rounds");
    Portions { rounds, judges }
}

fn allow(ledger: &mut Ledger<AddRemove>, price: &str) -> PortionAllowance {
    let price = Price::Pure(epsilon(price));
    ledger
        .allow_portions_also_added("trees", price, 4, portions(3, true))
        .expect("paid")
}

fn draw(
    ledger: &mut Ledger<AddRemove>,
    paid: &PortionAllowance,
    which: (u32, &str),
    price: &str,
) -> Result<Vec<i64>, Error> {
    let anchor = Anchor::new("laplace#integer-vectors");
    let claim = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), anchor)?;
    let query = Query::new(64, claim, || Private::new(vec![0; 64]));
    let mechanism = Laplace::calibrated(epsilon(price), 1)?;
    let drawn = ledger.draw_of_portion(paid, which, &mechanism, query)?;
    Ok(drawn.into_inner())
}

#[test]
fn a_unit_stays_in_its_portion_whatever_happens_to_the_run() {
    let journal = journal();
    let of = |run: &str| {
        let paid = allow(&mut journal.ledger(run), "0.2");
        (0..2000).map(|unit| paid.portion(unit)).collect::<Vec<_>>()
    };
    let first = of("one");
    assert_eq!(of("one"), first, "the run is taken up again");
    assert_ne!(of("two"), first, "another run has coins of its own");
}

/// Whoever knows the run's name, the plan and every entry knows no coin: under the same names another ledger has others, and with
/// another key the same ledger has none. Independent coins agree for 28 % of the units; false alarm: beyond five standard deviations, below 10⁻⁶.
#[test]
fn coins_follow_from_nothing_that_others_know() {
    let units = 2000;
    let coins = |paid: &PortionAllowance| (0..units).map(|unit| paid.portion(unit)).collect::<Vec<_>>();
    let alike = |one: &[u32], other: &[u32]| {
        let same = one.iter().zip(other).filter(|(one, other)| one == other);
        same.count() as f64 / units as f64
    };
    let chance: f64 = (0..4)
        .map(|portion| portions(3, true).share(portion).powi(2))
        .sum();
    let is_chance =
        |share: f64| (share - chance).abs() < 5.0 * (chance * (1.0 - chance) / units as f64).sqrt();
    let [one, other] = [journal(), journal()].map(|journal| coins(&allow(&mut journal.ledger("one"), "0.2")));
    assert!(is_chance(alike(&one, &other)));
    let journal = journal();
    let mut ledger = journal.ledger("one");
    let first = coins(&allow(&mut ledger, "0.2"));
    assert_eq!(coins(&allow(&mut ledger, "0.2")), first);
    journal.has_key(1);
    let price = Price::Pure(epsilon("0.2"));
    let keyed = ledger.allow_portions_also_added("trees", price, 4, portions(3, true));
    assert!(keyed.is_err(), "the same entries and kept values are of no use");
}

/// False alarm: four binomial counts beyond five standard deviations, below 10⁻⁵.
#[test]
fn half_of_those_who_do_not_judge_are_in_the_first_round() {
    let paid = allow(&mut journal().ledger("one"), "0.2");
    let units = 20_000;
    let mut found: BTreeMap<u32, f64> = BTreeMap::new();
    (0..units).for_each(|unit| *found.entry(paid.portion(unit)).or_default() += 1.0);
    let all = portions(3, true);
    for portion in 0..4 {
        let share = all.share(portion);
        let mean = share * units as f64;
        let off = (found[&portion] - mean).abs();
        assert!(off < 5.0 * (mean * (1.0 - share)).sqrt(), "{portion}: {found:?}");
    }
    assert_eq!(found.len(), 4);
    let shares: f64 = (0..4).map(|portion| all.share(portion)).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    assert_eq!((all.judging(), portions(3, false).judging()), (Some(3), None));
}

#[test]
fn each_portion_may_cost_the_price_that_is_paid_once() {
    let journal = journal();
    let mut ledger = journal.ledger("one");
    let paid = allow(&mut ledger, "0.4");
    let spent = |ledger: &Ledger<AddRemove>| {
        let account = ledger.book.account("toy").expect("an account");
        account.lines()[&AddRemove::row().relation()].spent
    };
    let price = Caps::from(Price::Pure(epsilon("0.4")));
    assert_eq!(spent(&ledger), price);
    let first = draw(&mut ledger, &paid, (0, "a"), "0.3").expect("paid");
    draw(&mut ledger, &paid, (1, "b"), "0.3").expect("another portion");
    assert!(matches!(
        draw(&mut ledger, &paid, (0, "c"), "0.2"),
        Err(Error::Budget(_))
    ));
    draw(&mut ledger, &paid, (3, "d"), "0.4").expect("those who judge");
    assert!(matches!(
        draw(&mut ledger, &paid, (4, "e"), "0.1"),
        Err(Error::Misuse(_))
    ));
    assert_eq!(spent(&ledger), price, "draws cost nothing more");
    let (caps, draws) = ledger.portion_remaining(&paid, 0).expect("its own");
    assert_eq!((caps, draws), (Caps::from(Price::Pure(epsilon("0.1"))), 1));
    // Taken up again: the same draws, and the same refusals.
    let mut again = journal.ledger("one");
    let paid = allow(&mut again, "0.4");
    assert_eq!(draw(&mut again, &paid, (0, "a"), "0.3").expect("kept"), first);
    assert!(matches!(
        draw(&mut again, &paid, (0, "c"), "0.2"),
        Err(Error::Budget(_))
    ));
    let other = again.allow_portions_also_added("trees", Price::Pure(epsilon("0.4")), 4, portions(4, false));
    assert!(other.is_err(), "other portions under the same name");
}

#[test]
fn a_chain_keeps_no_draw_about_another_portion() {
    let mut journal = journal();
    let mut ledger = journal.ledger("one");
    allow(&mut ledger, "0.4");
    let kept = |portion: Option<u32>, price: &str| Event::Kept {
        dataset: "toy".into(),
        run: "one".into(),
        what: "trees".into(),
        draw: Some(format!("{portion:?} {price}")),
        price: Some(Price::Pure(epsilon(price))),
        portion,
        digest: "0".repeat(64),
    };
    for refused in [kept(None, "0.1"), kept(Some(4), "0.1"), kept(Some(1), "0.5")] {
        assert!(append(&mut journal, refused.clone()).is_err(), "{refused:?}");
    }
    append(&mut journal, kept(Some(1), "0.4")).expect("within its cap");
    assert!(
        append(&mut journal, kept(Some(1), "0.1")).is_err(),
        "the cap is used up"
    );
    append(&mut journal, kept(Some(2), "0.4")).expect("another portion has its own");
}

#[test]
fn rows_that_nothing_holds_together_have_no_portions() {
    let two = NonZeroU32::new(2).expect("two");
    let relations: [(Relation, bool); 4] = [
        (AddRemove::unit(two).relation(), false),
        (AddRemove::unit(two).of("who").relation(), true),
        (Replace::row().relation(), true),
        (Replace::unit(two).relation(), false),
    ];
    for (relation, is_allowed) in relations {
        let caps = Caps::from(Price::Pure(epsilon("1")));
        let journal = Shared::limited([(relation.clone(), caps)]);
        let mut ledger = journal.open("toy", relation.clone(), "one");
        let price = Price::Pure(epsilon("0.1"));
        let paid = ledger.allow_portions_also_added("trees", price, 4, portions(2, false));
        assert_eq!(paid.is_ok(), is_allowed, "{relation}");
        let spend = |event: &Event| matches!(event, Event::Spend { .. });
        assert_eq!(
            journal.count(spend),
            usize::from(is_allowed),
            "nothing is paid for nothing"
        );
    }
}

/// A level of a tree: four nodes that share no row are one draw, at one node's price times the steps of one change.
#[test]
fn parts_that_share_no_row_are_one_draw_at_the_price_of_one() {
    for (relation, steps) in [(AddRemove::row().relation(), 1), (Replace::row().relation(), 2)] {
        let caps = Caps::from(Price::Pure(epsilon("1")));
        let journal = Shared::limited([(relation.clone(), caps)]);
        let price = Price::Pure(epsilon("0.5"));
        let choose = |run: &str| {
            let mut ledger = journal.open("toy", relation.clone(), run);
            let allowance = ledger.allow_also_added("trees", price, 2)?;
            let rows = Private::rows((0..40usize).collect());
            let scores = |rows: &crate::privacy::PerRow<usize>| vec![rows.as_slice().len() as i64; 3];
            let asked = PartQuery {
                parts: Partition::by(rows, 4, |row| row % 4),
                dimension: 3,
                claim: Sensitivity::claim(&AddRemove::row(), Norm::Width(1), Anchor::new("trees#gain"))?,
                answer: &scores,
            };
            let mechanism = Exponential::pure(Ratio::new(1, 10)?)?;
            let chosen = ledger.draw_parts(&allowance, "level 1", &mechanism, asked)?;
            let remaining = ledger.allowance_remaining(&allowance)?;
            Ok::<_, Error>((chosen.into_inner(), remaining))
        };
        let (chosen, (caps, draws)) = choose("one").expect("paid");
        assert!(chosen.len() == 4 && chosen.iter().all(|place| *place < 3));
        let spent = epsilon("0.1").checked_mul(steps).expect("a price");
        let left = Caps::from(price).remaining(&Caps::from(Price::Pure(spent)));
        assert_eq!((caps, draws), (left, 1), "{relation}");
        assert_eq!(choose("one").expect("kept").0, chosen);
    }
}
