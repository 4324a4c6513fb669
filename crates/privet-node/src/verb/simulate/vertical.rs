//! `privet simulate` where columns lie apart: the protocol beside what it would be without noise, without bins, and without others.

use privet::Error;
use privet::data::schema::{Column, Kind};
use privet::data::{Schema, Table};
use privet::model::Model;
use privet::privacy::Unprotected;
use privet::setting::plain::{Algorithm, Constant, Plan};
use privet::setting::vertical::{Categories, Mechanism};

use super::{BECAUSE, LAST, Method, Trainer, answer, figures, judged, seed};
use crate::job::{Apart, Source};
use crate::progress::Progress;
use crate::verb::exit::Failure;
use crate::verb::request::Simulate;
use crate::verb::{Answer, leave};

pub(super) fn run(apart: &Apart, simulate: &Simulate) -> Result<Answer, Failure> {
    raw_rows(apart)?;
    let sources: Vec<&Source> = [&apart.label_holder.source]
        .into_iter()
        .chain(apart.feature_holders.iter().map(|holder| &holder.source))
        .collect();
    for source in &sources {
        leave::ask(&source.schema, "a simulation", simulate.not_protected)?;
        leave::own_terminal(&source.schema)?;
    }
    let bins = apart.vertical.desensitisation().bins;
    let mine = apart.label_holder.table()?;
    let read = |bins| -> Result<Vec<Table>, Error> {
        apart
            .feature_holders
            .iter()
            .map(|holder| holder.table(bins))
            .collect()
    };
    let (own, all) = (own_names(apart), names(apart).concat());
    let trees = |columns: &[String], schema: &Schema| apart.vertical.trees().among(columns).plan(schema);
    let (fine, coarse) = (read(None)?, read(Some(bins))?);
    apart.check_given(&mine, &coarse)?;
    let joint = |tables: &[Table]| Table::joint_schema([&mine].into_iter().chain(tables));
    let [fine_plan, coarse_plan] = [trees(&all, &joint(&fine)?)?, trees(&all, &joint(&coarse)?)?];
    if mine.schema().features().next().is_some() {
        trees(&own, mine.schema())?;
    }
    let leaves = leave::take_all(&sources, BECAUSE, &simulate.ledger)?;
    let rows = Rows {
        apart,
        leaves: &leaves,
        fine: join(&mine, fine, &leaves)?,
        coarse: join(&mine, coarse, &leaves)?,
        mine,
    };
    let schema = only(&rows.coarse, &own)?.schema().clone();
    let constant = Constant::default().plan(&schema)?;
    let alone = match schema.features().next() {
        Some(_) => trees(&own, &schema)?,
        None => constant.clone(),
    };
    let mut methods = [
        Method::new("vertical", "with the protocol"),
        Method::new("open", "all columns as they are"),
        Method::new("mapped", format!("in {bins} bins, no noise")),
        Method::new("own", format!("{} alone", apart.label_holder.name)),
        Method::new("constant", "the best constant"),
    ];
    let bar = Progress::steps("Simulating");
    for run in 0..simulate.runs {
        bar.at(run.into(), simulate.runs.into());
        let cut = (simulate.test, seed(simulate.seed.wrapping_add(run.into())));
        let now = rows.run(cut, [&fine_plan, &coarse_plan, &alone, &constant])?;
        methods
            .iter_mut()
            .zip(now)
            .for_each(|(method, figures)| method.runs.push(figures));
    }
    drop(bar);
    let who = format!("{} parties with columns of the same people", sources.len());
    Ok(answer(simulate, &who, &methods, LAST))
}

/// A model of flags that were drawn for each category cannot be given raw rows.
fn raw_rows(apart: &Apart) -> Result<(), Failure> {
    let mut all = apart.feature_holders.iter();
    let category = all.find_map(|holder| {
        let mut features = holder.source.schema.features();
        features.find(|column| matches!(column.kind, Kind::Category(_)))
    });
    match category {
        Some(column) if apart.vertical.desensitisation().categories != Categories::Response => {
            Err(Failure::usage(format!(
                "a simulation tests on raw rows, and of '{}' the model knows noisy flags only: simulate with categories = \"response\"",
                column.name
            )))
        }
        _ => Ok(()),
    }
}

