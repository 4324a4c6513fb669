//! The protocol gives the model of the same algorithm in the clear, to the last bit.

use privet::privacy::journal::Event;
use privet::setting::secure::{AttributeChoice, Classifier, CoefficientRule, Secure};
use privet_testkit::skipped::full;

use super::world::{World, lines, options};

fn agrees(secure: &Secure, rows: [usize; 2], seed: u64) -> usize {
    let world = World::new(secure, [lines(rows[0], seed), lines(rows[1], seed + 1_000_000)]);
    let outcomes = world.simulation().run().unwrap().all().unwrap();
    let clear = world.in_the_clear(&outcomes[0].rounds);
    for outcome in &outcomes {
        assert_eq!(outcome.rounds, clear, "{secure:?} {seed}");
        assert_eq!(outcome.model.ensemble(), outcomes[0].model.ensemble());
    }
    // Everything that is shown was written down with its most, once.
    for journal in &world.journals {
        let entries = journal.entries();
        let shown = entries.iter().filter_map(|entry| match entry.event() {
            Event::Leak { what, to, count, .. } => Some((what.clone(), to.clone(), *count)),
            _ => None,
        });
        let mut shown: Vec<_> = shown.collect();
        shown.sort();
        let items = world.plan.items();
        let mut declared: Vec<_> = items
            .iter()
            .map(|item| (item.leak.what().to_owned(), item.leak.to().to_owned(), item.most))
            .collect();
        declared.sort();
        assert_eq!(shown, declared);
    }
    outcomes[0].rounds.len()
}

#[test]
fn every_option_gives_the_model_of_the_twin() {
    let sets = if full() { 50 } else { 1 };
    let all = options(if full() { 6 } else { 2 });
    assert!(all.len() > 40, "{}", all.len());
    let mut rounds = 0;
    for seed in 0..sets {
        for (place, secure) in all.iter().enumerate() {
            let rows = [
                5 + (seed as usize * 7 + place) % 20,
                3 + (seed as usize * 5 + place) % 15,
            ];
            rounds += agrees(secure, rows, seed * 1000 + place as u64);
        }
    }
    assert!(rounds > all.len(), "{rounds}");
}

#[test]
fn a_party_without_rows_and_rows_of_one_class_end_well() {
    for secure in options(2).iter().step_by(7) {
        agrees(secure, [0, 6], 7);
        agrees(secure, [4, 0], 8);
        agrees(secure, [0, 0], 9);
        agrees(secure, [1, 1], 10);
    }
}

/// Where nothing can be learned, a run over all attributes ends at once in place of doing the same round again and again.
#[test]
fn a_round_that_would_repeat_itself_ends_the_run() {
    for (_, classifier) in Classifier::NAMES {
        for coefficient in [CoefficientRule::Exact, CoefficientRule::Rounded] {
            let secure = Secure::builder()
                .rounds(4)
                .bins(4)
                .classifier(classifier)
                .attribute(AttributeChoice::All)
                .coefficient(coefficient);
            let row = |class: &str| ["1", "1", "red", "true", class].map(String::from).to_vec();
            let rows = [vec![row("a"), row("b")], vec![row("b"), row("a")]];
            let world = World::new(&secure.build().unwrap(), rows);
            for outcome in world.simulation().run().unwrap().all().unwrap() {
                assert_eq!(outcome.rounds, world.in_the_clear(&[]));
                assert!(outcome.rounds.is_empty(), "{classifier:?} {coefficient:?}");
            }
        }
    }
}
