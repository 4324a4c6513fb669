//! `privet simulate` where columns lie apart: the protocol beside what it would be without noise, without bins, and without others.

use std::sync::Arc;

use privet::Error;
use privet::data::schema::{Column, Kind};
use privet::data::{Intake, Keep, Schema, Table};
use privet::model::Model;
use privet::parameters::Builder;
use privet::privacy::Unprotected;
use privet::setting::plain::{Algorithm, Constant, Plan};
use privet::setting::vertical::{self, Alignment, Categories, Mechanism};

use super::{BECAUSE, LAST, MethodFigures, SimulatedMethod, Trainer, allowed, answer, figures, judged, seed};
use crate::job::{Source, VerticalJob};
use crate::progress::{Progress, going_on};
use crate::verb::exit::Failure;
use crate::verb::request::Simulate;
use crate::verb::{Answer, permission};

pub(super) fn run(parties: &VerticalJob, simulate: &Simulate) -> Result<Answer, Failure> {
    raw_rows(parties)?;
    let sources: Vec<&Source> = [&parties.label_holder.source]
        .into_iter()
        .chain(parties.feature_holders.iter().map(|holder| &holder.source))
        .collect();
    for source in &sources {
        allowed(source, simulate)?;
    }
    let own = &parties.label_holder;
    let mine = own.read(own.plan.reads())?;
    let (mut fine, mut coarse) = (Vec::new(), Vec::new());
    for holder in &parties.feature_holders {
        let schema = Arc::clone(&holder.source.schema);
        fine.push(holder.read(Intake::everything(schema, Keep::Bins))?);
        coarse.push(holder.read(holder.plan.columns().reads())?);
    }
    parties.check_rows(&mine, &coarse)?;
    let joint = |tables: &[Table]| Table::joint_schema([&mine].into_iter().chain(tables));
    let plans = Plans::new(parties, &joint(&fine)?, &joint(&coarse)?)?;
    let permissions = permission::take_all(&sources, BECAUSE, &simulate.ledger)?;
    let rows = CommonRows {
        parties,
        permissions: &permissions,
        fine: join(&mine, fine, &permissions)?,
        coarse: join(&mine, coarse, &permissions)?,
        mine,
    };
    let bins = parties.vertical.desensitisation().bins();
    let mut methods = [
        SimulatedMethod::new("vertical", "with the protocol"),
        SimulatedMethod::new("open", "all columns as they are"),
        SimulatedMethod::new("mapped", format!("in {bins} bins, no noise")),
        SimulatedMethod::new("own", format!("{} alone", own.name)),
        SimulatedMethod::new("constant", "the best constant"),
    ];
    let bar = Progress::steps("Simulating");
    for run in 0..simulate.runs {
        going_on()?;
        bar.at(run.into(), simulate.runs.into());
        let cut = (simulate.test, seed(simulate.seed.wrapping_add(run.into())));
        let now = rows.run(cut, &plans)?;
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
pub(super) fn raw_rows(parties: &VerticalJob) -> Result<(), Failure> {
    let mut all = parties.feature_holders.iter();
    let category = all.find_map(|holder| {
        let mut features = holder.source.schema.features();
        features.find(|column| matches!(column.kind, Kind::Category(_)))
    });
    match category {
        Some(column) if *parties.vertical.desensitisation().categories() != Categories::Response => {
            Err(Failure::usage(format!(
                "a simulation tests on raw rows, and the model has only noisy flags of '{}': simulate with categories = \"response\"",
                column.name
            )))
        }
        _ => Ok(()),
    }
}

/// What is trained in every run, planned before the first.
struct Plans {
    /// The protocol, between parties whose rows were matched before.
    protocol: vertical::Plan,
    /// Trees over all columns, with the bins of the schemas.
    fine: Plan,
    /// The same with the bins that are sent.
    coarse: Plan,
    /// Trees over the label holder's columns.
    alone: Plan,
    constant: Plan,
}

impl Plans {
    fn new(parties: &VerticalJob, fine: &Schema, coarse: &Schema) -> Result<Self, Failure> {
        let nobody = |schema: &Schema| {
            let intake = Intake::everything(Arc::new(schema.clone()), Keep::Bins);
            let piece = intake.piece(intake.columns())?;
            Ok::<Table, Error>(Table::new(&intake, vec![piece]))
        };
        let names = names(parties);
        let parts = nobody(coarse)?.columns(&names)?;
        let (own, others) = (parts[0].schema(), parts[1..].iter().map(Table::schema));
        let met = Builder::of(parties.vertical.clone()).alignment(Alignment::Given);
        let trees =
            |columns: &[String], schema: &Schema| parties.vertical.trees().among(columns).plan(schema);
        let constant = Constant::default().plan(own)?;
        let all = names.concat();
        Ok(Self {
            protocol: met.build()?.plan(own, others)?,
            fine: trees(&all, fine)?,
            coarse: trees(&all, coarse)?,
            alone: match own.features().next() {
                Some(_) => trees(&names[0], own)?,
                None => constant.clone(),
            },
            constant,
        })
    }
}

/// The rows that all parties have.
struct CommonRows<'a> {
    parties: &'a VerticalJob,
    permissions: &'a [Unprotected],
    mine: Table,
    /// With the bins of the schemas.
    fine: Table,
    /// With the bins that are sent.
    coarse: Table,
}

impl CommonRows<'_> {
    /// Figures of all methods, in their order.
    fn run(&self, cut: (u8, [u8; 32]), plans: &Plans) -> Result<[MethodFigures; 5], Failure> {
        let permission = self
            .permissions
            .first()
            .ok_or_else(|| Error::internal("there is a label holder"))?;
        let halves = |table: &Table| table.hold_out(cut.0, cut.1, permission);
        let (fine, fine_test) = halves(&self.fine);
        let (coarse, coarse_test) = halves(&self.coarse);
        let names = names(self.parties);
        let mut parts = coarse.columns(&names)?;
        let others = parts.split_off(1);
        let own = parts
            .pop()
            .ok_or_else(|| Error::internal("there is a label holder"))?;
        let own_test = only(&coarse_test, &names[0])?;
        let model = plans.protocol.rehearse(own.clone(), others, permission)?;
        let test = match self.parties.vertical.desensitisation().mechanism() {
            // Its bins reach outside the domain, so that the same number has another bin.
            Mechanism::Piecewise { clipped: false } => {
                let all = as_read_by(self.parties, &model, &self.mine, self.permissions)?;
                halves(&all).1
            }
            _ => coarse_test.clone(),
        };
        let test = only(&test, &known(&model))?;
        let judge = |plan, train, test: &Table| figures(&Trainer::Plain(plan), train, test, permission);
        Ok([
            judged(&model, &test, permission)?,
            judge(&plans.fine, fine, &fine_test)?,
            judge(&plans.coarse, coarse, &coarse_test)?,
            judge(&plans.alone, own.clone(), &own_test)?,
            judge(&plans.constant, own, &own_test)?,
        ])
    }
}

