//! Two or three parties with made-up people.

use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Schema, Table};
use privet::model::Model;
use privet::parameters::Builder;
use privet::party::{RunName, Simulated};
use privet::privacy::{Epsilon, Ledger, Neighbours, Relation, Unprotected};
use privet::setting::vertical::{
    Desensitisation, FeatureHolder, LabelHolder, Outcome, Party, Release, Vertical,
};

pub(crate) const BANK: &str = "dataset = \"bank\"\n[columns]\nwho = { type = \"id\" }\nage = { type = \"integer\", min = 18, max = 90 }\n\
     loan = { type = \"label\", values = [\"no\", \"yes\"] }\n";
pub(crate) const SHOP: &str = "dataset = \"shop\"\n[columns]\nclient = { type = \"id\" }\nspent = { type = \"number\", min = 0, max = 100 }\n\
     town = { type = \"category\", values = [\"a\", \"b\", \"c\"] }\n";
pub(crate) const CLUB: &str = "dataset = \"club\"\n[columns]\nmember = { type = \"id\" }\nvisits = { type = \"integer\", min = 0, max = 9 }\n\
     vip = { type = \"flag\" }\n";

pub(crate) fn table(schema: &str, rows: &[String], ids: Option<&str>) -> Table {
    let schema = Schema::from_toml("schema", schema).unwrap();
    let schema = match schema.label() {
        Some(_) => Arc::new(schema),
        None => Arc::new(schema.coarse(10)),
    };
    read(Intake::everything(schema, Keep::Bins), rows, ids)
}

pub(crate) fn read(intake: Intake, rows: &[String], ids: Option<&str>) -> Table {
    let intake = match ids {
        Some(column) => intake.aligned_by(column).unwrap(),
        None => intake,
    };
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.split(',').collect()).collect();
    privet_testkit::rows::table(&intake, &rows)
}

/// Numbers that look random and are the same every time.
fn scatter(n: u64) -> u64 {
    let mut x = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5555;
    x ^= x >> 31;
    x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

/// Whether person `n` takes a loan depends on what the shop knows.
fn spent(n: u64) -> u64 {
    scatter(n) % 100
}

fn loan(n: u64) -> &'static str {
    if spent(n) + scatter(n + 7) % 20 > 60 {
        "yes"
    } else {
        "no"
    }
}

/// Whether a person takes a loan.
pub(crate) fn loans(n: u64) -> bool {
    loan(n) == "yes"
}

pub(crate) fn bank(people: impl Iterator<Item = u64>) -> Vec<String> {
    people
        .map(|n| format!("p{n},{},{}", 18 + scatter(n + 3) % 70, loan(n)))
        .collect()
}

pub(crate) fn shop(people: impl Iterator<Item = u64>) -> Vec<String> {
    people
        .map(|n| {
            format!(
                "p{n},{},{}",
                spent(n),
                ["a", "b", "c"][scatter(n + 1) as usize % 3]
            )
        })
        .collect()
}

pub(crate) fn club(people: impl Iterator<Item = u64>) -> Vec<String> {
    people
        .map(|n| format!("p{n},{},{}", scatter(n + 2) % 10, scatter(n + 9) % 2))
        .collect()
}

/// Whole people, as a model's schema has them.
pub(crate) fn joint(people: std::ops::Range<u64>, schema: &Schema) -> Vec<String> {
    let all = |n: u64| {
        let cell = |name: &str| match name {
            "age" => (18 + scatter(n + 3) % 70).to_string(),
            "spent" => spent(n).to_string(),
            "town" => ["a", "b", "c"][scatter(n + 1) as usize % 3].into(),
            "loan" => loan(n).into(),
            _ => String::new(),
        };
        let cells = schema.columns().iter().map(|column| cell(&column.name));
        cells.collect::<Vec<String>>().join(",")
    };
    people.map(all).collect()
}

pub(crate) fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

pub(crate) fn changes(text: &str) -> Builder<Desensitisation> {
    Desensitisation::builder().epsilon(epsilon(text))
}

pub(crate) fn with(changes: Builder<Desensitisation>) -> Builder<Vertical> {
    Vertical::builder()
        .desensitisation(changes.build().unwrap())
        .most_ids(5000)
}

pub(crate) fn builder(text: &str) -> Builder<Vertical> {
    with(changes(text))
}

/// A label holder whose plan is made for its table.
pub(crate) fn label_holder(vertical: &Vertical, table: Table) -> Result<Party, Error> {
    LabelHolder::party(vertical.label_holder(table.schema())?, table, leave())
}

/// A feature holder whose plan is made for its table.
pub(crate) fn feature_holder<N: Neighbours>(
    vertical: &Vertical,
    table: Table,
    ledger: Ledger<N>,
    run: &RunName,
) -> Result<Party, Error> {
    FeatureHolder::party(vertical.feature_holder(table.schema())?, table, ledger, run)
}

/// Released columns, by a plan that is made for their table.
pub(crate) fn keep<N: Neighbours>(
    vertical: &Vertical,
    table: &Table,
    ledger: Ledger<N>,
) -> Result<Release, Error> {
    let plan = vertical.desensitisation().plan(table.schema())?;
    Release::keep(&plan, table, ledger)
}

pub(crate) fn rehearsed(
    vertical: &Vertical,
    own: Table,
    others: Vec<Table>,
) -> Result<Simulated<Outcome>, Error> {
    let plan = vertical.plan(own.schema(), others.iter().map(Table::schema))?;
    plan.rehearsed(own, others, &leave())
}

pub(crate) fn rehearse(vertical: &Vertical, own: Table, others: Vec<Table>) -> Model {
    let outcomes = rehearsed(vertical, own, others).unwrap().all().unwrap();
    outcomes.into_iter().find_map(Outcome::into_model).unwrap()
}

pub(crate) fn leave() -> Unprotected {
    let relation = Relation::Replace {
        rows: std::num::NonZeroU32::MIN,
        unit: None,
    };
    Unprotected::unrecorded("bank", &relation, "made-up people")
}
