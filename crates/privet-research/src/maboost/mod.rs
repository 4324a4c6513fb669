//! MABoost, figures 3 to 5, and what section 8 speaks of (as figure 8): two parties with two fifths of the rows each, tested on the rest.
//!
//! The algorithm runs in the clear: the protocol gives the same model to the last bit, which is tested elsewhere.

mod beyond;
mod costs;
mod floating;

use privet::Error;
use privet::boost::Thresholds;
use privet::data::{Cells, Table, Target};
use privet::learner::SILENT;
use privet::setting::plain::{Algorithm, Stumps};
use privet::setting::secure::clear::InTheClear;
use privet::setting::secure::{AttributeChoice, Classifier, CoefficientRule, CutPlaces, Round, Secure, Side};
use privet_node::progress::Progress;

use super::{Data, Experiment, Measured, coins, each_run, figure, judged, public, seed};
use floating::{Floating, Mutant};

const PAPER: &str = "maboost";
const ROUNDS: u32 = 200;
const TEST: &str = "test error %";
const TRAINING: &str = "training error %";
/// The rounds after which figure 4 looks.
const MARKS: [(&str, u32); 7] = [
    ("round 10", 10),
    ("round 25", 25),
    ("round 50", 50),
    ("round 100", 100),
    ("round 200", 200),
    ("round 300", 300),
    ("round 500", 500),
];

pub(super) fn experiments() -> Vec<Experiment> {
    vec![
        Experiment::new((PAPER, "figure 3", "ionosphere"), 200, |data, runs, bar| {
            compared(data, "ionosphere", runs, bar)
        }),
        Experiment::new((PAPER, "figure 4", "ionosphere"), 200, curves),
        Experiment::new((PAPER, "figure 5", "ionosphere"), 4, four_runs),
        Experiment::new((PAPER, "table 5", "ionosphere"), 3, costs::measured),
        Experiment::new((PAPER, "figure 8", "ionosphere"), 200, beyond::measured),
        Experiment::new((PAPER, "figure 8", "pendigits"), 1, beyond::one_versus_all),
        Experiment::new((PAPER, "figure 3", "adult"), 3, |data, runs, bar| {
            compared(data, "adult", runs, bar)
        }),
        Experiment::new((PAPER, "figure 3", "bank"), 3, |data, runs, bar| {
            compared(data, "bank", runs, bar)
        }),
    ]
}

/// The rows of one run: of two parties, and those to test on.
struct Split {
    parties: [Table; 2],
    train: Table,
    test: Table,
}

impl Split {
    fn new(table: &Table, run: u32) -> Result<Self, Error> {
        let permission = public(table.schema());
        let number = seed(u64::from(run) + 1);
        let (train, test) = table.hold_out(20, number, &permission);
        let two = std::num::NonZeroUsize::new(2).ok_or_else(|| Error::internal("two is not zero"))?;
        let parties = train.parties(two, number, &permission);
        let parties = <[Table; 2]>::try_from(parties);
        Ok(Self {
            parties: parties.map_err(|_| Error::internal("two parties have two tables"))?,
            train,
            test,
        })
    }

    fn cells(table: &Table) -> Cells {
        public(table.schema()).reveal(table.cells().clone())
    }

    /// The parties' rows for the algorithm in the clear.
    fn sides(&self, secure: &Secure) -> Result<InTheClear, Error> {
        let plan = secure.plan(self.train.schema())?;
        let [first, second] = &self.parties;
        let sides = [
            Side::new(&plan, Self::cells(first))?,
            Side::new(&plan, Self::cells(second))?,
        ];
        // The coins of a run are those of its rows: splits differ, and so do the orders of attributes.
        let coins = coins(fingerprint(&sides));
        Ok(InTheClear::new(&plan, sides, &coins))
    }
}

fn fingerprint(sides: &[Side; 2]) -> u64 {
    let classes = sides.iter().flat_map(Side::classes);
    classes.fold(7, |hash: u64, class| {
        hash.wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(u64::from(*class) + 1)
    })
}

/// A meeting that chooses uniformly among common attributes.
fn meeting(seed: u64) -> impl FnMut(&[bool], &[bool]) -> Option<usize> {
    let mut coins = coins(seed ^ 0x6d65_6574);
    move |first, second| {
        let both = (0..first.len()).filter(|&place| first[place] && second[place]);
        let both: Vec<usize> = both.collect();
        both.get(coins.below(both.len() as u64) as usize).copied()
    }
}

/// The scores of rows, in the unit of coefficients, and the share of rows whose sign is not that of their class.
struct Scores {
    cells: Cells,
    classes: Vec<u16>,
    scores: Vec<i64>,
}

impl Scores {
    fn new(cells: Cells) -> Self {
        let classes = match cells.target() {
            Some(Target::Classes(classes)) => classes.clone(),
            _ => Vec::new(),
        };
        Self {
            scores: vec![0; classes.len()],
            classes,
            cells,
        }
    }

    fn add(&mut self, round: &Round) {
        for (row, score) in self.scores.iter_mut().enumerate() {
            *score += i64::from(round.weak.vote(self.cells.features(), row)) * round.alpha.0;
        }
    }

