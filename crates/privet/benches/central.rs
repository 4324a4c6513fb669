//! What noise and ledger cost a curator: `cargo bench -p privet --bench central`.
//!
//! Boosting of 25 random planes on a generated table of 48,842 rows and 14 columns, everything private and partly private,
//! beside the same computation without noise and ledger: as many planes, whole weights, sums, updates and public refits, in
//! the same rounds. Both start from a table that was read, and take turns. The bar is 1.5 times the bare computation.
//! The other algorithms are there for their times alone. The ledger is a volatile one.
//! `PRIVET_ROWS` sets the number of rows, `PRIVET_EPSILON` what is spent.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use privet::boost::{Ensemble, Link, Member};
use privet::data::schema::{category, label, number};
use privet::data::{Cells, Document, Frame, Intake, Keep, Public, Schema, Table, Target};
use privet::learner::{Classes, Coordinate, Learner, Linear, Logistic, Plane, SILENT, Sample, Shape, Term};
use privet::model::Model;
use privet::privacy::account::{Caps, Price};
use privet::privacy::{
    Coins, Delta, Epsilon, Ledger, Neighbours, Randomness, Relation, Replace, Unprotected,
};
use privet::setting::central::{self, Budget, Plan};
use rayon::prelude::*;

const ROUNDS: u32 = 25;
const TURNS: usize = 15;
/// The weight of a row at the start.
const ONE: f64 = 4096.0;
/// Values of each category, none for numbers; the columns of `PUBLIC` are public in the second table.
const COLUMNS: [usize; 14] = [0, 8, 0, 16, 0, 7, 14, 6, 5, 2, 0, 0, 0, 41];
const PUBLIC: [usize; 5] = [1, 2, 8, 9, 13];
/// Columns with cells that are missing.
const GAPS: [usize; 3] = [1, 6, 13];

fn main() {
    let rows: usize = std::env::var("PRIVET_ROWS").map_or(48_842, |n| n.parse().unwrap());
    println!(
        "{rows} rows, {} columns, {} threads    median ms   best ms",
        COLUMNS.len(),
        rayon::current_num_threads()
    );
    for (case, partly) in [("all private", false), ("partly private", true)] {
        let table = table(&Arc::new(schema(partly)), rows);
        let relation = match table.schema().relation() {
            partly @ Relation::ReplacePrivate { .. } => partly,
            _ => Replace::row().relation(),
        };
        let brc = plan("brc", table.schema(), &relation, rows);
        let (mut ours, mut bare, mut taken) = (Vec::new(), Vec::new(), 0);
        for turn in 0..TURNS {
            let (one, other) = (table.clone(), table.clone());
            let started = Instant::now();
            let model = train(&brc, one);
            ours.push(started.elapsed().as_secs_f64());
            // The bare computation takes the public classifier in the same rounds.
            let schedule = schedule(&model);
            taken += schedule.iter().filter(|public| **public).count();
            let started = Instant::now();
            black_box(plain(other, &relation, &schedule, turn as u8));
            bare.push(started.elapsed().as_secs_f64());
        }
        let mut ratios: Vec<f64> = ours.iter().zip(&bare).map(|(ours, bare)| ours / bare).collect();
        ratios.sort_by(f64::total_cmp);
        show(&format!("{case}, brc"), ours);
        show(&format!("{case}, brc without noise and ledger"), bare);
        println!(
            "{case}: {:.2} times the bare computation (median of {TURNS} turns, {:.2} to {:.2}); the public classifier was taken in {:.1} of {ROUNDS} rounds",
            ratios[TURNS / 2],
            ratios[0],
            ratios[TURNS - 1],
            taken as f64 / TURNS as f64
        );
        for name in ["select", "histogram-bayes", "moment-select", "objective"] {
            let plan = plan(name, table.schema(), &relation, rows);
            let times = (0..5).map(|_| {
                let own = table.clone();
                let started = Instant::now();
                black_box(train(&plan, own));
                started.elapsed().as_secs_f64()
            });
            show(&format!("{case}, {name}"), times.collect());
        }
    }
}

fn show(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let middle = times[times.len() / 2];
    println!("{what:<50} {:>10.2} {:>10.2}", middle * 1e3, times[0] * 1e3);
}

fn plan(name: &str, schema: &Schema, relation: &Relation, rows: usize) -> Plan {
    let epsilon = std::env::var("PRIVET_EPSILON").map_or(1.0, |epsilon| epsilon.parse().unwrap());
    let budget = Budget::pure(Epsilon::new(epsilon).unwrap(), rows as u64).unwrap();
    let rounds = if name == "brc" {
        format!("rounds = {ROUNDS}")
    } else {
        String::new()
    };
    let job = Document::parse("bench", &format!("[algorithm]\nname = \"{name}\"\n{rounds}\n")).unwrap();
    let algorithm = central::read(&job.root().section("algorithm").unwrap()).unwrap();
    algorithm.plan(schema, relation, budget).unwrap()
}

