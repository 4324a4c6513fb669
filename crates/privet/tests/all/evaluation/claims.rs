//! The claim, by brute force over tiny tables and by replay of whole runs; and claims that are wrong on purpose.

use std::any::Any;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use crate::home::Plain;
use privet::Error;
use privet::data::Table;
use privet::data::schema::Schema;
use privet::noisy::evaluation::Evaluation;
use privet::privacy::account::Caps;
use privet::privacy::audit::{Auditor, Observed};
use privet::privacy::mechanism::Laplace;
use privet::privacy::{
    AddRemove, Anchor, Delta, Epsilon, Ledger, Neighbours, Norm, Private, Query, Randomness, Replace,
    ReplacePrivate, Sensitivity, Unprotected,
};
use privet_testkit::replay::{Finding, Report, search, transcripts};
use privet_testkit::skipped::full;

use super::tables::{Model, Row, TASKS, Task, epsilon, run};

type Rows = Vec<Row>;

fn rows(k: u32) -> NonZeroU32 {
    NonZeroU32::new(k).unwrap()
}

/// Features at the ends, on the cut, beyond the bounds and missing.
const FEATURES: [f64; 5] = [0.0, 1.0, 0.5, 17.0, f64::NAN];

/// All rows of one person.
fn all_rows(task: Task, who: &'static str) -> Rows {
    let labels = task.labels().into_iter().chain(["?"]);
    labels.flat_map(|y| FEATURES.map(|x| (who, x, y))).collect()
}

/// Other people's rows.
fn others(task: Task) -> Rows {
    let [low, high] = task.labels();
    vec![
        ("b", 0.2, low),
        ("c", 0.9, high),
        ("b", 0.7, high),
        ("c", 0.5, low),
    ]
}

/// What the first person may have: nothing (if people may be absent), any single row, k of one kind, or more than k
/// that are cut.
fn persons(task: Task, k: usize, may_be_absent: bool) -> Vec<Rows> {
    let single = all_rows(task, "a");
    let mut persons: Vec<Rows> = single.iter().map(|row| vec![*row]).collect();
    if k > 1 {
        persons.extend(single.iter().map(|row| vec![*row; k]));
    }
    // One row too many, and it comes first.
    persons.push([vec![single[0]], vec![single[6]; k]].concat());
    if may_be_absent {
        persons.push(vec![]);
    }
    persons
}

/// All pairs of persons, alone and with the others' rows behind or before theirs.
fn pairs(task: Task, persons: &[Rows], alike: impl Fn(&Rows, &Rows) -> bool) -> Vec<[Rows; 2]> {
    let mut pairs = Vec::new();
    for (number, one) in persons.iter().enumerate() {
        for another in &persons[..number] {
            if alike(one, another) {
                let rest = others(task);
                pairs.push([one.clone(), another.clone()]);
                pairs.push([one, another].map(|person| match pairs.len() % 4 {
                    1 => [person.clone(), rest.clone()].concat(),
                    _ => [rest.clone(), person.clone()].concat(),
                }));
            }
        }
    }
    pairs
}

fn bytes(report: &privet::noisy::evaluation::PaidReport) -> Vec<u8> {
    format!("{report}\n{}", serde_json::to_string(report).unwrap()).into_bytes()
}

fn audit<N: Neighbours>(relation: &N, task: Task, k: u32, pairs: &[[Rows; 2]]) -> Report {
    let schema = task.schema(k);
    // One record is enough: nothing is asked after the only release.
    search(relation, pairs, &transcripts(20)[4..5], |rows: &Rows, ledger| {
        run(task, &schema, rows, ledger, Model::OneRow).map(|report| bytes(&report))
    })
    .unwrap_or_else(|(pair, finding)| panic!("{task:?} {relation:?}: {finding:?} on {:?}", pairs[pair]))
}

#[test]
fn evaluations_move_by_their_claim_and_no_more() {
    for task in TASKS {
        for k in [1, 3].into_iter().take(if full() { 2 } else { 1 }) {
            let size = k as usize;
            // Nobody's rows against somebody's.
            let people = persons(task, size, true);
            let found = pairs(task, &people, |a, b| a.is_empty() != b.is_empty());
            let report = audit(&AddRemove::unit(rows(k)), task, k, &found);
            assert_eq!(report.attained, 1.0, "{task:?}, adding {k} rows");
            // One person's rows against another's.
            let people = persons(task, size, false);
            let found = pairs(task, &people, |_, _| true);
            let report = audit(&Replace::unit(rows(k)), task, k, &found);
            assert_eq!(report.attained, 1.0, "{task:?}, replacing {k} rows");
            // The same number of rows, and other values.
            let found = pairs(task, &people, |a, b| a.len() == b.len());
            let report = audit(&ReplacePrivate::unit(rows(k), ["x", "y"]), task, k, &found);
            assert_eq!(report.attained, 1.0, "{task:?}, replacing columns of {k} rows");
        }
    }
}

