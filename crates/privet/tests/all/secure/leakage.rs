//! What a party sees follows from what was declared: every small database of the other party is tried, and those that show the same declared
//! items must give the same view.

use std::collections::{BTreeMap, BTreeSet};

use privet::data::Schema;
use privet::data::schema::{AnyColumn, category, flag, label, number};
use privet::party::PartyId;
use privet::setting::secure::{
    AttributeChoice, Classifier, CoefficientRule, CutPlaces, INITIATOR, Message, RESPONDER, Secure,
    StartWeights,
};
use privet::wire::Wire;
use privet_testkit::skipped::full;

use super::world::{CLASSES, Line, Net, World};

fn schema(classes: usize) -> Schema {
    let classes = CLASSES[..classes].to_vec();
    let columns: [AnyColumn; 3] = [flag("u").into(), flag("v").into(), label("y", classes).into()];
    Schema::builder("rows").columns(columns).build().unwrap()
}

/// All databases of one or two rows, up to their order.
fn databases(classes: usize) -> Vec<Vec<Line>> {
    let cell = |number: usize, bit: usize, names: [&str; 2]| names[number >> bit & 1].to_owned();
    let count = 4 * classes;
    let row = |number: usize| {
        let truth = ["false", "true"];
        vec![
            cell(number, 0, truth),
            cell(number, 1, truth),
            CLASSES[number / 4].to_owned(),
        ]
    };
    let mut all: Vec<Vec<Line>> = (0..count).map(|first| vec![row(first)]).collect();
    for first in 0..count {
        all.extend((first..count).map(|second| vec![row(first), row(second)]));
    }
    all
}

/// What a party sees: messages in the clear as they are, of the others their kind and length; and what the other party declares of it.
struct View {
    seen: Vec<Vec<u8>>,
    declared: Vec<u8>,
}

fn lengths(parts: &[Vec<u8>]) -> Vec<usize> {
    parts.iter().map(Vec::len).collect()
}

/// What `who` sees of the other party, which has these rows.
fn view(classes: usize, secure: &Secure, who: PartyId, rows: &[Line]) -> View {
    let own: Vec<Line> = vec![
        vec!["true".into(), "false".into(), "a".into()],
        vec!["false".into(), "false".into(), "b".into()],
        vec!["true".into(), "true".into(), "b".into()],
    ];
    let both = match who == INITIATOR {
        true => [own, rows.to_vec()],
        false => [rows.to_vec(), own],
    };
    let world = World::of(&schema(classes), secure, both);
    let mut net = Net::new(&world);
    let (mut seen, mut declared) = (Vec::new(), Vec::new());
    net.carry(|from, message| {
        // The bits that come out of a circuit are items, whoever tells them; before them is a head.
        if let Message::Outcome(outcome) = &message {
            declared.extend(&outcome[17..]);
        }
        if from != who {
            seen.push(match &message {
                Message::Choices(parts) => format!("choices {:?}", lengths(parts)).into(),
                Message::Garbled(parts) => format!("garbled {:?}", lengths(parts)).into(),
                Message::Outcome(outcome) => outcome[17..].to_vec(),
                Message::Begin { rows, transfer } => format!("begin {rows:?} {}", transfer.len()).into(),
                // The name of its run and its journal's key are random.
                Message::Finish(text) => format!("the end {}", text.len()).into(),
                clear => clear.to_bytes(),
            });
            match &message {
                Message::Voter(_) | Message::Rates(_) => declared.extend(message.to_bytes()),
                _ => {}
            }
        }
        Some(message)
    });
    let outcomes = net.finish();
    let outcome = outcomes[0].as_ref().unwrap();
    for round in &outcome.rounds {
        declared.extend(format!("{:?}", round).into_bytes());
    }
    View { seen, declared }
}

/// How many groups of equal declared items there are, and how many of them have more than one view.
fn split(secure: &Secure, who: PartyId) -> (usize, usize) {
    split_of(2, secure, who)
}

/// The same with so many classes.
fn split_of(classes: usize, secure: &Secure, who: PartyId) -> (usize, usize) {
    let mut groups: BTreeMap<Vec<u8>, BTreeSet<Vec<Vec<u8>>>> = BTreeMap::new();
    for rows in databases(classes) {
        let View { seen, declared } = view(classes, secure, who, &rows);
        groups.entry(declared).or_default().insert(seen);
    }
    let split = groups.values().filter(|views| views.len() > 1).count();
    (groups.len(), split)
}

