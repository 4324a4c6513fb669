//! Schemas and tables for tests.

use std::sync::Arc;

use privet::Error;
use privet::data::schema::{AnyColumn, category, label, number, ordinal};
use privet::data::{Cell, Document, Intake, Keep, Schema, Table};
use privet::learner::SILENT;
use privet::model::Model;
use privet::privacy::{Coins, Unprotected};
use privet::setting::plain;

/// Numbers have as many bins as by default, and no other number of them for trees: a table is read alike for every algorithm.
pub(crate) fn schema<C: Into<AnyColumn>>(columns: impl IntoIterator<Item = C>) -> Schema {
    let schema = Schema::builder("test").columns(columns).build().unwrap();
    schema.coarse(128)
}

/// A table of texts, line by line.
pub(crate) fn table<L: AsRef<[S]> + Sync, S: Cell>(schema: Schema, keep: Keep, lines: &[L]) -> Table {
    privet_testkit::rows::table(&Intake::everything(Arc::new(schema), keep), lines)
}

/// A table of which nothing was read.
pub(crate) fn unread(schema: Schema, keep: Keep) -> Table {
    Table::new(&Intake::everything(Arc::new(schema), keep), Vec::new())
}

/// What is to be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kinds {
    Classes(usize),
    Number,
}

/// A number, a category, an ordinal and a label.
pub(crate) fn mixed(kind: Kinds) -> Schema {
    let of = match kind {
        Kinds::Classes(2) => label("label", ["a", "b"]),
        Kinds::Classes(_) => label("label", ["a", "b", "c"]),
        Kinds::Number => label("label", -5.0..=5.0),
    };
    schema([
        number("size", -2.0..=2.0),
        category("colour", ["red", "green", "blue"]),
        ordinal("slope", ["low", "middle", "high"]),
        of,
    ])
}

/// Rows at random, always the same, whose label depends on every feature.
pub(crate) fn random(kind: Kinds, keep: Keep, rows: usize) -> Table {
    let mut coins = Coins::from_seed([7; 32]);
    let lines: Vec<[String; 4]> = (0..rows)
        .map(|_| {
            let size = coins.below(4001) as f64 / 1000.0 - 2.0;
            let (colour, slope) = (coins.below(5) as usize, coins.below(4) as usize);
            let noise = coins.below(2001) as f64 / 1000.0 - 1.0;
            let signal = size + [1.0, -1.0, 0.0, 0.5, -0.5][colour] + slope as f64 - 1.5 + noise;
            let label = match kind {
                Kinds::Classes(2) => if signal > 0.0 { "b" } else { "a" }.to_owned(),
                Kinds::Classes(_) => {
                    ["a", "b", "c"][usize::from(signal > -1.0) + usize::from(signal > 1.0)].to_owned()
                }
                Kinds::Number => signal.to_string(),
            };
            let size = if coins.below(10) == 0 {
                String::new()
            } else {
                size.to_string()
            };
            [
                size,
                ["red", "green", "blue", "octarine", ""][colour].into(),
                ["low", "middle", "high", "?"][slope].into(),
                label,
            ]
        })
        .collect();
    table(mixed(kind), keep, &lines)
}

/// An algorithm without protection, by its name in a job and lines with its parameters.
#[derive(Debug)]
pub(crate) struct Plain(Box<dyn plain::Algorithm>);

impl Plain {
    pub(crate) fn named(name: &str, lines: &str) -> Self {
        let text = format!("[algorithm]\nname = \"{name}\"\n{lines}\n");
        let document = Document::parse("job", &text).unwrap();
        let algorithm = plain::read(&document.root().section("algorithm").unwrap());
        document.finish().unwrap();
        Self(algorithm.unwrap())
    }

    pub(crate) fn plan(&self, schema: &Schema) -> Result<plain::Plan, Error> {
        self.0.plan(schema)
    }

    pub(crate) fn keep(&self) -> Keep {
        self.plan(&mixed(Kinds::Classes(2))).unwrap().keep()
    }

    pub(crate) fn fit(&self, table: Table, leave: &Unprotected) -> Result<Model, Error> {
        self.plan(table.schema())?.fit(table, leave, SILENT)
    }
}
