//! Owners join by a new run that starts from a model.

use privet::Error;
use privet::data::Frame;
use privet::model::Model;
use privet::privacy::{AddRemove, Neighbours, Unprotected};
use privet::setting::horizontal::{Horizontal, OwnerFacts, Plan, Protocol};
use privet::setting::plain::{self, Algorithm};
use privet::wire::RunId;

use super::judges::held_out;
use super::protocols::{horizontal, models, rows};
use super::twins;
use super::world::{Labels, Line, Noise, World, identity, lines, schema, spending, table, trees};

const PROTOCOLS: [Protocol; 3] = [Protocol::Aggregated, Protocol::Averaged, Protocol::Chain];

/// The same owners and rows, in a run that starts from a model.
fn started(mut world: World, model: &Model) -> World {
    world.plan = world.plan.starting_from(model).unwrap();
    let identities: Vec<_> = (0..world.rows.len())
        .map(|place| Some(identity(place).public()))
        .collect();
    world.agreement = world
        .plan
        .agreement(RunId([4; 16]), "miner", &identities)
        .unwrap();
    world
}

/// The miner's model of owners whose ledgers draw from the operating system: a seed would void it.
fn trained(own: &Horizontal, labels: Labels, rows: Vec<Vec<Line>>) -> Model {
    let world = World::new(own, labels, spending("8", "1e-6"), rows, Noise::Drawn);
    let tables = world.rows.iter().map(|rows| table(world.plan.schema(), rows));
    models(world.plan.rehearsed(tables.collect()).unwrap()).remove(0)
}

/// The mean loss of a model: squared of numbers, else of probabilities.
fn loss(model: &Model, labels: Labels, rows: &[Line]) -> f64 {
    let column = |place: usize| -> Vec<String> { rows.iter().map(|row| row[place].clone()).collect() };
    let frame = Frame::new()
        .column("x", column(0))
        .column("z", column(1))
        .column("colour", column(2));
    let predicted = model.predict(&frame).unwrap();
    let each = rows.iter().enumerate().map(|(place, row)| match labels {
        Labels::Number => (predicted.values().unwrap()[place] - row[3].parse::<f64>().unwrap()).powi(2),
        Labels::Two | Labels::Three => {
            let class = ["a", "b", "c"].iter().position(|class| *class == row[3]).unwrap();
            let classes = predicted.class_count().unwrap();
            -predicted.probabilities().unwrap()[place * classes + class]
                .max(1e-9)
                .ln()
        }
    });
    each.sum::<f64>() / rows.len() as f64
}

#[test]
fn owners_join_a_model_and_everybody_has_its_trees_and_theirs() {
    for protocol in PROTOCOLS {
        for labels in [Labels::Two, Labels::Three, Labels::Number] {
            let test = lines(labels, 300, 77);
            let spend = spending("8", "1e-6");
            let all = rows(labels, 5, 200);
            let earlier = trained(&horizontal(protocol, 8), labels, all[..4].to_vec());
            // One of them has left, and one is new.
            let second = World::new(
                &horizontal(protocol, 16),
                labels,
                spend,
                all[1..].to_vec(),
                Noise::Exact,
            );
            let second = started(second, &earlier);
            let models = models(second.simulation().run().unwrap());
            assert!(
                models
                    .iter()
                    .all(|model| model.ensemble() == models[0].ensemble())
            );
            let (old, new) = (&earlier.ensemble().members, &models[0].ensemble().members);
            let outputs = if labels == Labels::Three { 3 } else { 1 };
            let grown = match protocol {
                Protocol::Aggregated => 16,
                Protocol::Averaged | Protocol::Chain => 4 * 16,
            };
            assert_eq!(new.len(), old.len() + grown * outputs, "{protocol:?} {labels:?}");
            assert!(old.iter().zip(new).all(|(old, new)| old.learner == new.learner));
            let [before, after] = [&earlier, &models[0]].map(|model| loss(model, labels, &test));
            assert!(
                after < before,
                "{protocol:?} {labels:?}: {after} is not below {before}"
            );
            certified(&models, protocol);
        }
    }
}

