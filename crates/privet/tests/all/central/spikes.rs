//! Spikes of rough columns: how far the counts of their rows move, what they cost, and whole runs by record and replay.

use std::num::NonZeroU32;

use privet::boost::Ensemble;
use privet::data::Schema;
use privet::data::schema::{category, label, number};
use privet::learner::SILENT;
use privet::privacy::account::{Caps, Price};
use privet::privacy::mechanism::Gaussian;
use privet::privacy::{
    AddRemove, Anchor, Ledger, Neighbours, Norm, Private, Query, Randomness, Relation, Replace,
    ReplacePrivate, Sensitivity,
};
use privet::setting::central::{Algorithm, Budget, Plan, Splits, Trees};
use privet_testkit::replay::{Finding, Report, Transcript, search};

use crate::central::trees::delta;
use crate::central::window::{Script, Seen, look};

/// Two numbers, a category and a label.
type Row = [&'static str; 4];

const ROWS: [Row; 4] = [
    ["1", "1", "red", "no"],
    ["-1", "-1", "blue", "no"],
    ["", "0.3", "", "yes"],
    ["7", "-1e300", "octarine", "yes"],
];

/// Trees of one round come before rough columns are chosen.
const BEFORE: usize = 3;
const TREES: usize = 12;

/// Sums that no smooth effect foretells, since neighbouring leaves differ, and counts that no neighbourhood explains.
fn rough() -> Script {
    Script::Each(vec![vec![4_000_000, 4096, -4_000_000, 4096]])
}

fn columns() -> Schema {
    let label_is_private = [true, true, true, false];
    let columns = [
        number("p", -1.0..=1.0),
        number("x", -1.0..=1.0),
        category("colour", ["red", "blue"]),
        label("y", ["no", "yes"]),
    ];
    let columns = columns.into_iter().zip(label_is_private);
    let columns = columns.map(|(column, private)| column.private(private));
    Schema::builder("spikes")
        .columns(columns)
        .build()
        .expect("a schema")
}

fn plan(relation: &Relation) -> Plan {
    plan_by(Splits::OneFeature, relation)
}

fn plan_by(splits: Splits, relation: &Relation) -> Plan {
    let trees = Trees::builder()
        .splits(splits)
        .spikes(true)
        .trees(TREES as u32)
        .leaves(4)
        .calibrate(false);
    let budget = Budget::with_delta("1".parse().expect("an epsilon"), delta(), 50).expect("a budget");
    let trees = trees.build().expect("parameters");
    trees.plan(&columns(), relation, budget).expect("a plan")
}

/// What a run on these rows is asked, while every release is said by a script.
fn asked(relation: &Relation, rows: &[Row], script: &Script) -> (Seen, Ensemble) {
    let plan = plan(relation);
    let table = privet_testkit::rows::table(&plan.reads(), rows);
    let random = Randomness::from_os().expect("randomness");
    let ledger =
        Ledger::volatile(relation.clone(), Caps::from(plan.price()), delta(), random).expect("opens");
    let found = look(ledger, (Some(3), script), |ledger| {
        plan.train(table, ledger, SILENT)
    });
    let (ensemble, seen, _) = found.expect("a run");
    (seen, ensemble)
}

/// A relation with the units that it puts in each other's place.
fn neighbours(k: u32) -> [(Relation, Vec<[Vec<Row>; 2]>); 3] {
    let unit = NonZeroU32::new(k).expect("above zero");
    let of = |row: usize| vec![ROWS[row]; k as usize];
    let columns = ["p", "x", "colour"];
    [
        (
            AddRemove::unit(unit).relation(),
            vec![[of(0), vec![]], [vec![], of(2)], [of(3), vec![]]],
        ),
        (
            Replace::unit(unit).relation(),
            vec![[of(0), of(1)], [of(0), of(3)], [of(2), of(3)]],
        ),
        (
            ReplacePrivate::unit(unit, columns).relation(),
            vec![[of(0), of(1)], [of(2), of(3)]],
        ),
    ]
}

fn among(unit: &[Row]) -> Vec<Row> {
    let others = [["0.5", "0.25", "red", "no"], ["-0.9", "", "blue", "yes"]];
    [unit, &others].concat()
}

/// Under every relation some pair of units reaches the claim about two rough columns, and no answer of the run exceeds its own.
#[test]
fn counts_of_rough_columns_move_by_their_claim_and_no_more() {
    for k in [1, 2] {
        for (relation, pairs) in neighbours(k) {
            let mut most: f64 = 0.0;
            for pair in pairs {
                let [one, other] = pair.map(|unit| asked(&relation, &among(&unit), &rough()).0.asked);
                assert_eq!(
                    [one.len(), other.len()],
                    [TREES + 1; 2],
                    "the counts are one question more"
                );
                for (turn, (a, b)) in one.iter().zip(&other).enumerate() {
                    assert_eq!(
                        (&a.mechanism, a.norm, a.answer.len()),
                        (&b.mechanism, b.norm, b.answer.len())
                    );
                    let Norm::L2Squared(claim) = a.norm else {
                        panic!("{:?}", a.norm)
                    };
                    let changes = a
                        .answer
                        .iter()
                        .zip(&b.answer)
                        .map(|(a, b)| i128::from(a - b).pow(2));
                    let moved = changes.sum::<i128>() as u128;
                    assert!(
                        moved <= claim,
                        "{relation:?}, question {turn}: {moved} of {claim}"
                    );
                    if turn == BEFORE {
                        most = most.max(moved as f64 / claim as f64);
                    }
                }
            }
            assert_eq!(most, 1.0, "{relation:?}");
        }
    }
}

/// Releases the counts of a real run with a claim of so many tenths.
fn claimed(tenths: u128) -> Result<Report, (usize, Finding)> {
    let relation = Replace::row();
    let pairs = [[among(&ROWS[..1]), among(&ROWS[1..2])]];
    search(
        &relation,
        &pairs,
        &[Transcript::Drawn],
        |rows: &Vec<Row>, ledger| {
            let mut seen = asked(&relation.relation(), rows, &rough()).0;
            let asked = seen.asked.remove(BEFORE);
            let Norm::L2Squared(claim) = asked.norm else {
                panic!("{:?}", asked.norm)
            };
            let claim = Norm::L2Squared(claim * tenths / 10);
            let claim = Sensitivity::claim(&relation, claim, Anchor::new("trees#spikes"))?;
            let (length, answer) = (asked.answer.len(), Private::new(asked.answer));
            let query = Query::new(length, claim, || answer);
            let Price::Gaussian(price) = asked.price else {
                panic!("{:?}", asked.price)
            };
            ledger.release("counts", &Gaussian::calibrated(price, 4)?, query)?;
            Ok(Vec::new())
        },
    )
}

#[test]
fn a_claim_at_nine_tenths_about_rough_columns_is_caught() {
    claimed(10).expect("the claim holds");
    let found = claimed(9);
    assert!(matches!(found, Err((_, Finding::Distance(_)))), "{found:?}");
}

/// Whether columns turn out to be rough or not, a run costs no more than its budget and all but all of it; nothing is counted where none is.
#[test]
fn runs_with_and_without_spikes_cost_the_same() {
    let relation = AddRemove::row().relation();
    let units = |price: &Price| match price {
        Price::Gaussian(mu_squared) => mu_squared.units(),
        other => panic!("{other:?}"),
    };
    let all = units(&plan(&relation).price());
    let paid = |script: &Script| {
        let (seen, ensemble) = asked(&relation, &among(&[]), script);
        let has_spikes = !ensemble.spikes.is_empty();
        let each: Vec<_> = seen.prices.iter().map(units).collect();
        (each, has_spikes)
    };
    let (smooth, none) = paid(&Script::Says(vec![0]));
    let (jumping, some) = paid(&rough());
    assert!(!none && some);
    assert_eq!([smooth.len(), jumping.len()], [TREES, TREES + 1]);
    assert_eq!(smooth[..BEFORE], jumping[..BEFORE], "until then nobody knows");
    assert!(
        jumping[BEFORE + 1] < smooth[BEFORE],
        "later trees have what remains"
    );
    for each in [smooth, jumping] {
        let sum: u128 = each.iter().sum();
        assert!(sum <= all && sum * 1_000_000 > all * 999_999, "{sum} of {all}");
    }
}

/// Equal releases make equal questions, prices and models, also where columns are rough.
#[test]
fn trees_with_spikes_replay() {
    for (relation, pairs) in neighbours(1) {
        for pair in &pairs {
            let [one, other] = pair.clone().map(|unit| asked(&relation, &among(&unit), &rough()));
            assert_eq!(one.0.prices, other.0.prices, "{relation:?}");
            assert!(
                one.1 == other.1 && !one.1.spikes.is_empty(),
                "{relation:?}: {:?}",
                one.1.spikes
            );
        }
        let pairs: Vec<[Vec<Row>; 2]> = pairs
            .iter()
            .map(|pair| pair.clone().map(|unit| among(&unit)))
            .collect();
        let records = [
            Transcript::Drawn,
            Transcript::Alternating(4_000_000),
            Transcript::Above(1 << 42),
            Transcript::Below(1 << 42),
        ];
        // Trees about pairs come before rough columns are found, and after.
        for splits in [Splits::OneFeature, Splits::Pairs] {
            let plan = plan_by(splits, &relation);
            let report = search(&relation, &pairs, &records, |rows: &Vec<Row>, ledger| {
                let table = privet_testkit::rows::table(&plan.reads(), rows);
                let ensemble = plan.train(table, ledger, SILENT)?;
                Ok(serde_json::to_vec(&ensemble).expect("JSON"))
            });
            if let Err((pair, why)) = report {
                panic!("{relation:?}, {splits:?}: {why:?} on pair {pair}");
            }
        }
    }
}

#[test]
fn spikes_are_refused_where_they_are_not_looked_for() {
    let relation = AddRemove::row().relation();
    let trees = Trees::builder()
        .spikes(true)
        .trees(12)
        .build()
        .expect("parameters");
    let refused = |schema: &Schema, trees: &Trees, budget: Budget| {
        let why = trees
            .plan(schema, &relation, budget)
            .expect_err("refused")
            .to_string();
        assert!(why.contains("spikes = true"), "{why}");
    };
    let epsilon = "1".parse().expect("an epsilon");
    let with_delta = Budget::with_delta(epsilon, delta(), 50).expect("a budget");
    refused(&columns(), &trees, Budget::pure(epsilon, 50).expect("a budget"));
    let few = Trees::builder()
        .spikes(true)
        .trees(9)
        .build()
        .expect("parameters");
    refused(&columns(), &few, with_delta);
    let narrow = [number("x", -1.0..=1.0).bins(20), label("y", ["no", "yes"])];
    let narrow = Schema::builder("narrow")
        .columns(narrow)
        .build()
        .expect("a schema");
    refused(&narrow, &trees, with_delta);
    // Whole numbers that all have a bin of their own share it with none; of more, some do.
    let whole = |max: u32| {
        let text = format!(
            "dataset = \"whole\"\n[columns]\nx = {{ type = \"integer\", min = 0, max = {max} }}\ny = {{ type = \"label\", values = [\"no\", \"yes\"] }}\n"
        );
        Schema::from_toml("whole", &text).expect("a schema")
    };
    refused(&whole(110), &trees, with_delta);
    trees.plan(&whole(1000), &relation, with_delta).expect("a plan");
}
