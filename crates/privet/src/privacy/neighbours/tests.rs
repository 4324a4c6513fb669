//! What converts into what, how it reads, and how it is written down.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::Error;
use crate::privacy::account::{Caps, Price};
use crate::privacy::mechanism::Laplace;
use crate::privacy::{Anchor, Delta, Epsilon, Ledger, Norm, Private, Query, Randomness, Sensitivity};

fn rows(k: u32) -> NonZeroU32 {
    NonZeroU32::new(k).expect("not zero")
}

#[test]
fn conversions_go_one_way() {
    let add = AddRemove::unit(rows(1)).relation();
    let add_four = AddRemove::unit(rows(4)).relation();
    let replace = Replace::unit(rows(1)).relation();
    let columns = |names: &[&str]| ReplacePrivate::unit(rows(1), names.iter().copied()).relation();
    assert_eq!(add.steps_to(&add), Some(1));
    assert_eq!(add.steps_to(&replace), Some(2));
    assert_eq!(add.steps_to(&columns(&["age"])), Some(2));
    assert_eq!(add.steps_to(&add_four), Some(4));
    assert_eq!(add_four.steps_to(&add), Some(1));
    assert_eq!(add_four.steps_to(&Replace::unit(rows(6)).relation()), Some(4));
    assert_eq!(replace.steps_to(&add), None);
    assert_eq!(replace.steps_to(&Replace::unit(rows(2)).relation()), None);
    assert_eq!(replace.steps_to(&columns(&["age"])), Some(1));
    assert_eq!(columns(&["age"]).steps_to(&replace), None);
    assert_eq!(columns(&["age", "pay"]).steps_to(&columns(&["age"])), Some(1));
    assert_eq!(columns(&["age"]).steps_to(&columns(&["age", "pay"])), None);
}

/// The fewest replacements of one to `have` rows by one to `have` rows that turn `from` old rows into `to` new ones, by
/// trying all; none if it cannot be done.
fn fewest_replacements(from: u64, to: u64, have: u64) -> Option<u64> {
    // How many old and new rows there are.
    let mut seen = BTreeSet::from([(from, 0)]);
    let mut front = vec![(from, 0)];
    for steps in 0..20 {
        if front.contains(&(0, to)) {
            return Some(steps);
        }
        let mut next = Vec::new();
        for (old, new) in front {
            for (o, n) in (0..=have.min(old)).flat_map(|o| (0..=have.min(new)).map(move |n| (o, n))) {
                if (1..=have).contains(&(o + n)) {
                    let after = (1..=have).map(|put| (old - o, new - n + put));
                    next.extend(after.filter(|state| state.1 <= to + have && seen.insert(*state)));
                }
            }
        }
        front = next;
    }
    None
}

#[test]
fn larger_units_need_as_many_replacements_as_a_search_finds() {
    for have in 1..=4u32 {
        for need in 1..=8u32 {
            let sizes = || 1..=u64::from(need);
            let worst = sizes()
                .flat_map(|from| sizes().map(move |to| (from, to)))
                .map(|(from, to)| fewest_replacements(from, to, have.into()))
                .try_fold(0, |worst, steps| steps.map(|s| worst.max(s)));
            let [from, to] = [have, need].map(|k| Replace::unit(rows(k)).relation());
            assert_eq!(
                from.steps_to(&to),
                worst,
                "units of {have} rows to units of {need}"
            );
        }
    }
}

#[test]
fn nothing_converts_between_units() {
    let by = |unit: Option<&str>, k: u32| {
        let unit = || unit.into_iter();
        [
            unit().fold(AddRemove::unit(rows(k)), AddRemove::of).relation(),
            unit().fold(Replace::unit(rows(k)), Replace::of).relation(),
            unit()
                .fold(ReplacePrivate::unit(rows(k), ["age"]), ReplacePrivate::of)
                .relation(),
        ]
    };
    let units = [None, Some("who"), Some("household")];
    for (one, other) in units.iter().flat_map(|one| units.map(|other| (*one, other))) {
        for (have, need) in (1..=4).flat_map(|have| (1..=4).map(move |need| (have, need))) {
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                let found = by(one, have)[i].steps_to(&by(other, need)[j]);
                // Within one unit it is as if it had no name.
                let nameless = by(None, have)[i].steps_to(&by(None, need)[j]);
                let expected = nameless.filter(|_| one == other);
                assert_eq!(found, expected, "{one:?} {have} {i} to {other:?} {need} {j}");
            }
        }
    }
    assert_eq!(by(Some("who"), 2)[0].steps_to(&by(Some("who"), 3)[1]), Some(4));
}

#[test]
fn a_part_has_rows_and_no_people() {
    let person = || AddRemove::unit(rows(3)).of("who");
    assert_eq!(person().within(), AddRemove::row());
    assert_eq!(person().steps(), 3);
    assert_eq!(Replace::row().of("who").within(), AddRemove::row());
    assert_eq!(
        ReplacePrivate::unit(rows(2), ["age"]).of("who").within(),
        AddRemove::row()
    );
}

#[test]
fn a_relation_says_who_is_protected() {
    for (relation, text) in [
        (AddRemove::row().relation(), "one row is added or removed"),
        (
            AddRemove::unit(rows(2)).relation(),
            "one unit of up to 2 rows is added or removed",
        ),
        (
            AddRemove::row().of("who").relation(),
            "one person (at most one row with the same 'who') is added or removed",
        ),
        (
            AddRemove::unit(rows(2)).of("who").relation(),
            "one person (at most 2 rows with the same 'who') is added or removed",
        ),
        (
            Replace::unit(rows(2)).of("who").relation(),
            "one person (at most 2 rows with the same 'who') is replaced",
        ),
        (
            ReplacePrivate::unit(rows(2), ["pay", "age"]).of("who").relation(),
            "the private columns (age, pay) of one person (at most 2 rows with the same 'who') are replaced",
        ),
    ] {
        assert_eq!(relation.to_string(), text);
    }
}