    fn wrong(&self) -> usize {
        let rows = self.scores.iter().zip(&self.classes);
        rows.filter(|(score, class)| match class {
            0 => **score >= 0,
            _ => **score <= 0,
        })
        .count()
    }
}

fn percent(wrong: usize, rows: usize) -> f64 {
    100.0 * wrong as f64 / rows.max(1) as f64
}

/// What one run of the algorithm reached.
#[derive(Default)]
struct Reached {
    test: f64,
    training: f64,
    parties: [f64; 2],
    failures: f64,
    negative: f64,
    silent: f64,
}

fn reached(split: &Split, secure: &Secure, run: u32) -> Result<Reached, Error> {
    let mut boosting = split.sides(secure)?;
    let mut meeting = meeting(run.into());
    let mut scores =
        [&split.parties[0], &split.parties[1], &split.test].map(|table| Scores::new(Split::cells(table)));
    let (mut done, mut negative, mut silent) = (0, 0, 0.0);
    while boosting.round(&mut meeting) {
        for round in &boosting.rounds()[done..] {
            scores.iter_mut().for_each(|scores| scores.add(round));
        }
        done = boosting.rounds().len();
        let rates = boosting.rates();
        negative += usize::from(rates.wrong > rates.right);
        silent += rates.silent as f64 / rates.total().max(1) as f64;
    }
    let [first, second, test] = scores.each_ref().map(Scores::wrong);
    let [rows, others, tested] = scores.each_ref().map(|scores| scores.classes.len());
    Ok(Reached {
        test: percent(test, tested),
        training: percent(first + second, rows + others),
        parties: [percent(first, rows), percent(second, others)],
        // A run that ends early had no attribute left.
        failures: f64::from(*secure.rounds() - done as u32),
        negative: negative as f64,
        silent: 100.0 * silent / done.max(1) as f64,
    })
}

/// What the algorithm is compared in.
fn variants() -> Result<Vec<(&'static str, Secure)>, Error> {
    let published = || {
        Secure::builder()
            .rounds(ROUNDS)
            .thresholds(CutPlaces::Data)
            .attribute(AttributeChoice::Rendezvous)
    };
    let grid = || Secure::builder().rounds(ROUNDS);
    let joint = || grid().classifier(Classifier::Joint);
    Ok(vec![
        ("MABoost", published().build()?),
        (
            "by halves",
            published()
                .attribute(AttributeChoice::RendezvousByHalves)
                .build()?,
        ),
        (
            "public seed",
            published().attribute(AttributeChoice::Seed).build()?,
        ),
        ("retry", published().retry(true).build()?),
        (
            "whole class",
            published().attribute(AttributeChoice::All).build()?,
        ),
        ("grid-16", grid().build()?),
        (
            "grid-16, rounded",
            grid().coefficient(CoefficientRule::Rounded).build()?,
        ),
        (
            "grid-16, constant",
            grid().coefficient(CoefficientRule::Constant).build()?,
        ),
        ("joint grid-16", joint().attribute(AttributeChoice::All).build()?),
        (
            "joint, rounded",
            joint()
                .attribute(AttributeChoice::All)
                .coefficient(CoefficientRule::Rounded)
                .build()?,
        ),
        ("joint, one attribute", joint().build()?),
    ])
}

/// Stumps boosted by whoever has these rows, and their error.
fn alone(train: &Table, test: &Table) -> Result<f64, Error> {
    let stumps = Stumps::builder()
        .rounds(ROUNDS)
        .thresholds(Thresholds::Exact)
        .build()?;
    boosted(&stumps, train, test)
}

fn boosted(stumps: &Stumps, train: &Table, test: &Table) -> Result<f64, Error> {
    let model = stumps
        .plan(train.schema())?
        .fit(train.clone(), &public(train.schema()), SILENT)?;
    Ok(100.0 * (1.0 - figure(&judged(&model, test)?, "accuracy")))
}

