//! `privet plan` for the local setting: what owners send, how many are needed, and what is shown of the own rows.

use std::fmt::Write;

use privet::privacy::{Delta, Epsilon};
use privet::setting::local::Message;
use serde_json::json;

use super::summary;
use crate::job::{Job, LocalJob};
use crate::verb::exit::Failure;
use crate::verb::{Answer, output, words};

/// The δ at which the shuffler's bound is stated.
const DELTA: f64 = 1e-8;

pub(super) fn run(local: &LocalJob, job: &Job) -> Result<Answer, Failure> {
    let plan = local.plan()?;
    let epsilon = plan.task().epsilon();
    let epsilons = plan.task().epsilons();
    let (rounds, each) = (plan.algorithm().rounds(), plan.owners_each());
    let noise = plan.noise(each);
    let [needed, tenth] = [0.5, 0.1].map(|noise| plan.owners_needed(noise));
    let shuffled = plan.shuffled(Delta::new(DELTA)?);
    let mut text = String::from("WHAT EACH OWNER IS PROMISED\n");
    let _ = writeln!(
        text,
        "  Everything about an owner, its label and how many rows it has included, is protected by local differential privacy with ε = {epsilon}: {}. \
         Nobody is trusted, also not you. Each owner answers once.",
        words::odds(epsilon)
    );
    if epsilons.len() > 1 {
        let _ = writeln!(
            text,
            "  Owners choose: each round has a campaign for each ε of {}, and an owner answers one campaign of all, by the ε that it accepts. Which one it chose \
             everybody sees. What was collected is weighted by how little noise it has. The figures below are for as many owners with each ε.",
            listed(epsilons)
        );
    }
    if let Some(shuffled) = shuffled {
        let _ = writeln!(
            text,
            "  If an honest shuffler passed the messages of a round on in random order, without tokens, and counted none twice, all of them together would \
             have ε = {shuffled:.4} at δ = {DELTA:e} in the central sense. Nothing here makes sure of that, and no certificate says it."
        );
    }
    let _ = writeln!(text, "\nWHAT IS SHOWN OF YOUR OWN ROWS, WHICH NOTHING PROTECTS");
    let shown = match &local.own {
        Some(_) => plan.shown(),
        None => Vec::new(),
    };
    if local.own.is_none() {
        let _ = writeln!(text, "  nothing: there are none");
    }
    for line in &shown {
        let _ = writeln!(text, "  -  {line}");
    }
    let _ = writeln!(text, "\nTHE NOISE");
    let _ = writeln!(
        text,
        "  -  {} of {} owners each, who send {}",
        words::count(rounds.into(), "round", "rounds"),
        each,
        plan.messages()
            .iter()
            .map(Message::describe)
            .collect::<Vec<_>>()
            .join("; or ")
    );
    let unit = match plan.messages() {
        [Message::Cells(_), ..] => "the deviation of a frequency",
        _ => "as a part of the longest vector that an owner may send",
    };
    let _ = writeln!(text, "  -  noise in what a round collects, {unit}: {noise:.3}");
    let _ = writeln!(
        text,
        "  -  owners that a round needs for a noise of one half: {needed}; of one tenth: {tenth}"
    );
    let told = plan.told_errors()?;
    if let Some((errors, deviation)) = told {
        let _ = writeln!(
            text,
            "  -  {errors} of the {rounds} rounds ask owners only how often a learner errs: {} owners, who are not there for the learners. Such an error, from 0 to 1, has a noise \
             of {deviation:.3}. With alpha = \"own\", your own labelled rows tell it, and all owners are there for the learners",
            u64::from(errors) * each
        );
    }
    if noise > 0.5 {
        let _ = writeln!(
            text,
            "  With this many owners noise drowns most of what they say. Ask more owners, or for fewer axes, or with a larger ε; `privet simulate` shows whether \
             they add anything to your own rows."
        );
    }
    let settings = plan.settings();
    let _ = writeln!(text, "\nWHAT HAPPENS");
    if let Some(own) = &local.own {
        let _ = writeln!(text, "  reads      {}, your own rows", own.data.display());
    }
    let _ = writeln!(text, "  trains     {}", summary(&settings));
    let _ = writeln!(
        text,
        "  writes     a campaign for each round into {}, and {}",
        local.campaigns.display(),
        output::describe(&job.output)
    );
    let json = json!({
        "setting": "local",
        "protected": true,
        "epsilon": epsilon,
        "epsilons": epsilons,
        "rounds": rounds,
        "owners_each": each,
        "noise": noise,
        "owners_needed": {"half": needed, "tenth": tenth},
        "errors_told": told.map(|(rounds, deviation)| json!({"rounds": rounds, "owners": u64::from(rounds) * each, "deviation": deviation})),
        "shuffled": shuffled.map(|epsilon| json!({"epsilon": epsilon, "delta": DELTA, "if": "an honest shuffler"})),
        "shown_of_own_rows": shown,
        "settings": settings,
        "output": job.output,
        "campaigns": local.campaigns,
    });
    Ok(Answer::new(words::wrapped(&text), json))
}

/// 0.5, 1 and 3.
pub(in crate::verb) fn listed(epsilons: &[Epsilon]) -> String {
    let texts: Vec<String> = epsilons.iter().map(ToString::to_string).collect();
    match texts.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => texts.concat(),
    }
}