/// Everybody's certificate says what was said of the earlier model: by its four owners.
fn certified(models: &[Model], protocol: Protocol) {
    for model in models {
        let certificate = model.certificate();
        assert_eq!(certificate.earlier.len(), 4, "{protocol:?}");
        let parts = certificate.parties.iter().chain(&certificate.earlier);
        for part in parts {
            assert!(part.certificate.parties.is_empty() && part.certificate.earlier.is_empty());
        }
        let text = certificate.to_string();
        assert!(text.contains("started from a model"), "{text}");
        let bytes = model.to_bytes();
        assert_eq!(Model::from_bytes(&bytes).unwrap().certificate(), certificate);
    }
}

/// A run that starts from nothing and one that starts from a model have no frame in common.
#[test]
fn who_starts_from_another_model_is_in_another_run() {
    let world = |seed: u8| {
        let rows = (0..4).map(|owner| lines(Labels::Two, 30, seed + owner)).collect();
        let horizontal = horizontal(Protocol::Aggregated, 3);
        World::new(
            &horizontal,
            Labels::Two,
            spending("4", "1e-6"),
            rows,
            Noise::Drawn,
        )
    };
    let own = horizontal(Protocol::Aggregated, 3);
    let [one, other] = [1, 20].map(|seed| trained(&own, Labels::Two, world(seed).rows));
    let from_one = started(world(1), &one).agreement;
    assert_eq!(started(world(1), &one).agreement.digest(), from_one.digest());
    assert_ne!(started(world(1), &other).agreement.digest(), from_one.digest());
    let plan = started(world(1), &one).plan;
    let words = plan.owner(0).unwrap().to_string();
    assert!(words.contains("starts from a model of 3 trees"), "{words}");
}

fn plan(own: &Horizontal) -> Plan {
    let facts: Vec<OwnerFacts> = (0..4)
        .map(|place| OwnerFacts {
            name: format!("owner {place}"),
            rows_about: 50,
        })
        .collect();
    let relation = AddRemove::row().relation();
    own.plan(&schema(Labels::Two), &relation, spending("4", "1e-6"), &facts)
        .unwrap()
}

#[test]
fn what_cannot_be_started_from_is_refused() {
    let refused = |plan: Plan, model: &Model| match plan.starting_from(model) {
        Err(Error::Parameter(e)) => e.to_string(),
        other => panic!("{:?}", other.map(|_| ())),
    };
    let own = horizontal(Protocol::Aggregated, 3);
    let of = |labels| trained(&own, labels, rows(labels, 4, 30));
    let fits = of(Labels::Two);
    assert!(plan(&own).starting_from(&fits).is_ok());
    let why = refused(plan(&own), &of(Labels::Three));
    assert!(why.contains("another schema") && why.contains("\"c\""), "{why}");
    let judged = Horizontal::builder()
        .trees(trees(3).build().unwrap())
        .evaluation(held_out("1", 30));
    let why = refused(plan(&judged.build().unwrap()), &fits);
    assert!(why.contains("held out"), "{why}");
    // Nobody was protected when this was trained.
    let declared = schema(Labels::Two);
    let plain = plain::Trees::builder().rounds(2).build().unwrap();
    let plain = plain.plan(&declared).unwrap();
    let table = table(plain.schema(), &lines(Labels::Two, 40, 9));
    let permission = Unprotected::unrecorded("rows", &AddRemove::row().relation(), "a test");
    let open = plain.fit(table, &permission, privet::learner::SILENT).unwrap();
    let why = refused(plan(&own), &open);
    assert!(why.contains("nobody is protected"), "{why}");
}

/// Answers of a run whose noise is none, on a table and with one row more.
#[test]
fn a_row_moves_a_run_that_starts_from_a_model_by_its_claim_and_no_more() {
    for (labels, delta) in [
        (Labels::Two, "1e-6"),
        (Labels::Number, "1e-6"),
        (Labels::Number, "0"),
    ] {
        let earlier = trained(&horizontal(Protocol::Averaged, 4), labels, rows(labels, 3, 60));
        let own = horizontal(Protocol::Averaged, 6);
        let mut rows = rows(labels, 2, 40);
        let world = started(
            World::new(&own, labels, spending("4", delta), rows.clone(), Noise::Drawn),
            &earlier,
        );
        rows[1].extend(lines(labels, 1, 5));
        let mut more = World::new(&own, labels, spending("4", delta), rows, Noise::Drawn);
        (more.plan, more.agreement) = (world.plan.clone(), world.agreement.clone());
        let most = twins::most_moved(&world, &more);
        assert!(most > 0.05 && most <= 1.0 + 1e-9, "{labels:?} {delta}: {most}");
    }
}