/// Figure 3 after its last round, beside the union of both parties' rows, each party alone, and two mutants.
fn compared(data: &Data, name: &str, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let table = data.train(name, privet::data::Keep::Values)?;
    let variants = variants()?;
    let is_small = name == "ionosphere";
    let steps = variants.len() as u64 + 4;
    let mut all = Vec::new();
    let mut published = Vec::new();
    for (done, (method, secure)) in variants.iter().enumerate() {
        bar.at(done as u64, steps);
        let found = each_run(runs, |run| reached(&Split::new(&table, run)?, secure, run))?;
        let of = |value: fn(&Reached) -> f64| found.iter().map(value).collect::<Vec<f64>>();
        let measured = |metric, value| Measured::new(method, None, metric, of(value));
        all.push(measured(TEST, |reached| reached.test));
        all.push(measured(TRAINING, |reached| reached.training));
        all.push(measured("rounds missing", |reached| reached.failures));
        all.push(measured("negative edges", |reached| reached.negative));
        if *method == "MABoost" {
            all.push(measured("Alice's training error %", |reached| reached.parties[0]));
            all.push(measured("Bob's training error %", |reached| reached.parties[1]));
            all.push(measured("abstention %", |reached| reached.silent));
            published = of(|reached| reached.test);
        }
    }
    let difference = |method, values: &[f64], less: &[f64]| {
        let pairs = values.iter().zip(less);
        Measured::new(
            method,
            None,
            "test error, points",
            pairs.map(|(one, other)| one - other),
        )
    };
    bar.at(steps - 4, steps);
    let union = each_run(runs, |run| {
        let split = Split::new(&table, run)?;
        alone(&split.train, &split.test)
    })?;
    all.push(difference("MABoost - union", &published, &union));
    all.push(Measured::new("union AdaBoost", None, TEST, union));
    bar.at(steps - 3, steps);
    for (place, method) in ["Alice alone", "Bob alone"].into_iter().enumerate() {
        let values = each_run(runs, |run| {
            let split = Split::new(&table, run)?;
            alone(&split.parties[place], &split.test)
        })?;
        all.push(Measured::new(method, None, TEST, values));
    }
    if !is_small {
        return Ok(all);
    }
    // Mutants are compared with the same program without a mutation, on the same attributes.
    let mut unchanged = Vec::new();
    for (mutant, method, less) in [
        (Mutant::None, "floating point", "floating point - MABoost"),
        (
            Mutant::PrintedUpdate,
            "printed update",
            "printed update - floating point",
        ),
        (
            Mutant::NoConstants,
            "no constants",
            "no constants - floating point",
        ),
    ] {
        bar.at(steps - 2, steps);
        let found = each_run(runs, |run| {
            let split = Split::new(&table, run)?;
            let parties = split.parties.each_ref().map(Split::cells);
            Ok(Floating::new(&parties, mutant).test_error(ROUNDS, &Split::cells(&split.test), run))
        })?;
        if mutant == Mutant::None {
            all.push(difference(less, &found, &published));
            unchanged.clone_from(&found);
        } else {
            all.push(difference(less, &found, &unchanged));
        }
        all.push(Measured::new(method, None, TEST, found));
    }
    Ok(all)
}

/// Figure 4: errors over 500 rounds.
fn curves(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let table = data.train("ionosphere", privet::data::Keep::Values)?;
    let secure = Secure::builder()
        .rounds(500)
        .thresholds(CutPlaces::Data)
        .attribute(AttributeChoice::Rendezvous)
        .build()?;
    bar.at(0, 1);
    let found = each_run(runs, |run| curve(&Split::new(&table, run)?, &secure, run))?;
    let mut all = Vec::new();
    for (place, (method, _)) in MARKS.into_iter().enumerate() {
        let of = |which: usize| found.iter().map(move |curve| curve[place][which]);
        all.push(Measured::new(method, None, TEST, of(1)));
        all.push(Measured::new(method, None, TRAINING, of(0)));
    }
    Ok(all)
}

/// Training and test error at each mark.
fn curve(split: &Split, secure: &Secure, run: u32) -> Result<Vec<[f64; 2]>, Error> {
    let rounds = split.sides(secure)?.finish(&mut meeting(run.into()));
    let mut scores = [&split.train, &split.test].map(|table| Scores::new(Split::cells(table)));
    let mut found = Vec::new();
    for (number, round) in (1..).zip(&rounds) {
        scores.iter_mut().for_each(|scores| scores.add(round));
        if MARKS.iter().any(|(_, mark)| *mark == number) {
            found.push(
                scores
                    .each_ref()
                    .map(|scores| percent(scores.wrong(), scores.classes.len())),
            );
        }
    }
    let last = found.last().copied().unwrap_or([f64::NAN; 2]);
    found.resize(MARKS.len(), last);
    Ok(found)
}

/// Figure 5: runs on the same rows that differ in which attributes were met at.
fn four_runs(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let table = data.train("ionosphere", privet::data::Keep::Values)?;
    let (_, secure) = variants()?.swap_remove(0);
    bar.at(0, 1);
    let split = Split::new(&table, 0)?;
    let found = each_run(runs, |run| {
        let rounds = split.sides(&secure)?.finish(&mut meeting(u64::from(run) + 1000));
        let mut scores = [&split.train, &split.test].map(|table| Scores::new(Split::cells(table)));
        let mut vanished = f64::NAN;
        for (number, round) in (1..).zip(&rounds) {
            scores.iter_mut().for_each(|scores| scores.add(round));
            if vanished.is_nan() && scores[0].wrong() == 0 {
                vanished = f64::from(number);
            }
        }
        let [training, test] = scores
            .each_ref()
            .map(|scores| percent(scores.wrong(), scores.classes.len()));
        Ok([vanished, training, test])
    })?;
    let of = |which: usize| found.iter().map(move |run| run[which]);
    Ok(vec![
        Measured::new("MABoost", None, "rounds until no training error", of(0)),
        Measured::new("MABoost", None, TRAINING, of(1)),
        Measured::new("MABoost", None, TEST, of(2)),
    ])
}