/// The rows that all parties have.
struct Rows<'a> {
    apart: &'a Apart,
    leaves: &'a [Unprotected],
    mine: Table,
    /// With the bins of the schemas.
    fine: Table,
    /// With the bins that columns leave with.
    coarse: Table,
}

type Figures = Vec<(&'static str, f64)>;

impl Rows<'_> {
    /// Figures of all methods, in their order.
    fn run(&self, cut: (u8, [u8; 32]), plans: [&Plan; 4]) -> Result<[Figures; 5], Failure> {
        let [open, mapped, alone, constant] = plans;
        let leave = self.leave()?;
        let halves = |table: &Table| table.hold_out(cut.0, cut.1, leave);
        let (fine, fine_test) = halves(&self.fine);
        let (coarse, coarse_test) = halves(&self.coarse);
        let mut parts = coarse.columns(&names(self.apart))?.into_iter();
        let own = parts
            .next()
            .ok_or_else(|| Failure::usage("there is no label holder"))?;
        let own_test = only(&coarse_test, &own_names(self.apart))?;
        let model = self.apart.met.rehearse(own.clone(), parts.collect(), leave)?;
        let test = match self.apart.vertical.desensitisation().mechanism {
            // Its bins reach outside the domain, so that the same number has another bin.
            Mechanism::Piecewise { clipped: false } => halves(&self.as_read_by(&model)?).1,
            _ => coarse_test.clone(),
        };
        let test = only(&test, &known(&model))?;
        let judge = |plan, train, test: &Table| figures(&Trainer::Plain(plan), train, test, leave);
        Ok([
            judged(&model, &test, leave)?,
            judge(open, fine, &fine_test)?,
            judge(mapped, coarse, &coarse_test)?,
            judge(alone, own.clone(), &own_test)?,
            judge(constant, own, &own_test)?,
        ])
    }

    fn leave(&self) -> Result<&Unprotected, Failure> {
        self.leaves
            .first()
            .ok_or_else(|| Failure::usage("there is no party"))
    }

    /// All rows, with the model's own bins.
    fn as_read_by(&self, model: &Model) -> Result<Table, Failure> {
        let meant = |column: &Column| {
            let found = model.schema().features().find(|c| c.name == column.name);
            found.cloned().unwrap_or_else(|| column.clone())
        };
        let tables = self
            .apart
            .feature_holders
            .iter()
            .map(|holder| {
                let schema = &holder.source.schema;
                holder.table_as(schema.with_columns(schema.columns().iter().map(meant))?)
            })
            .collect::<Result<Vec<_>, Error>>()?;
        join(&self.mine, tables, self.leaves)
    }
}

/// The label holder's columns, its label included.
fn own_names(apart: &Apart) -> Vec<String> {
    let schema = &apart.label_holder.source.schema;
    let label = schema.label().map(|(column, _)| column);
    schema.features().chain(label).map(|c| c.name.clone()).collect()
}

/// The columns of each party.
fn names(apart: &Apart) -> Vec<Vec<String>> {
    let others = apart.feature_holders.iter();
    let others = others.map(|holder| {
        let features = holder.source.schema.features();
        features.map(|column| column.name.clone()).collect()
    });
    [own_names(apart)].into_iter().chain(others).collect()
}

/// The columns that a model knows, its label included.
fn known(model: &Model) -> Vec<String> {
    let label = model.schema().label().map(|(column, _)| column);
    let columns = model.schema().features().chain(label);
    columns.map(|column| column.name.clone()).collect()
}

fn only(table: &Table, names: &[String]) -> Result<Table, Failure> {
    let mut parts = table.columns(std::slice::from_ref(&names.to_vec()))?;
    parts.pop().ok_or_else(|| Failure::usage("there is no column"))
}

/// One table of the rows that all have.
fn join(mine: &Table, others: Vec<Table>, leaves: &[Unprotected]) -> Result<Table, Failure> {
    let tables: Vec<(Table, &Unprotected)> = [mine.clone()].into_iter().chain(others).zip(leaves).collect();
    Ok(Table::joined(&tables)?)
}
