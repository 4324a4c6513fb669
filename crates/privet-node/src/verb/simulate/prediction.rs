//! `privet simulate` of a job that predicts: predictions through the protocol, beside those from raw rows and a constant.

use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Schema, Table};
use privet::parameters::Builder;
use privet::setting::plain::{Algorithm, Constant};
use privet::setting::vertical::{Alignment, Plan};

use super::vertical::{as_read_by, join, known, names, only, raw_rows};
use super::{BECAUSE, LAST, SimulatedMethod, Trainer, answer, figures, judged, judged_predictions, seed};
use crate::job::{PredictionJob, Source, VerticalJob};
use crate::progress::{Progress, going_on};
use crate::verb::exit::Failure;
use crate::verb::predict::unfit;
use crate::verb::request::Simulate;
use crate::verb::{Answer, open_model, permission};

pub(super) fn run(prediction: &PredictionJob, simulate: &Simulate) -> Result<Answer, Failure> {
    let parties = &prediction.parties;
    raw_rows(parties)?;
    let own = &parties.label_holder;
    if own.source.schema.label().is_none() {
        return Err(Failure::usage(format!(
            "a simulation compares predictions with labels, and the schema of '{}' declares none: declare the label of the new rows. Nothing was \
             read.",
            own.source.schema.dataset()
        )));
    }
    let sources: Vec<&Source> = [&own.source]
        .into_iter()
        .chain(parties.feature_holders.iter().map(|holder| &holder.source))
        .collect();
    for source in &sources {
        permission::ask(&source.schema, "a simulation", simulate.not_protected)?;
        permission::own_terminal(&source.schema)?;
    }
    let model = open_model(&prediction.model)?;
    let plan = parties.plan();
    let checked = plan.check_model(&model, prediction.branches);
    checked.map_err(|e| unfit(prediction, e))?;
    // Both ways are tried if the model allows it.
    let ways: Vec<bool> = [false, true]
        .into_iter()
        .filter(|branches| plan.check_model(&model, *branches).is_ok())
        .collect();
    let mine = own.read(own.plan.reads())?;
    let coarse = parties.feature_holders.iter();
    let coarse = coarse.map(|holder| holder.read(holder.plan.columns().reads()));
    let coarse = coarse.collect::<Result<Vec<_>, _>>()?;
    parties.check_rows(&mine, &coarse)?;
    let joint = Table::joint_schema([&mine].into_iter().chain(&coarse))?;
    let plan = matched(parties, &joint)?;
    let constant = Constant::default().plan(plan.label_holder.schema())?;
    let permissions = permission::take_all(&sources, BECAUSE, &simulate.ledger)?;
    let [permission, ..] = &permissions[..] else {
        return Err(Error::internal("there is a label holder").into());
    };
    let raw = as_read_by(parties, &model, &mine, &permissions)?;
    let coarse = join(&mine, coarse, &permissions)?;

    let title = |branches: &bool| match branches {
        false => SimulatedMethod::new("columns", "with the protocol, columns"),
        true => SimulatedMethod::new("branches", "with the protocol, branches"),
    };
    let mut methods: Vec<SimulatedMethod> = ways.iter().map(title).collect();
    methods.push(SimulatedMethod::new("raw", "raw rows given to the model"));
    methods.push(SimulatedMethod::new("constant", "the best constant"));
    let bar = Progress::steps("Simulating");
    for run in 0..simulate.runs {
        going_on()?;
        bar.at(run.into(), simulate.runs.into());
        let seed = seed(simulate.seed.wrapping_add(run.into()));
        let halves = |table: &Table| table.hold_out(simulate.test, seed, permission);
        let (train, test) = halves(&coarse);
        let names = names(parties);
        let mut now = Vec::new();
        for &branches in &ways {
            going_on()?;
            let mut others = test.columns(&names)?;
            let own = others.remove(0);
            let (_, predictions) =
                plan.rehearse_predicting((&model, branches), own.clone(), others, permission)?;
            now.push(judged_predictions(&predictions, &own, permission)?);
        }
        now.push(judged(
            &model,
            &only(&halves(&raw).1, &known(&model))?,
            permission,
        )?);
        let (train, test) = (only(&train, &names[0])?, only(&test, &names[0])?);
        now.push(figures(&Trainer::Plain(&constant), train, &test, permission)?);
        for (method, figures) in methods.iter_mut().zip(now) {
            method.runs.push(figures);
        }
    }
    drop(bar);
    let who = format!("{} parties with columns of the same new people", sources.len());
    Ok(answer(simulate, &who, &methods, LAST))
}

/// What the parties do once their rows have been matched.
fn matched(parties: &VerticalJob, joint: &Schema) -> Result<Plan, Failure> {
    let intake = Intake::everything(Arc::new(joint.clone()), Keep::Bins);
    let nobody = Table::new(&intake, vec![intake.piece(intake.columns())?]);
    let parts = nobody.columns(&names(parties))?;
    let met = Builder::of(parties.vertical.clone()).alignment(Alignment::Given);
    let (own, others) = (parts[0].schema(), parts[1..].iter().map(Table::schema));
    Ok(met.build()?.plan(own, others)?)
}
