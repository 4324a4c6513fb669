//! `privet simulate` where parties compute jointly: the protocol, with its circuits and sums, beside the union of all parties' rows and each party alone.

use privet::Error;
use privet::boost::Thresholds;
use privet::data::{Keep, Table};
use privet::setting::plain::{Algorithm, Constant, Stumps};

use super::{BECAUSE, LAST, SimulatedMethod, Trainer, allowed, answer_with, figures, judged, mean, seed};
use crate::job::SecureJob;
use crate::progress::{Progress, going_on};
use crate::verb::exit::Failure;
use crate::verb::gathering::{Traffic, outcome};
use crate::verb::request::Simulate;
use crate::verb::{Answer, permission};

pub(super) fn run(parties: &SecureJob, simulate: &Simulate) -> Result<Answer, Failure> {
    let sources = parties.sources();
    for source in &sources {
        allowed(source, simulate)?;
    }
    let plan = parties.plan();
    let thresholds = match plan.keep() {
        Keep::Values => Thresholds::Exact,
        Keep::Bins => Thresholds::Bins,
    };
    let stumps = Stumps::builder()
        .rounds(*plan.secure().rounds())
        .thresholds(thresholds)
        // As the protocol does, so that both have as many stumps.
        .one_versus_all(plan.outputs() > 1);
    let stumps = stumps.build()?.plan(plan.schema())?;
    let constant = Constant::default().plan(plan.schema())?;
    let tables = parties
        .parties
        .iter()
        .map(|party| party.read())
        .collect::<Result<Vec<_>, _>>()?;
    let permissions = permission::take_all(&sources, BECAUSE, &simulate.ledger)?;
    let mut methods = [
        SimulatedMethod::new("secure", "with the protocol"),
        SimulatedMethod::new("union", "stumps on all rows"),
        SimulatedMethod::new("alone", format!("each alone, mean of {}", tables.len())),
        SimulatedMethod::new("constant", "the best constant"),
    ];
    let names: Vec<String> = parties.names().into_iter().map(str::to_owned).collect();
    let mut traffic = None;
    let bar = Progress::steps("Simulating");
    for run in 0..simulate.runs {
        going_on()?;
        bar.at(run.into(), simulate.runs.into());
        let seed = seed(simulate.seed.wrapping_add(run.into()));
        let (mut parts, mut train, mut test) = (Vec::new(), Vec::new(), Vec::new());
        for (table, own) in tables.iter().zip(&permissions) {
            // Schemas differ by the name of the data set.
            let (rest, aside) = table.as_of(plan.schema())?.hold_out(simulate.test, seed, own);
            parts.push(rest.clone());
            train.push((rest, own));
            test.push((aside, own));
        }
        let (train, test) = (Table::pooled(&train)?, Table::pooled(&test)?);
        let permission = permissions
            .first()
            .ok_or_else(|| Error::internal("there are parties"))?;
        let ended = plan.rehearsed(parts.clone(), &parties.names())?;
        traffic = Some(Traffic::of(&names, &ended));
        let model = outcome(names.clone(), ended, |_| true)?.model;
        let judge = |trainer: &Trainer<'_>, train: &Table| figures(trainer, train.clone(), &test, permission);
        let alone = parts.iter().map(|part| judge(&Trainer::Plain(&stumps), part));
        let alone = alone.collect::<Result<Vec<_>, _>>()?;
        let now = [
            judged(&model, &test, permission)?,
            judge(&Trainer::Plain(&stumps), &train)?,
            mean(&alone),
            judge(&Trainer::Plain(&constant), &train)?,
        ];
        methods
            .iter_mut()
            .zip(now)
            .for_each(|(method, figures)| method.runs.push(figures));
    }
    drop(bar);
    let who = format!("{} parties with different rows", tables.len());
    Ok(answer_with(simulate, &who, &methods, LAST, traffic.as_ref()))
}
