//! `privet plan`

mod advice;
mod columns;
pub(super) mod horizontal;
mod local;
pub(super) mod prediction;
pub(super) mod secure;
pub(super) mod vertical;

pub(in crate::verb) use local::listed;

use std::fmt::Write;
use std::path::Path;

use privet::Error;
use privet::data::Schema;
use privet::privacy::account::{Caps, Price};
use privet::privacy::{BudgetToSet, Delta, Ledger, Randomness, Relation};
use privet::setting::central::Plan;
use privet::setting::plain;
use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::protection::Protection;
use super::request::{LedgerFile, without_ledger};
use super::{Answer, output, permission, words};
use crate::job::{Job, Setting, Source};
use crate::ledger::Store;

pub(super) fn run(file: &Path, ledger: &LedgerFile) -> Result<Answer, Failure> {
    let job = Job::read(file)?;
    match &job.setting {
        Setting::Plain(plan, source) => unprotected(plan, source, &job, ledger),
        Setting::Central(plan, source) => central(plan, Some((&source.data, &job.output)), Some(ledger)),
        Setting::Vertical(parties) => vertical::run(parties, &job, ledger),
        Setting::Prediction(prediction) => prediction::run(prediction, &job, ledger),
        Setting::Horizontal(owners) => horizontal::run(owners, &job, ledger),
        Setting::Secure(parties) => secure::run(parties, &job, ledger),
        Setting::Local(local) => local::run(local, &job),
    }
}

/// What a ledger must record where parties compute jointly, and why a limit of 0 is enough.
pub(super) const SHOWN: [&str; 2] = [
    "what each party shows the other",
    "what is shown is listed and costs no ε",
];