/// A whole run: ledger, payment, rows, rounds, model.
fn train(plan: &Plan, table: Table) -> Model {
    let caps = Caps::from(Price::Pure(plan.epsilon()));
    let random = Randomness::from_os().unwrap();
    let ledger = Ledger::volatile(plan.relation().clone(), caps, Delta::ZERO, random).unwrap();
    plan.fit(table, ledger, SILENT).unwrap()
}

/// In which rounds the public classifier was taken: those that do not weigh the first column, which is private.
fn schedule(model: &Model) -> Vec<bool> {
    let is_public = |member: &Member| match &member.learner {
        Learner::Plane(plane) => matches!(&plane.linear.terms[0], Term::Slots(_)),
        _ => panic!("a plane"),
    };
    model.ensemble().members.iter().map(is_public).collect()
}

/// The columns that stay public, as whoever has a ledger open for that relation sees them.
fn public(table: &Table, relation: &Relation) -> Option<Public> {
    let random = Randomness::from_os().expect("randomness");
    let ledger = Ledger::volatile(relation.clone(), Caps::ZERO, Delta::ZERO, random).expect("a ledger");
    table.public(&ledger)
}

/// The same computation on the same rows, with nothing to protect anybody.
fn plain(table: Table, relation: &Relation, schedule: &[bool], seed: u8) -> Ensemble {
    let schema = table.schema().clone();
    let shapes = Shape::of(&schema);
    let known = public(&table, relation);
    let leave = Unprotected::unrecorded("bench", relation, "a benchmark");
    let cells = leave.reveal(table.into_cells());
    let Some(Target::Classes(classes)) = cells.target() else {
        panic!("classes");
    };
    let labels: Vec<bool> = classes.iter().map(|&class| class > 0).collect();
    let is_public = |place: &usize| known.as_ref().is_some_and(|known| known.places.contains(place));
    let coordinates: Vec<Coordinate> = (0..COLUMNS.len())
        .filter(|place| !is_public(place))
        .map(|feature| Coordinate {
            feature,
            shape: shapes[feature],
            values: COLUMNS[feature],
        })
        .collect();
    let numbers = |coordinate: &Coordinate| -> Vec<f32> {
        let feature = &cells.features()[coordinate.feature];
        (0..cells.rows()).map(|row| coordinate.at(feature, row)).collect()
    };
    let columns: Vec<Vec<f32>> = coordinates.par_iter().map(numbers).collect();
    let mut coins = Coins::from_seed([seed; 32]);
    let mut weights = vec![ONE as i64; labels.len()];
    let mut logarithms = vec![0.0_f64; labels.len()];
    let mut branch = known.as_ref().map(|known| Branch::new(known, &shapes, classes));
    let mut members = Vec::new();
    for &public in schedule {
        let mut uniform = || (2.0 * coins.unit() - 1.0) as f32;
        let slopes: Vec<f32> = coordinates.iter().map(|_| uniform()).collect();
        let intercept = uniform();
        let right = right(&columns, &labels, &slopes, intercept);
        let each = right.iter().zip(&weights);
        let sum: i64 = each
            .map(|(right, weight)| if *right { *weight } else { -weight })
            .sum();
        let edge = sum as f64 / (2.0 * ONE) / labels.len() as f64;
        if let Some(branch) = branch.as_mut().filter(|_| public) {
            members.push(member(branch.edge, branch.linear.clone()));
            branch.take();
            continue;
        }
        let slopes: Vec<f64> = slopes.iter().map(|&slope| f64::from(slope)).collect();
        let linear = Linear::of(&shapes, &coordinates, &slopes, f64::from(intercept));
        members.push(member(edge, linear));
        update(&mut weights, &mut logarithms, &right, edge);
    }
    Ensemble::new(Link::Vote, vec![0.0], members)
}

fn member(weight: f64, linear: Linear) -> Member {
    Member {
        weight,
        output: 0,
        learner: Learner::Plane(Plane { linear }),
    }
}

/// Which rows lie on their label's side, a block at a time.
fn right(columns: &[Vec<f32>], labels: &[bool], slopes: &[f32], intercept: f32) -> Vec<bool> {
    const BLOCK: usize = 1024;
    let mut right = vec![false; labels.len()];
    right
        .par_chunks_mut(BLOCK)
        .enumerate()
        .for_each(|(block, right)| {
            let mut sums = [intercept; BLOCK];
            for (column, &slope) in columns.iter().zip(slopes) {
                let rows = column[block * BLOCK..].iter().take(right.len());
                for (sum, x) in sums.iter_mut().zip(rows) {
                    *sum += slope * x;
                }
            }
            for ((right, sum), label) in right.iter_mut().zip(sums).zip(&labels[block * BLOCK..]) {
                *right = (sum >= 0.0) == *label;
            }
        });
    right
}