/// All rows that the parties have in common, with a model's own bins.
pub(super) fn as_read_by(
    parties: &VerticalJob,
    model: &Model,
    mine: &Table,
    permissions: &[Unprotected],
) -> Result<Table, Failure> {
    let meant = |column: &Column| {
        let found = model.schema().features().find(|c| c.name == column.name);
        found.cloned().unwrap_or_else(|| column.clone())
    };
    let tables = parties
        .feature_holders
        .iter()
        .map(|holder| {
            let schema = &holder.source.schema;
            let schema = schema.with_columns(schema.columns().iter().map(meant))?;
            holder.read(Intake::everything(Arc::new(schema), Keep::Bins))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    join(mine, tables, permissions)
}

/// The columns of each party; the label holder's, its label included, come first.
pub(super) fn names(parties: &VerticalJob) -> Vec<Vec<String>> {
    let named = |schema: &Schema| {
        let label = schema.label().map(|(column, _)| column);
        schema.features().chain(label).map(|c| c.name.clone()).collect()
    };
    let others = parties.feature_holders.iter().map(|holder| &holder.source);
    let all = [&parties.label_holder.source].into_iter().chain(others);
    all.map(|source| named(&source.schema)).collect()
}

/// The columns that a model knows, its label included.
pub(super) fn known(model: &Model) -> Vec<String> {
    let label = model.schema().label().map(|(column, _)| column);
    let columns = model.schema().features().chain(label);
    columns.map(|column| column.name.clone()).collect()
}

pub(super) fn only(table: &Table, names: &[String]) -> Result<Table, Failure> {
    let mut parts = table.columns(std::slice::from_ref(&names.to_vec()))?;
    Ok(parts
        .pop()
        .ok_or_else(|| Error::internal("one part was asked for"))?)
}

/// One table of the rows that all have.
pub(super) fn join(mine: &Table, others: Vec<Table>, permissions: &[Unprotected]) -> Result<Table, Failure> {
    let tables: Vec<(Table, &Unprotected)> = [mine.clone()]
        .into_iter()
        .chain(others)
        .zip(permissions)
        .collect();
    Ok(Table::joined(&tables)?)
}