/// A person's rows stand among those of others and are far too many; the file grows by all of them, the counts by k.
#[test]
fn people_with_too_many_rows_are_cut_before_they_are_counted() {
    for task in TASKS {
        let [low, high] = task.labels();
        let mut long: Rows = Vec::new();
        for i in 0..40 {
            long.push(("a", 1.0, if i < 2 { high } else { low }));
            long.push(("b", 0.1, low));
        }
        let without: Rows = long.iter().copied().filter(|row| row.0 != "a").collect();
        let report = audit(&AddRemove::unit(rows(2)), task, 2, &[[long, without]]);
        assert_eq!(report.attained, 1.0, "{task:?}");
    }
}

/// Sees the counts without noise, and lets the mechanism draw.
#[derive(Clone, Default)]
struct Window(Arc<Mutex<Vec<Observed>>>);

impl Auditor for Window {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        self.0.lock().unwrap().push(query);
        None
    }

    fn released(&mut self, _: Box<dyn Any + Send>) {}

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        seed
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

fn rich<N: Neighbours>(relation: N) -> Ledger<N> {
    let caps = Caps {
        pure: Epsilon::new(1000.0).unwrap(),
        ..Caps::ZERO
    };
    Ledger::volatile(relation, caps, Delta::ZERO, Randomness::from_os().unwrap()).unwrap()
}

fn observed<N: Neighbours>(relation: N, task: Task, k: u32, table: &Rows) -> Observed {
    let window = Window::default();
    let mut ledger = rich(relation).audited(Box::new(window.clone())).unwrap();
    run(task, &task.schema(k), table, &mut ledger, Model::OneRow).unwrap();
    let seen = window.0.lock().unwrap();
    assert_eq!(seen.len(), 1, "one release");
    seen[0].clone()
}

/// The same counts, claimed at nine tenths: replay must find a pair that moves further.
#[test]
fn a_claim_at_nine_tenths_of_an_evaluation_is_caught() {
    let relation = Replace::unit(rows(5));
    for task in TASKS {
        let honest = relation.steps() * task.entries();
        let people: Vec<Rows> = all_rows(task, "a").iter().map(|row| vec![*row; 5]).collect();
        let found = pairs(task, &people, |_, _| true);
        // A mutant releases the same counts with its own claim.
        let mutant = |claim: u64| {
            search(
                &relation,
                &found,
                &transcripts(20)[1..2],
                |table: &Rows, ledger| {
                    let counts = observed(relation.clone(), task, 5, table).answer;
                    let anchor = Anchor::new("evaluation#counts");
                    let claim = Sensitivity::claim(&relation, Norm::L1(claim), anchor)?;
                    let query = Query::new(counts.len(), claim, || Private::new(counts.clone()));
                    ledger.release("counts", &Laplace::calibrated(Epsilon::new(0.5)?, honest)?, query)?;
                    Ok(Vec::new())
                },
            )
        };
        assert_eq!(mutant(honest).unwrap().attained, 1.0, "{task:?}");
        assert!(
            matches!(mutant(honest * 9 / 10), Err((_, Finding::Distance(_)))),
            "{task:?}"
        );
    }
}

/// The proof needs predictions that see one row; an evaluation whose predictions see others is no neighbour of itself.
#[test]
fn predictions_that_look_at_other_rows_are_caught() {
    for task in TASKS {
        let [low, high] = task.labels();
        let rest: Rows = (1..30)
            .map(|i| ("b", f64::from(i) / 60.0, if i % 3 == 0 { low } else { high }))
            .collect();
        let crowd: Rows = rest
            .iter()
            .zip(NAMES)
            .map(|((_, x, y), who)| (who, *x, *y))
            .collect();
        let more = [crowd.clone(), vec![("a", 1.0, high)]].concat();
        let schema = task.schema(1);
        let found = search(
            &AddRemove::row(),
            &[[crowd, more]],
            &transcripts(20)[1..2],
            |rows: &Rows, ledger| {
                run(task, &schema, rows, ledger, Model::Relative).map(|report| bytes(&report))
            },
        );
        assert!(
            matches!(found, Err((_, Finding::Distance(_)))),
            "{task:?}: {found:?}"
        );
    }
}

const NAMES: [&str; 29] = [
    "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9", "b10", "b11", "b12", "b13", "b14", "b15", "b16",
    "b17", "b18", "b19", "b20", "b21", "b22", "b23", "b24", "b25", "b26", "b27", "b28", "b29",
];