/// Rows that were wrong count more, within the clips.
fn update(weights: &mut [i64], logarithms: &mut [f64], right: &[bool], edge: f64) {
    let clips = (ONE / 2_f64.sqrt()).ceil() as i64..=(ONE * 2_f64.sqrt()).floor() as i64;
    let each = weights.iter_mut().zip(logarithms).zip(right);
    for ((weight, logarithm), _) in each.filter(|(_, right)| !**right) {
        let next = (ONE * (*logarithm + edge).exp()).round() as i64;
        if clips.contains(&next) {
            (*weight, *logarithm) = (next, *logarithm + edge);
        }
    }
}

/// The public classifier with its own weights.
struct Branch<'a> {
    known: &'a Public,
    all: &'a [Shape],
    classes: &'a [u16],
    weights: Vec<f64>,
    right: Vec<bool>,
    linear: Linear,
    edge: f64,
}

impl<'a> Branch<'a> {
    fn new(known: &'a Public, all: &'a [Shape], classes: &'a [u16]) -> Self {
        let linear = Linear {
            intercept: 0.0,
            terms: all
                .iter()
                .map(|shape| Term::Slots(vec![0.0; shape.slots]))
                .collect(),
        };
        let mut branch = Self {
            known,
            all,
            classes,
            weights: vec![1.0; classes.len()],
            right: Vec::new(),
            linear,
            edge: 0.0,
        };
        branch.fit();
        branch
    }

    fn fit(&mut self) {
        let cells: &Cells = &self.known.cells;
        let shapes: Vec<Shape> = self.known.places.iter().map(|&place| self.all[place]).collect();
        let sample = Sample::new(&shapes, cells, &self.weights).unwrap();
        let logistic = Logistic {
            l2: 1.0,
            iterations: 50,
        };
        let classes = Classes {
            of: self.classes,
            count: 2,
        };
        let fitted = logistic.classes(&sample, classes, SILENT).swap_remove(0);
        self.linear.intercept = fitted.intercept;
        for (&place, term) in self.known.places.iter().zip(&fitted.terms) {
            self.linear.terms[place] = term.clone();
        }
        let plane = Learner::Plane(Plane { linear: fitted });
        let vote = |row: usize| plane.vote(&shapes, cells.features(), row) > 0.0;
        let votes: Vec<bool> = (0..cells.rows()).into_par_iter().map(vote).collect();
        self.right = votes
            .iter()
            .zip(self.classes)
            .map(|(vote, &class)| *vote == (class > 0))
            .collect();
        let total: f64 = self.weights.iter().sum();
        let wrong = self.weights.iter().zip(&self.right).filter(|(_, right)| !**right);
        self.edge = 0.5 - wrong.map(|(weight, _)| weight).sum::<f64>() / total;
    }

    fn take(&mut self) {
        let factor = self.edge.exp();
        for (weight, _) in self
            .weights
            .iter_mut()
            .zip(&self.right)
            .filter(|(_, right)| !**right)
        {
            *weight *= factor;
        }
        self.fit();
    }
}

fn schema(partly: bool) -> Schema {
    let values = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    let columns = COLUMNS.iter().enumerate().map(|(i, &count)| {
        let column = match count {
            0 => number(format!("f{i}"), 0.0..=100.0),
            count => category(format!("f{i}"), values(count)),
        };
        column.private(!(partly && PUBLIC.contains(&i)))
    });
    let columns = columns.chain([label("label", values(2)).private(!partly)]);
    Schema::builder("bench")
        .columns(columns)
        .missing::<&str>([])
        .build()
        .unwrap()
}

/// Columns at random, and a label that follows from them with much noise.
fn table(schema: &Arc<Schema>, rows: usize) -> Table {
    let intake = Intake::everything(Arc::clone(schema), Keep::Values);
    let mut coins = Coins::from_seed([1; 32]);
    let mut cells = vec![Vec::with_capacity(rows); COLUMNS.len()];
    let mut labels = Vec::with_capacity(rows);
    for _ in 0..rows {
        let mut sum = 0.0;
        for (i, &count) in COLUMNS.iter().enumerate() {
            let slots = if count == 0 { 101 } else { count as u64 };
            let x = coins.below(slots);
            sum += x as f64 / (slots - 1) as f64 - 0.5;
            let is_missing = GAPS.contains(&i) && coins.below(20) == 0;
            cells[i].push((!is_missing).then_some(x));
        }
        let noise = 4.0 * coins.unit() - 2.0;
        labels.push(u8::from(sum + noise > 0.0));
    }
    let cells = cells.into_iter().enumerate();
    let frame = cells.fold(Frame::new(), |frame, (i, cells)| {
        frame.column(format!("f{i}"), cells)
    });
    Table::read(&intake, &frame.column("label", labels)).unwrap()
}
