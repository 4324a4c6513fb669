//! `privet simulate` for the local setting: rows of one table dealt to a data user, to owners and to a test.

use std::fmt::Write;
use std::sync::Arc;

use privet::data::Table;
use privet::privacy::Unprotected;
use privet::setting::local::{Crowd, Dealing, OwnRows, Plan, Voice, owners_help};
use privet::setting::plain::{Algorithm, Constant, Logistic};
use serde_json::json;

use super::{BECAUSE, LAST, MethodFigures, SimulatedMethod, Trainer, compared, figures, judged, seed};
use crate::job::LocalJob;
use crate::progress::{Progress, going_on};
use crate::verb::exit::Failure;
use crate::verb::request::Simulate;
use crate::verb::{Answer, permission};

pub(super) fn run(local: &LocalJob, simulate: &Simulate) -> Result<Answer, Failure> {
    let Some(source) = &local.own else {
        return Err(Failure::usage(
            "a simulation deals the rows of one table to owners: name a table with data = \"people.csv\", or with --data. Nothing was read.",
        ));
    };
    permission::ask(&source.schema, "a simulation", simulate.not_protected)?;
    permission::own_terminal(&source.schema)?;
    let table = source.read(&local.reads())?;
    let permission = permission::take(source, BECAUSE, &simulate.ledger)?;
    let alone = Logistic::default().plan(&source.schema)?;
    let constant = Constant::default().plan(&source.schema)?;
    let mut methods = [
        SimulatedMethod::new("local", "with messages of owners"),
        SimulatedMethod::new("own", "own rows alone, logistic"),
        SimulatedMethod::new("silent", "messages without content"),
        SimulatedMethod::new("exact", "without privacy"),
        SimulatedMethod::new("constant", "the best constant"),
    ];
    let (mut facts, mut owners) = (Vec::new(), 0);
    let bar = Progress::steps("Simulating");
    for run in 0..simulate.runs {
        going_on()?;
        bar.at(run.into(), simulate.runs.into());
        let number = simulate.seed.wrapping_add(run.into());
        let (train, test) = table.hold_out(simulate.test, seed(number), &permission);
        let (own, rest) = train.dealt(local.own_rows, seed(number ^ 0x006f_776e), &permission);
        let plan = local.plan()?.with_own(OwnRows::new(own.clone(), &permission)?)?;
        let crowd = (rest, number);
        let (played, count) = play(&plan, local, &crowd, (&test, Voice::Drawn), &permission)?;
        owners = count;
        let now = [
            played,
            figures(&Trainer::Plain(&alone), own.clone(), &test, &permission)?,
            play(&plan, local, &crowd, (&test, Voice::Silent), &permission)?.0,
            play(&plan, local, &crowd, (&test, Voice::Exact), &permission)?.0,
            figures(&Trainer::Plain(&constant), own, &test, &permission)?,
        ];
        methods
            .iter_mut()
            .zip(now)
            .for_each(|(method, figures)| method.runs.push(figures));
        facts = plan.facts()?;
    }
    drop(bar);
    let errors = |method: &SimulatedMethod| -> Vec<f64> {
        let accuracy = method
            .runs
            .iter()
            .flatten()
            .filter(|(name, _)| *name == "accuracy");
        accuracy.map(|(_, accuracy)| 1.0 - accuracy).collect()
    };
    let help = owners_help(&errors(&methods[0]), &errors(&methods[1]));
    let verdict = match (help, simulate.runs) {
        (true, _) => "Owners add something to the own rows: the difference is more than two standard errors.",
        (false, 1) => {
            "One run cannot tell whether owners add anything to the own rows: repeat it with --runs 10."
        }
        (false, _) => {
            "Owners add nothing to the own rows that these runs can tell: the difference is less than two standard errors. Ask more owners, or use the own rows \
             alone."
        }
    };
    let who = format!(
        "{owners} owners of {} at ε = {}, and a data user with {} own rows",
        dealt(local.dealing()),
        crate::verb::plan::listed(local.plan()?.task().epsilons()),
        local.own_rows
    );
    let (mut text, mut json) = compared(simulate, &who, &methods);
    text.push('\n');
    for (name, value) in &facts {
        let _ = writeln!(text, "   {name}: {value:.4}");
    }
    let _ = writeln!(
        text,
        "\n{}\n\n{LAST}",
        crate::verb::words::wrapped(verdict).trim_end()
    );
    json["owners_help"] = json!(help);
    json["facts"] = facts
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    Ok(Answer::new(text, json))
}

/// 4 rows; 1 to 7 rows, 90 % of which are dealt by their class.
fn dealt(dealing: Dealing) -> String {
    let Dealing { least, most, skew } = dealing;
    let mut text = match least == most {
        true => crate::verb::words::count(least.into(), "row", "rows"),
        false => format!("{least} to {most} rows"),
    };
    if skew > 0.0 {
        let _ = write!(text, " ({:.0} % of all dealt by their class)", 100.0 * skew);
    }
    text
}

/// How good a course is, and how many owners answered.
fn play(
    plan: &Plan,
    local: &LocalJob,
    (rest, number): &(Table, u64),
    (test, voice): (&Table, Voice),
    permission: &Unprotected,
) -> Result<(MethodFigures, usize), Failure> {
    going_on()?;
    let schema = rest.schema();
    let cells = permission.reveal(rest.cells().clone());
    let crowd = Crowd::dealt(schema, &cells, local.dealing(), *number);
    let owners = usize::try_from(plan.owners()).unwrap_or(usize::MAX);
    let crowd = crowd.of_owners(owners);
    let learnt = crowd.play(plan.algorithm(), plan.task(), voice)?;
    let test = test.in_bins(&Arc::new(learnt.schema.clone()))?;
    let model = plan.model(learnt)?;
    Ok((judged(&model, &test, permission)?, crowd.owners()))
}