#[test]
fn the_command_for_a_budget_can_be_typed() {
    for (relation, dataset, flags) in [
        (AddRemove::row().relation(), "toy", "toy --epsilon E"),
        (
            AddRemove::row().of("who").relation(),
            "our toy",
            "'our toy' --epsilon E --unit who",
        ),
        (
            Replace::unit(rows(2)).of("who's").relation(),
            "toy",
            r"toy --epsilon E --change replace --unit 'who'\''s' --rows-per-unit 2",
        ),
        (
            ReplacePrivate::unit(rows(3), ["pay", "age"])
                .of("-who")
                .relation(),
            "toy",
            "toy --epsilon E --change replace-private --columns age,pay --unit=-who --rows-per-unit 3",
        ),
    ] {
        assert_eq!(
            relation.limit_command(dataset, &BudgetToSet::default()),
            format!("privet ledger limit {flags}")
        );
    }
    let budget = BudgetToSet {
        ledger: Some("our ledger.db".into()),
        ..BudgetToSet::of("0.5".parse().expect("ε"), "2.5e-6".parse().expect("δ"))
    };
    assert_eq!(
        AddRemove::row()
            .of("who")
            .relation()
            .limit_command("toy", &budget),
        "privet ledger limit toy --epsilon 0.5 --delta 2.5e-6 --unit who --ledger 'our ledger.db'"
    );
}

#[test]
fn steps_count_the_rows_that_come_or_go() {
    assert_eq!(AddRemove::row().steps(), 1);
    assert_eq!(AddRemove::unit(rows(5)).steps(), 5);
    assert_eq!(Replace::row().steps(), 2);
    assert_eq!(ReplacePrivate::unit(rows(3), ["age"]).steps(), 6);
}

#[test]
fn relations_survive_json() {
    for relation in [
        AddRemove::row().relation(),
        Replace::unit(rows(3)).relation(),
        ReplacePrivate::unit(rows(1), ["pay", "age"]).relation(),
        AddRemove::row().of("who").relation(),
        ReplacePrivate::unit(rows(2), ["pay"]).of("who").relation(),
    ] {
        let text = serde_json::to_string(&relation).expect("serialises");
        assert_eq!(serde_json::from_str::<Relation>(&text).expect("parses"), relation);
    }
    assert!(serde_json::from_str::<Relation>(r#"{"change":"add-remove","rows":0}"#).is_err());
}

#[test]
fn what_was_written_before_units_had_names_stays_as_it_is() {
    for text in [
        r#"{"change":"add-remove","rows":1}"#,
        r#"{"change":"replace","rows":3}"#,
        r#"{"change":"replace-private","rows":2,"columns":["age","pay"]}"#,
        r#"{"change":"add-remove","rows":1,"unit":"who"}"#,
    ] {
        let relation: Relation = serde_json::from_str(text).expect("parses");
        assert_eq!(serde_json::to_string(&relation).expect("serialises"), text);
    }
}

/// Where relations are types, the compiler refuses this (`tests/walls/paying_under_another_relation.rs`).
#[test]
fn a_relation_of_run_time_is_compared_before_anything_is_paid() {
    let epsilon = Epsilon::from_billionths(1_000_000_000);
    let law = Laplace::calibrated(epsilon, 1).expect("a mechanism");
    let row = || AddRemove::row().relation();
    let two = AddRemove::unit(rows(2)).relation();
    let others = [
        Replace::row().relation(),
        ReplacePrivate::unit(rows(1), ["x"]).relation(),
        AddRemove::row().of("name").relation(),
        two,
    ];
    let query = |relation: &Relation, seen: &'static AtomicBool| {
        let claim = Sensitivity::claim(relation, Norm::L1(1), Anchor::new("laplace#integer-vectors"));
        Query::new(1, claim.expect("a claim"), || {
            seen.store(true, Ordering::Relaxed);
            Private::new(vec![0])
        })
    };
    static OWN: AtomicBool = AtomicBool::new(false);
    static OTHER: AtomicBool = AtomicBool::new(false);
    let caps = Caps::from(Price::Pure(epsilon).times(9).expect("a price"));
    let random = Randomness::from_os().expect("randomness");
    let mut ledger = Ledger::volatile(row(), caps, Delta::ZERO, random).expect("opens");
    for other in &others {
        let refused = ledger.release("a count", &law, query(other, &OTHER));
        assert!(matches!(refused, Err(Error::Misuse(_))), "{other}");
        assert_eq!(ledger.remaining(), caps, "{other}");
    }
    ledger
        .release("a count", &law, query(&row(), &OWN))
        .expect("its own");
    let mut paid = ledger
        .reserve("two counts", Price::Pure(epsilon), 2)
        .expect("paid");
    for other in &others {
        let refused = paid.release(&law, query(other, &OTHER));
        assert!(matches!(refused, Err(Error::Misuse(_))), "{other}");
        assert_eq!(paid.draws_remaining(), 2, "{other}");
    }
    assert!(OWN.load(Ordering::Relaxed) && !OTHER.load(Ordering::Relaxed));
}
