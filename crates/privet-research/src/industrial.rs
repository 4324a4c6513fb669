//! Table 3 of OpBoost: its industrial data set is not public, so rows of its shape are generated.
//!
//! 293,600 rows; 38 numbers of ten slots, and categories that come to 262 flags in unary code. A label holder has the numbers to be
//! predicted and nothing else. Squared errors are of clean rows that nobody trained on.

use std::sync::Arc;
use std::time::Instant;

use privet::Error;
use privet::data::{Intake, Keep, Schema, Table};
use privet::learner::SILENT;
use privet::party::PartyId;
use privet::privacy::mechanism::ordered::{Alignment as Blocks, Route};
use privet::privacy::{Coins, Epsilon, Relation, Unprotected};
use privet::setting::plain::{Algorithm, Constant, Trees};
use privet::setting::vertical::{
    Alignment, Budget, Categories, Desensitisation, LABEL_HOLDER, Mechanism, Outcome, Vertical,
};

use super::{Data, Experiment, Measured, figure, judged};
use privet_node::progress::Progress;

/// Rows to train on; a tenth as many are for testing.
pub const ROWS: usize = 293_600;
const NUMBERS: usize = 38;
/// Flags of each category: one for each value, one for what is undeclared, one for what is missing.
const FLAGS: [usize; 52] = {
    let mut flags = [5; 52];
    flags[0] = 6;
    flags[1] = 6;
    flags
};
const EPSILONS: [f64; 2] = [0.64, 1.28];

/// Made-up rows: slots of numbers and categories, row by row, and labels.
pub struct IndustrialRows {
    slots: Vec<u8>,
    labels: Vec<f32>,
}

impl IndustrialRows {
    /// So many rows, the same for the same seed.
    pub fn made(rows: usize, seed: u8) -> Self {
        let mut coins = Coins::from_seed([seed; 32]);
        let mut made = Self {
            slots: Vec::with_capacity(rows * (NUMBERS + FLAGS.len())),
            labels: Vec::with_capacity(rows),
        };
        for _ in 0..rows {
            let row = made.slots.len();
            // Columns hang together, as they do in life.
            let mood = coins.below(10);
            for column in 0..NUMBERS {
                let near = (mood + coins.below(4)).min(9);
                let slot = if column % 2 == 0 { near } else { coins.below(10) };
                made.slots.push(slot as u8);
            }
            for flags in FLAGS {
                let values = flags as u64 - 2;
                let alike = coins.below(2) == 0;
                let slot = if alike { mood % values } else { coins.below(values) };
                made.slots.push(slot as u8);
            }
            let x = |column: usize| f64::from(made.slots[row + column]);
            let is = |yes: bool| f64::from(u8::from(yes));
            let signal = x(0) + 0.5 * x(1) * is(x(2) > 4.0) + 2.0 * is(x(NUMBERS) == 1.0);
            let noise: f64 = (0..4).map(|_| coins.unit() - 0.5).sum();
            made.labels.push((signal + 2.0 * noise) as f32);
        }
        made
    }

    /// As others train on them: a byte for each slot or flag, row by row.
    pub fn flat(&self) -> (Vec<u8>, &[f32]) {
        let mut flat = Vec::new();
        for row in self.slots.chunks(NUMBERS + FLAGS.len()) {
            flat.extend(&row[..NUMBERS]);
            for (slot, flags) in row[NUMBERS..].iter().zip(FLAGS) {
                flat.extend((0..flags).map(|flag| u8::from(usize::from(*slot) == flag)));
            }
        }
        (flat, &self.labels)
    }

    /// The label holder's table and the feature holder's.
    ///
    /// # Errors
    /// None that a caller could cause.
    pub fn tables(&self) -> Result<[Table; 2], Error> {
        let own = read(&format!("dataset = \"own\"\n[columns]\n{LABEL}"))?;
        let mut y = own.columns();
        self.label(&mut y[0]);
        let other = read(&format!("dataset = \"other\"\n[columns]\n{}", columns()))?;
        let mut x = other.columns();
        self.features(&mut x);
        let (y, x) = (own.piece(y)?, other.piece(x)?);
        Ok([Table::new(&own, vec![y]), Table::new(&other, vec![x])])
    }

