//! Lemma 1 in whole numbers, and the ways in which a run ends early.

use privet::boost::{Alpha, LARGEST, WholeFactors};
use privet::privacy::{AddRemove, Coins, Neighbours, Unprotected};
use privet::setting::secure::clear::InTheClear;
use privet::setting::secure::{AttributeChoice, Classifier, CutPlaces, Secure, Side};

use super::world::{Line, lines, schema, table};

fn clear(secure: &Secure, rows: [Vec<Line>; 2], seed: u8) -> InTheClear {
    let plan = secure.plan(&schema()).unwrap();
    let permission = Unprotected::unrecorded("rows", &AddRemove::row().relation(), "a test");
    let sides = rows.map(|lines| {
        let cells = permission.reveal(table(&plan, &lines).into_cells());
        Side::new(&plan, cells).unwrap()
    });
    InTheClear::new(&plan, sides, &Coins::from_seed([seed; 32]))
}

fn first(free: &[bool], others: &[bool]) -> Option<usize> {
    (0..free.len()).find(|&place| free[place] && others[place])
}

/// Merged optimal stumps are never wrong about more weight than they are right about.
#[test]
fn no_edge_is_negative() {
    for seed in 0..30 {
        for thresholds in [CutPlaces::Grid, CutPlaces::Data] {
            let secure = Secure::builder()
                .rounds(20)
                .thresholds(thresholds)
                .build()
                .unwrap();
            let rows = [lines(9, seed.into()), lines(14, u64::from(seed) + 500)];
            let mut boosting = clear(&secure, rows, seed);
            while boosting.round(&mut first) {
                let rates = boosting.rates();
                assert!(rates.right >= rates.wrong, "{seed} {rates:?}");
            }
            assert_eq!(boosting.rounds().len(), 20);
        }
    }
}

fn row(x: f64, class: &str) -> Line {
    vec![
        x.to_string(),
        "5".into(),
        "red".into(),
        "true".into(),
        class.into(),
    ]
}

/// Both classes weigh the same and no question helps: nobody is free, so that a rendezvous finds nothing.
#[test]
fn a_run_ends_where_nobody_is_free() {
    let same = || vec![row(0.0, "a"), row(0.0, "b")];
    for attribute in [AttributeChoice::Rendezvous, AttributeChoice::RendezvousByHalves] {
        let secure = Secure::builder().rounds(5).attribute(attribute).build().unwrap();
        let mut boosting = clear(&secure, [same(), same()], 1);
        while boosting.round(&mut first) {}
        assert!(boosting.rounds().is_empty());
    }
}

/// The parties' classes lie the opposite way about every attribute.
#[test]
fn opposite_stumps_are_tried_about_every_attribute_and_no_longer() {
    let rows = || {
        let one = vec![row(-1.0, "a"), row(1.0, "a"), row(1.5, "a")];
        let other = vec![row(-1.0, "b"), row(1.0, "b")];
        [one, other]
    };
    let secure = |retry| Secure::builder().rounds(5).retry(retry).build().unwrap();
    let mut boosting = clear(&secure(true), rows(), 1);
    let mut tries = 0;
    while boosting.round(&mut first) {
        tries += 1;
    }
    assert_eq!((tries, boosting.rounds().len()), (4, 0));
    // Without another try the rounds are spent, and nothing is learnt.
    let mut boosting = clear(&secure(false), rows(), 1);
    while boosting.round(&mut first) {}
    assert_eq!(boosting.rounds().len(), 5);
    assert!(boosting.ensemble().members.is_empty());
    // Over the whole class it would be the same in every round.
    let all = Secure::builder().rounds(5).attribute(AttributeChoice::All);
    let mut boosting = clear(&all.build().unwrap(), rows(), 1);
    while boosting.round(&mut first) {}
    assert!(boosting.rounds().is_empty());
}

/// The joint optimum errs no more than any stump of either party.
#[test]
fn the_joint_optimum_errs_least() {
    for seed in 0..20 {
        let build = |classifier| {
            let secure = Secure::builder().rounds(1).classifier(classifier);
            secure.attribute(AttributeChoice::All).bins(4).build().unwrap()
        };
        let rows = || [lines(12, seed.into()), lines(8, u64::from(seed) + 900)];
        let mut joint = clear(&build(Classifier::Joint), rows(), seed);
        joint.round(&mut first);
        let best = joint.rates();
        let merged = clear(&build(Classifier::Merged), rows(), seed);
        for side in merged.sides() {
            let weak = privet::setting::secure::Weak::single(side.best_of_all());
            if matches!(weak.voters()[0].stump().unwrap().rule, privet::learner::StumpRule::OneOf(ref slots) if slots.len() > 1)
            {
                continue;
            }
            let rates = merged.sides().iter().map(|side| side.rates(&weak));
            let wrong: u64 = rates.map(|rates| rates.wrong).sum();
            // Errors are compared in units of 2^18, and cells beyond an order are on the right there.
            if matches!(&weak.voters()[0].stump().unwrap().rule, privet::learner::StumpRule::AtMost { besides, .. } if !besides.is_empty())
            {
                continue;
            }
            assert!(best.wrong <= wrong + (2 << 18), "{seed}");
        }
    }
}

/// A party that does not follow the protocol can have weights doubled in every round: sums stay below what is computed with.
#[test]
fn weights_do_not_grow_without_bound() {
    let secure = Secure::builder().build().unwrap();
    let plan = secure.plan(&schema()).unwrap();
    let permission = Unprotected::unrecorded("rows", &AddRemove::row().relation(), "a test");
    let cells = permission.reveal(table(&plan, &lines(40, 3)).into_cells());
    let mut side = Side::new(&plan, cells).unwrap();
    let weak = privet::setting::secure::Weak::single(side.best_of_all());
    let factors = WholeFactors::unscaled(Alpha::steps(32, 3), 20);
    for _ in 0..20 {
        side.reweigh(&weak, &factors);
        assert!(side.weights().iter().sum::<u64>() <= LARGEST);
        assert_eq!(side.free().len(), 4);
    }
}