fn secure(classifier: Classifier, coefficient: CoefficientRule, start: StartWeights) -> Secure {
    let attribute = match classifier {
        Classifier::Merged => AttributeChoice::Rendezvous,
        Classifier::Joint => AttributeChoice::All,
    };
    let secure = Secure::builder()
        .rounds(1)
        .classifier(classifier)
        .attribute(attribute);
    secure.coefficient(coefficient).start(start).build().unwrap()
}

/// The attribute of a rendezvous is chosen by chance and stands in the declared items: views are compared where chance was the same.
#[test]
fn equal_declared_items_give_equal_views() {
    let each = |coefficient, who| {
        for classifier in [Classifier::Merged, Classifier::Joint] {
            let secure = secure(classifier, coefficient, StartWeights::Halves);
            let (groups, split) = split(&secure, who);
            assert!(
                groups > 1 && groups < databases(2).len(),
                "{classifier:?} {coefficient:?} {who:?}: {groups}"
            );
            assert_eq!(split, 0, "{classifier:?} {coefficient:?} {who:?}");
        }
    };
    for coefficient in [CoefficientRule::Rounded, CoefficientRule::Constant] {
        each(coefficient, INITIATOR);
        if full() {
            each(coefficient, RESPONDER);
        }
    }
    // The responder's view without circuits, an end that depends on rows, trees, and groups of attributes.
    let builders = [
        Secure::builder().coefficient(CoefficientRule::Constant),
        Secure::builder()
            .coefficient(CoefficientRule::Constant)
            .stop_at(0.4),
        Secure::builder().group(2),
        Secure::builder().depth(2).attribute(AttributeChoice::All),
    ];
    for (number, builder) in builders.into_iter().enumerate() {
        let secure = builder.rounds(2).build().unwrap();
        for who in [INITIATOR, RESPONDER] {
            let (groups, split) = split(&secure, who);
            assert!(groups > 1, "{number} {who:?}: {groups}");
            assert_eq!(split, 0, "{number} {who:?}");
        }
    }
}

/// The same with three classes: that another class begins, and when, follows from what was shown.
#[test]
fn equal_declared_items_of_each_class_give_equal_views() {
    let constant = || Secure::builder().coefficient(CoefficientRule::Constant);
    let builders = [
        constant().stop_at(0.4),
        constant().attribute(AttributeChoice::All),
        Secure::builder(),
    ];
    for (number, builder) in builders.into_iter().enumerate() {
        let secure = builder.rounds(2).build().unwrap();
        for who in [INITIATOR, RESPONDER] {
            // With circuits the short form looks at one side.
            if number == 0 && who == RESPONDER && !full() {
                continue;
            }
            let (groups, split) = split_of(3, &secure, who);
            assert!(groups > 1, "{number} {who:?}: {groups}");
            assert_eq!(split, 0, "{number} {who:?}");
        }
    }
    let leaking = secure(Classifier::Joint, CoefficientRule::Constant, StartWeights::Rows);
    assert!(split_of(3, &leaking, INITIATOR).1 > 0);
}

/// A leak that is not declared is found: how many rows the other party has, where it says so and nobody was told that it would.
#[test]
fn a_planted_leak_splits_a_group() {
    let leaking = secure(Classifier::Joint, CoefficientRule::Constant, StartWeights::Rows);
    for who in [INITIATOR, RESPONDER] {
        assert!(split(&leaking, who).1 > 0, "{who:?}");
    }
}

/// With thresholds from the data a stump of many categories has a bit for each, also in the model.
#[test]
fn stumps_of_many_categories_have_more_bits_than_numbers() {
    let values: Vec<String> = (0..100).map(|value| format!("v{value}")).collect();
    let columns: [AnyColumn; 3] = [
        number("x", 0.0..=1.0).into(),
        category("c", values).into(),
        label("y", ["a", "b"]).into(),
    ];
    let schema = Schema::builder("rows").columns(columns).build().unwrap();
    let secure = Secure::builder()
        .rounds(1)
        .thresholds(CutPlaces::Data)
        .coefficient(CoefficientRule::Constant);
    let plan = secure.build().unwrap().plan(&schema).unwrap();
    assert!(plan.most_bits() >= 101.0, "{}", plan.most_bits());
    let model = plan.items().pop().unwrap();
    assert!(model.bits >= 202.0, "{}", model.bits);
}
