//! `privet plan` for the horizontal setting.

use std::fmt::Write;

use privet::privacy::Delta;
use privet::privacy::account::Price;
use privet::setting::horizontal::{Plan, Protocol};
use serde_json::{Value, json};

use super::summary;
use crate::job::{HorizontalJob, Job};
use crate::verb::exit::{Exit, Failure};
use crate::verb::owners::{Charge, charges, limit_command, refusal};
use crate::verb::protection::Protection;
use crate::verb::request::LedgerFile;
use crate::verb::{Answer, output, words};

pub(super) fn run(owners: &HorizontalJob, job: &Job, ledger: &LedgerFile) -> Result<Answer, Failure> {
    let plan = &owners.plan;
    let path = ledger.path()?;
    let mut text = words::warnings(&plan.warnings());
    text += "WHO LEARNS WHAT\n";
    let learns = learns(plan);
    for line in &learns {
        let _ = writeln!(text, "  -  {line}");
    }
    let protection = protection(plan);
    let _ = write!(text, "\n{}", protection.text());
    let _ = writeln!(text, "\nA PERSON WITH ROWS AT SEVERAL OWNERS");
    let several = several(plan);
    for line in &several {
        let _ = writeln!(text, "  -  {line}");
    }
    let _ = writeln!(text, "\nWHAT HAPPENS");
    for owner in &owners.owners {
        let _ = writeln!(
            text,
            "  reads      {}, at {}",
            owner.source.data.display(),
            owner.name
        );
    }
    if let Some(start) = &owners.start {
        let _ = writeln!(text, "  starts     from {}", start.display());
    }
    let settings = plan.settings();
    let _ = writeln!(text, "  trains     {}", summary(&settings));
    let _ = writeln!(text, "  writes     {}", output::describe(&job.output));
    let turns: Vec<String> = plan.start_words().into_iter().chain(plan.turns()).collect();
    for line in &turns {
        let _ = writeln!(text, "  -  {line}");
    }
    let evaluation = plan.evaluation_words();
    if !evaluation.is_empty() {
        let _ = writeln!(text, "\nHOW THE MODEL IS JUDGED");
    }
    for line in &evaluation {
        let _ = writeln!(text, "  -  {line}");
    }
    let _ = writeln!(text, "\nTHE NOISE");
    let noise = noise(owners)?;
    for line in &noise {
        let _ = writeln!(text, "  -  {line}");
    }
    let charges = charges(owners, path)?;
    let _ = writeln!(text, "\nWHAT IT COSTS");
    let _ = writeln!(
        text,
        "  charged    {} to each owner's data set in {}; the miner has no rows and pays nothing",
        plan.price(),
        path.display()
    );
    let mut told = Vec::new();
    for (owner, charge) in owners.owners.iter().zip(&charges) {
        let who = format!("{} pays from the budget of '{}'", owner.name, owner.dataset());
        let _ = match charge {
            Charge::Paid { before, after, delta } => {
                let [before, after] =
                    [before, after].map(|caps| words::budget(caps, *delta, words::Round::Down));
                writeln!(text, "  -  {who}: available {before}; remaining {after}")
            }
            Charge::NoBudget => writeln!(text, "  -  {who}, which has none yet"),
            Charge::Refused(_) => writeln!(text, "  -  {who}, which does not allow it"),
        };
        told.push(json!({
            "name": owner.name,
            "dataset": owner.dataset(),
            "data": owner.source.data,
            "price": plan.price(),
            "change": plan.relation(),
            "ledger": path,
            "left": left(charge),
            "limit_command": limit_command(owners, owner),
        }));
    }
    let refused = refusal(owners, &charges, path);
    if let Some(failure) = &refused {
        let _ = writeln!(text, "\n`privet train` would be refused: {}", failure.message);
    }
    let json = json!({
        "setting": "horizontal",
        "protected": true,
        "output": job.output,
        "start": owners.start,
        "settings": settings,
        "warnings": plan.warnings(),
        "learns": learns,
        "protection": protection.json(),
        "several_owners": several,
        "turns": turns,
        "evaluation": evaluation,
        "noise": noise,
        "owners": told,
        "refused": refused.as_ref().map(|failure| &failure.message),
    });
    let answer = Answer::new(words::wrapped(&text), json);
    let exit = refused.map_or(Exit::Ok, |failure| failure.exit);
    Ok(Answer { exit, ..answer })
}

/// What all owners promise to their people.
pub(in crate::verb) fn protection(plan: &Plan) -> Protection<'_> {
    let price = plan.price();
    Protection {
        schema: plan.schema(),
        relation: plan.relation(),
        epsilon: match price {
            Price::Pure(epsilon) => epsilon,
            _ => plan.epsilon(),
        },
        delta: plan.delta(),
        caps: price.into(),
        provided: plan.sharing().into_iter().collect(),
    }
}

pub(in crate::verb) fn learns(plan: &Plan) -> Vec<String> {
    let all = plan.learnings().into_iter();
    let line = |who: &str, what: &str| {
        let mut letters = who.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string());
        format!("{}{}: {what}.", first.unwrap_or_default(), letters.as_str())
    };
    let mut lines: Vec<String> = all.map(|learning| line(&learning.who, &learning.what)).collect();
    lines.push(plan.caution().to_owned());
    lines
}

/// What a person pays who has rows at several owners.
fn several(plan: &Plan) -> Vec<String> {
    let owners = plan.owners().len() as u64;
    let mut numbers = vec![2, 3, owners];
    numbers.retain(|number| (2..=owners).contains(number));
    numbers.dedup();
    let mut lines: Vec<String> = numbers
        .into_iter()
        .map(|number| match plan.person_at(number) {
            Some(paid) => match plan.delta() {
                Delta::ZERO => format!("rows at {number} owners: {}", paid.price),
                delta => format!(
                    "rows at {number} owners: {}, which is ε = {} at δ = {}",
                    paid.price,
                    paid.epsilon,
                    delta.scientific()
                ),
            },
            None => format!("rows at {number} owners: more than can be counted"),
        })
        .collect();
    let how = match (plan.horizontal().protocol(), plan.delta()) {
        (_, Delta::ZERO) => "The prices of m owners add up: m times ε",
        (Protocol::Aggregated, _) => {
            "One noise covers the rows of all owners, so what changes at several of them adds up before noise hides it: m owners cost m² times \
             μ²"
        }
        (Protocol::Averaged | Protocol::Chain, _) => {
            "Each owner has noise of its own: m owners cost m times μ²"
        }
    };
    lines.push(format!(
        "{how}. Each ledger counts what it pays itself, and nobody adds these up."
    ));
    lines
}

/// How much error the noise adds; owners who train alone have noise of their own.
fn noise(owners: &HorizontalJob) -> Result<Vec<String>, Failure> {
    let plan = &owners.plan;
    if plan.sharing().is_some() {
        return Ok(plan.noise(0)?);
    }
    let mut lines = Vec::new();
    for (place, owner) in owners.owners.iter().enumerate() {
        let own = plan.noise(place)?;
        lines.extend(own.into_iter().map(|line| format!("{}: {line}", owner.name)));
    }
    Ok(lines)
}

fn left(charge: &Charge) -> Value {
    match charge {
        Charge::Paid { before, after, delta } => json!({"before": before, "after": after, "delta": delta}),
        Charge::NoBudget => json!({"refused": "there is no budget yet"}),
        Charge::Refused(why) => json!({"refused": why}),
    }
}
