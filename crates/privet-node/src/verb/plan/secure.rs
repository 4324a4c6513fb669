//! `privet plan` for the secure setting.

use std::fmt::Write;

use serde_json::json;

use super::{SHOWN, summary};
use crate::job::{Job, SecureJob};
use crate::verb::exit::{Exit, Failure};
use crate::verb::parties::unlisted_for;
use crate::verb::request::LedgerFile;
use crate::verb::{Answer, output, words};

pub(super) fn run(parties: &SecureJob, job: &Job, ledger: &LedgerFile) -> Result<Answer, Failure> {
    let plan = parties.plan();
    let path = ledger.path()?;
    let [peer, reader] = shown(plan);
    let mut text = match parties.parties.len() {
        2 => String::from("WHAT EACH PARTY SHOWS THE OTHER\n"),
        _ => String::from("WHAT EACH PARTY SHOWS THE OTHERS\n"),
    };
    for line in &peer {
        let _ = writeln!(text, "  -  {line}");
    }
    let bits = plan.most_bits();
    let _ = writeln!(
        text,
        "  Together that is at most {bits:.0} bits in {}, {:.0} of them for each weak classifier. Nothing else about rows leaves a party: the rest of what \
         it sends can be made up from this list.",
        words::count(plan.all_rounds(), "round", "rounds"),
        plan.voter_bits()
    );
    let _ = writeln!(text, "\nWHAT A READER OF THE MODEL LEARNS");
    for line in &reader {
        let _ = writeln!(text, "  -  {line}");
    }
    for line in plan.cautions() {
        let _ = writeln!(text, "  -  {line}");
    }
    let _ = writeln!(text, "\nWHAT HAPPENS");
    let roles = ["initiator"].into_iter().chain(std::iter::repeat("responder"));
    for (role, party) in roles.zip(&parties.parties) {
        let _ = writeln!(
            text,
            "  reads      {}, at {}, the {role}",
            party.source.data.display(),
            party.name
        );
    }
    let settings = plan.settings();
    let _ = writeln!(text, "  trains     {}", summary(&settings));
    let _ = writeln!(text, "  writes     {}", output::describe(&job.output));
    let refused = unlisted_for(path, &parties.data_sets(), SHOWN)?;
    if let Some(why) = &refused {
        let _ = writeln!(text, "\n`privet train` would be refused: {why}");
    }
    let json = json!({
        "setting": "secure",
        "protected": true,
        "output": job.output,
        "settings": settings,
        "shown_to_the_other_party": peer,
        "most_bits": bits,
        "rounds": plan.all_rounds(),
        "bits_of_a_weak_classifier": plan.voter_bits(),
        "shown_to_readers": reader,
        "cautions": plan.cautions(),
        "refused": refused,
    });
    let exit = if refused.is_some() { Exit::Budget } else { Exit::Ok };
    let answer = Answer::new(words::wrapped(&text), json);
    Ok(Answer { exit, ..answer })
}

/// What is shown, item by item: to the other parties, and to whoever reads the model.
pub(in crate::verb) fn shown(plan: &privet::setting::secure::Plan) -> [Vec<String>; 2] {
    let line = |item: &privet::setting::secure::Item| {
        format!(
            "{}, {} at most",
            item.leak.what(),
            words::count(item.most, "time", "times")
        )
    };
    let items = plan.items();
    [false, true].map(|is_in_model| {
        let shown = items.iter().filter(|item| item.is_in_model == is_in_model);
        shown.map(line).collect()
    })
}