fn summary(settings: &[(String, String)]) -> String {
    settings
        .iter()
        .skip(1)
        .map(|(name, value)| format!("{name} = {value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// What a curator's plan does and costs. `files` are the table and where the model goes, if these are files; without a ledger nothing is said about
/// what remains.
///
/// # Errors
/// A [`Failure`] if the ledger's place is unknown. What would be refused is said in the answer.
pub fn central(
    plan: &Plan,
    files: Option<(&Path, &Path)>,
    ledger: Option<&LedgerFile>,
) -> Result<Answer, Failure> {
    let (schema, relation, price): (&Schema, _, _) = (plan.schema(), plan.relation(), plan.price());
    let protection = Protection {
        schema,
        relation,
        epsilon: match price {
            Price::Pure(epsilon) => epsilon,
            _ => plan.epsilon(),
        },
        delta: plan.delta(),
        caps: price.into(),
        provided: Vec::new(),
    };
    let settings = plan.settings();
    let void = plan.void();
    let mut text = words::warnings(&plan.warnings());
    text += &match void {
        Some(because) => format!(
            "NOBODY IS PROTECTED. name = \"{}\" is void: {because}. The ledger will record this about '{}' permanently. Use name = \"auto\".\n",
            plan.name(),
            schema.dataset()
        ),
        None => protection.text(),
    };
    let _ = writeln!(text, "\nWHAT HAPPENS");
    if let Some((data, _)) = files {
        let _ = writeln!(text, "  reads      {}", data.display());
    }
    let _ = writeln!(text, "  trains     {}", summary(&settings));
    if let Some((_, output)) = files {
        let _ = writeln!(text, "  writes     {}", output::describe(output));
    }
    let _ = writeln!(text, "\nTHE NOISE");
    for line in plan.noise() {
        let _ = writeln!(text, "  -  {line}");
    }
    let path = ledger.map(LedgerFile::path).transpose()?;
    let place = path.map_or_else(String::new, |path| format!(" in {}", path.display()));
    let _ = writeln!(text, "\nWHAT IT COSTS");
    let _ = writeln!(text, "  charged    {price} to '{}'{place}", schema.dataset());
    let asked = (price, plan.delta());
    let budget = ledger.map(|ledger| ledger.budget(plan.epsilon(), plan.delta()));
    let left = path.zip(budget.as_ref());
    let left = left.map(|(path, budget)| remaining(schema.dataset(), relation, asked, (path, budget)));
    let (left, exit) = match left {
        None => (Value::Null, Exit::Ok),
        Some(Ok(found)) => (counted(&mut text, asked, found), Exit::Ok),
        Some(Err(failure)) => {
            let _ = writeln!(text, "\n`privet train` would be refused: {}", failure.message);
            (json!({"refused": failure.message}), failure.exit)
        }
    };
    let json = json!({
        "setting": "central",
        "protected": void.is_none(),
        "void": void,
        "dataset": schema.dataset(),
        "data": files.map(|(data, _)| data),
        "output": files.map(|(_, output)| output),
        "settings": settings,
        "warnings": plan.warnings(),
        "protection": void.is_none().then(|| protection.json()),
        "noise": plan.noise(),
        "charges": [{"price": price, "change": relation, "ledger": path}],
        "left": left,
    });
    let answer = Answer::new(words::wrapped(&text), json);
    Ok(Answer { exit, ..answer })
}

/// What a budget has before and after a payment, in words and as JSON.
fn counted(
    text: &mut String,
    (price, planned): (Price, Delta),
    (before, after, delta): (Caps, Caps, Delta),
) -> Value {
    let counts = matches!(price, Price::Pure(_)) || delta == planned;
    let counts = (!counts).then(|| (Caps::from(price).epsilon(delta), delta));
    if let Some((epsilon, delta)) = counts {
        let _ = writeln!(
            text,
            "             under this ledger's budget, which is stated at δ = {delta}, that counts as ε = {epsilon}"
        );
    }
    for (name, caps) in [("available", &before), ("remaining", &after)] {
        let budget = words::budget(caps, delta, words::Round::Down);
        let _ = writeln!(text, "  {name}  {budget}");
    }
    let counts = counts.map(|(epsilon, delta)| json!({"epsilon": epsilon, "delta": delta}));
    json!({"before": before, "after": after, "under_this_budget": counts})
}

/// What remains of a budget before and after a payment, and the δ at which it is stated; or why it cannot be paid. Nothing is written.
fn remaining(
    dataset: &str,
    relation: &Relation,
    (price, delta): (Price, Delta),
    (path, budget): (&Path, &BudgetToSet),
) -> Result<(Caps, Caps, Delta), Failure> {
    let refused = |e: Error| refused(e, budget);
    if let Some(why) = without_ledger(path, dataset, relation, budget) {
        return Err(Failure::new(Exit::Budget, why));
    }
    let (store, random) = (Store::read_only(path)?, Randomness::from_os()?);
    let mut ledger = Ledger::open(dataset, relation.clone(), store, random).map_err(refused)?;
    let before = ledger.remaining();
    ledger.promise(price, delta).map_err(refused)?;
    Ok((before, before.remaining(&ledger.remaining()), ledger.delta()))
}

/// Why, for a sentence that says already that something would be refused.
fn refused(e: Error, budget: &BudgetToSet) -> Failure {
    match &e {
        Error::Budget(refusal) => Failure {
            message: refusal.reason_with(budget),
            ..e.into()
        },
        _ => e.into(),
    }
}

fn unprotected(
    plan: &plain::Plan,
    source: &Source,
    job: &Job,
    ledger: &LedgerFile,
) -> Result<Answer, Failure> {
    let schema = &source.schema;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "NOBODY IS PROTECTED. setting = \"plain\" trains without privacy: whoever sees the model may learn about"
    );
    let _ = writeln!(
        text,
        "the people in '{}'. It is for tables that are public, and for comparison.\n",
        schema.dataset()
    );
    let _ = writeln!(text, "reads      {}", source.data.display());
    let _ = writeln!(text, "trains     {}", summary(plan.settings()));
    let _ = writeln!(text, "writes     {}", output::describe(&job.output));
    let _ = if schema.is_private() {
        writeln!(
            text,
            "ledger     {}: it will record permanently that '{}' was used without protection",
            ledger.path()?.display(),
            schema.dataset()
        )
    } else {
        writeln!(text, "ledger     not needed: the schema declares nothing private")
    };
    if schema.is_private() {
        let _ = writeln!(
            text,
            "\nThe schema marks {} as private, so `privet train` will refuse without --not-protected.",
            permission::private_columns(schema)
        );
    }
    let json = json!({
        "setting": "plain",
        "protected": false,
        "dataset": schema.dataset(),
        "data": source.data,
        "output": job.output,
        "algorithm": summary(plan.settings()),
        "needs_not_protected": schema.is_private(),
        "charges": [],
    });
    Ok(Answer::new(words::wrapped(&text), json))
}