#[test]
fn a_budget_for_smaller_units_is_refused() {
    let table: Rows = vec![("a", 0.5, "a"), ("a", 0.5, "b")];
    let schema = Task::Binary.schema(2);
    let mut ledger = rich(AddRemove::row());
    let before = ledger.remaining();
    let refused = run(Task::Binary, &schema, &table, &mut ledger, Model::OneRow);
    assert!(matches!(refused, Err(Error::Misuse(_))), "{refused:?}");
    assert_eq!(ledger.remaining(), before, "nothing was charged");
    // A larger one pays for all of its rows.
    let mut ledger = rich(AddRemove::unit(rows(5)));
    run(Task::Binary, &schema, &table, &mut ledger, Model::OneRow).unwrap();
}

/// A column that the schema calls private and the budget does not, or people whom it tells apart by another column: refused
/// before anything is paid, by the check that is asked before rows are read and by the evaluation itself.
#[test]
fn a_budget_that_does_not_cover_the_schema_is_refused() {
    let schema = Task::Binary.schema(1);
    let model = constant(&schema);
    refused(
        &schema,
        &model,
        rich(ReplacePrivate::unit(rows(1), ["x"]).of("who")),
    );
    refused(
        &schema,
        &model,
        rich(ReplacePrivate::unit(rows(1), ["x", "y"]).of("who")),
    );
    refused(&schema, &model, rich(AddRemove::unit(rows(1))));
    refused(&schema, &model, rich(AddRemove::unit(rows(1)).of("x")));
    let two = Task::Binary.schema(2);
    refused(&two, &model, rich(AddRemove::unit(rows(1)).of("who")));
    let paid = |ledger: &mut Ledger<AddRemove>| {
        let evaluation = Evaluation::of(&schema).unwrap();
        evaluation.paid(&model, table(&schema), ledger, epsilon("0.5"))
    };
    paid(&mut rich(AddRemove::unit(rows(1)).of("who"))).unwrap();
}

fn refused<N: Neighbours>(schema: &Arc<Schema>, model: &privet::model::Model, mut ledger: Ledger<N>) {
    let evaluation = Evaluation::of(schema).unwrap();
    let relation = ledger.relation().relation();
    let before = ledger.remaining();
    let checked = evaluation.check(schema, &relation, epsilon("0.5"));
    assert!(
        matches!(checked, Err(Error::Misuse(_))),
        "{relation}: {checked:?}"
    );
    let paid = evaluation.paid(model, table(schema), &mut ledger, epsilon("0.5"));
    assert!(matches!(paid, Err(Error::Misuse(_))), "{relation}: {paid:?}");
    assert_eq!(ledger.remaining(), before, "nothing was charged");
}

fn table(schema: &Arc<Schema>) -> Table {
    super::tables::table(schema, &[("a", 0.5, "b")])
}

fn constant(schema: &Arc<Schema>) -> privet::model::Model {
    let plain = Plain::named("constant", "");
    let leave = Unprotected::unrecorded("judged", &AddRemove::row().relation(), "a test");
    plain.fit(table(schema), &leave).unwrap()
}

/// Shape, norm, noise and price follow from schema and relation; every row is in each histogram once.
#[test]
fn the_vector_is_the_one_that_is_priced() {
    let sizes = [2 * 42, 9 + 42, 64 + 41];
    for (task, size) in TASKS.into_iter().zip(sizes) {
        for k in [1, 3] {
            let steps = [
                (observed(AddRemove::unit(rows(k)), task, k, &vec![]), u64::from(k)),
                (
                    observed(Replace::unit(rows(k)), task, k, &all_rows(task, "a")),
                    2 * u64::from(k),
                ),
                (
                    observed(
                        ReplacePrivate::unit(rows(k), ["y"]),
                        task,
                        k,
                        &all_rows(task, "a"),
                    ),
                    2 * u64::from(k),
                ),
            ];
            for (seen, steps) in steps {
                let l1 = steps * task.entries();
                assert_eq!(seen.answer.len(), size);
                assert_eq!(seen.norm, Norm::L1(l1));
                assert_eq!(
                    seen.price.to_string(),
                    Epsilon::new(0.5)
                        .map(privet::privacy::account::Price::Pure)
                        .unwrap()
                        .to_string()
                );
                assert_eq!(
                    seen.mechanism,
                    format!("discrete Laplace noise of scale {}", 2 * l1)
                );
            }
        }
        let one = observed(AddRemove::row(), task, 1, &all_rows(task, "a")[..1].to_vec());
        assert_eq!(one.answer.iter().sum::<i64>(), task.entries() as i64);
        assert!(one.answer.iter().all(|count| (0..=1).contains(count)));
    }
}