    fn label(&self, column: &mut privet::data::ColumnBuilder<'_>) {
        column.numbers(self.labels.iter().map(|label| Some(f64::from(*label))));
    }

    fn features(&self, columns: &mut [privet::data::ColumnBuilder<'_>]) {
        let width = NUMBERS + FLAGS.len();
        for (place, column) in columns.iter_mut().enumerate().take(width) {
            let cells = self.slots.iter().skip(place).step_by(width);
            column.integers(cells.map(|slot| Some(i64::from(*slot))));
        }
    }

    /// Whole rows, by a model's schema: flags where it has flags.
    fn whole(&self, schema: &Schema) -> Result<Table, Error> {
        let intake = Intake::everything(Arc::new(schema.clone()), Keep::Bins);
        let mut columns = intake.columns();
        let (flat, _) = self.flat();
        let last = columns.len() - 1;
        if last == NUMBERS + FLAGS.len() {
            self.features(&mut columns[..last]);
        } else {
            for (place, column) in columns[..last].iter_mut().enumerate() {
                let cells = flat.iter().skip(place).step_by(last);
                column.integers(cells.map(|cell| Some(i64::from(*cell))));
            }
        }
        self.label(&mut columns[last]);
        let piece = intake.piece(columns)?;
        Ok(Table::new(&intake, vec![piece]))
    }
}

const LABEL: &str = "y = { type = \"label\", min = -10, max = 30 }\n";

fn columns() -> String {
    let number = |at: usize| format!("n{at} = {{ type = \"integer\", min = 0, max = 9 }}\n");
    let category = |(at, flags): (usize, &usize)| {
        let values: Vec<String> = (0..flags - 2).map(|value| format!("\"{value}\"")).collect();
        format!(
            "c{at} = {{ type = \"category\", values = [{}] }}\n",
            values.join(", ")
        )
    };
    let numbers = (0..NUMBERS).map(number);
    numbers.chain(FLAGS.iter().enumerate().map(category)).collect()
}

fn read(text: &str) -> Result<Intake, Error> {
    Ok(Intake::everything(
        Arc::new(Schema::from_toml("schema", text)?),
        Keep::Bins,
    ))
}

/// Made-up people need no protection.
fn permission() -> Unprotected {
    let relation = Relation::Replace {
        rows: std::num::NonZeroU32::MIN,
        unit: None,
    };
    Unprotected::unrecorded("own", &relation, "generated rows")
}

/// The protocol as the paper ran it: full ε for every column, unary codes, 80 trees of depth 3.
///
/// # Errors
/// [`Error::Parameter`] for what cannot be.
pub fn vertical(mechanism: Mechanism, epsilon: f64) -> Result<Vertical, Error> {
    let changes = Desensitisation::builder()
        .epsilon(Epsilon::new(epsilon)?)
        .budget(Budget::Full)
        .mechanism(mechanism)
        .categories(Categories::SymmetricUnary);
    Vertical::builder()
        .desensitisation(changes.build()?)
        .alignment(Alignment::Given)
        .build()
}

/// One run of the protocol.
pub struct IndustrialRun {
    /// The model.
    pub model: privet::model::Model,
    /// Seconds from tables in memory to the model.
    pub seconds: f64,
    /// Bytes from the feature holder to the label holder, and back.
    pub bytes: [u64; 2],
}

/// Runs the protocol between the two parties.
///
/// # Errors
/// Whatever hinders it.
pub fn run(vertical: &Vertical, [own, other]: [Table; 2]) -> Result<IndustrialRun, Error> {
    let start = Instant::now();
    let plan = vertical.plan(own.schema(), [other.schema()])?;
    let done = plan.rehearsed(own, vec![other], &permission())?;
    let seconds = start.elapsed().as_secs_f64();
    let bytes = [
        done.bytes(PartyId(1), LABEL_HOLDER),
        done.bytes(LABEL_HOLDER, PartyId(1)),
    ];
    let trained = done.all()?.into_iter().find_map(Outcome::into_model);
    let model = trained.ok_or_else(|| Error::internal("the label holder trains a model"))?;
    Ok(IndustrialRun {
        model,
        seconds,
        bytes,
    })
}

fn methods() -> Vec<(&'static str, Mechanism)> {
    let blocks = Blocks::FirstSlot;
    let adjusted = |alpha_thousandths| Mechanism::AdjustedMap {
        width: 2,
        alpha_thousandths,
        blocks,
    };
    vec![
        ("local-map", Mechanism::LocalMap { width: 2, blocks }),
        ("adj-map, a = .5", adjusted(500)),
        ("global-map", Mechanism::GlobalMap(Route::BoundedLaplace)),
        (
            "global-map, exponential",
            Mechanism::GlobalMap(Route::Exponential),
        ),
        ("adj-map, a = 2", adjusted(2000)),
        ("piecewise", Mechanism::Piecewise { clipped: false }),
        ("clamped", Mechanism::ClampedGeometric),
    ]
}

pub(super) fn experiments() -> Vec<Experiment> {
    vec![Experiment::new(("opboost", "table 3", "generated"), 1, measure)]
}

fn measure(_: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let mut all: Vec<Measured> = Vec::new();
    let mut note = |method, epsilon, metric, value| {
        let found = all
            .iter_mut()
            .find(|m| (m.method, m.epsilon, m.metric) == (method, epsilon, metric));
        match found {
            Some(measured) => measured.values.push(value),
            None => all.push(Measured::new(method, epsilon, metric, [value])),
        }
    };
    let steps = u64::from(runs) * (methods().len() * EPSILONS.len()) as u64;
    let mut done = 0;
    for run in 0..runs {
        let rows = IndustrialRows::made(ROWS, 2 * run as u8);
        let test = IndustrialRows::made(ROWS / 10, 2 * run as u8 + 1);
        let trees = Trees::builder().rounds(80).depth(3).build()?;
        let plain = open(&trees, &rows, &test)?;
        let constant = open(&Constant::default(), &rows, &test)?;
        note("constant", None, "MSE", constant);
        note("plain", None, "MSE", plain);
        for (method, mechanism) in methods() {
            for epsilon in EPSILONS {
                bar.at(done, steps);
                done += 1;
                let trained = self::run(&vertical(mechanism.clone(), epsilon)?, rows.tables()?)?;
                let error = squared(&trained.model, &test.whole(trained.model.schema())?)?;
                note(method, Some(epsilon), "MSE", error);
                note(method, Some(epsilon), "MSE / plain", error / plain);
                note(method, Some(epsilon), "seconds", trained.seconds);
                note(method, Some(epsilon), "MB to A", trained.bytes[0] as f64 / 1e6);
                note(method, Some(epsilon), "bytes to B", trained.bytes[1] as f64);
            }
        }
    }
    Ok(all)
}

/// Trained on slots and categories as they are: all in one place, without noise.
fn open(algorithm: &dyn Algorithm, rows: &IndustrialRows, test: &IndustrialRows) -> Result<f64, Error> {
    let text = format!("dataset = \"all\"\n[columns]\n{}{LABEL}", columns());
    let schema = Schema::from_toml("schema", &text)?;
    let model = algorithm
        .plan(&schema)?
        .fit(rows.whole(&schema)?, &permission(), SILENT)?;
    squared(&model, &test.whole(&schema)?)
}

fn squared(model: &privet::model::Model, test: &Table) -> Result<f64, Error> {
    Ok(figure(&judged(model, test)?, "MSE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_is_the_papers() {
        assert_eq!(NUMBERS + FLAGS.iter().sum::<usize>(), 300);
        let rows = IndustrialRows::made(50, 1);
        let (flat, labels) = rows.flat();
        assert_eq!((flat.len(), labels.len()), (50 * 300, 50));
        let trees = Trees::builder().rounds(2).build().expect("parameters");
        let changes = Desensitisation::builder()
            .epsilon(Epsilon::new(1.0).expect("an ε"))
            .categories(Categories::SymmetricUnary);
        let small = Vertical::builder()
            .desensitisation(changes.build().expect("parameters"))
            .alignment(Alignment::Given)
            .trees(trees);
        let small = small.build().expect("parameters");
        let run = run(&small, rows.tables().expect("tables")).expect("a model");
        assert_eq!(run.model.schema().features().count(), 300);
        assert!(
            squared(&run.model, &rows.whole(run.model.schema()).expect("rows")).is_ok_and(f64::is_finite)
        );
    }
}
