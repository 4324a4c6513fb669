//! `privet collect`

use std::path::{Path, PathBuf};

use privet::setting::local::{Campaign, Collected, Message, Refusal};
use serde_json::{Value, json};

use super::contribute::{hexadecimal, open};
use super::exit::Failure;
use super::request::{Collect, Collecting};
use super::{Answer, output, words, written};
use crate::collection::{Collection, CollectionLimits};
use crate::ledger::beside;
use crate::progress::{Progress, going_on};

/// Messages of a batch from standard input, at most: what is not written is lost if the process dies.
const STREAMED: usize = 1 << 16;

pub(super) fn run(given: &Collect) -> Result<Answer, Failure> {
    match given {
        Collect::Messages(collecting) => messages(collecting),
        Collect::Merge { files, out } => merge(files, out),
    }
}

fn messages(given: &Collecting) -> Result<Answer, Failure> {
    let campaign = open(&given.campaign)?;
    let read: Vec<&Path> = given.from.iter().map(PathBuf::as_path).collect();
    let tokens = beside(&given.out, ".tokens");
    let made = [given.out.as_path(), tokens.as_path()];
    if let Some(file) = output::clash(&made, &[&read[..], &[given.campaign.as_path()]].concat()) {
        return Err(Failure::usage(format!(
            "{} would be overwritten: choose another name for --out",
            file.display()
        )));
    }
    output::check_paid(&given.out)?;
    let limits = CollectionLimits {
        most: given.most,
        share: given.share,
        threads: given.threads,
    };
    let mut collection = Collection::open(&campaign, &given.out, limits, |_| {})?;
    let before = collection.collected().messages();
    let mut rests = Vec::new();
    for file in &given.from {
        let bar = Progress::bytes(format!("Counting {}", file.display()));
        let read = collection.read_file(file, given.batch, |done, of| {
            bar.at(done, of);
            going_on()
        })?;
        if read.rest > 0 {
            rests.push((file, read.rest));
        }
    }
    if given.from.is_empty() {
        let durable = |position: u64| {
            // A sender that reads this knows what it need not send again.
            (given.durable)(position);
            going_on()
        };
        collection.read_stream(std::io::stdin().lock(), given.batch.min(STREAMED), durable)?;
    }
    // An empty input, too, leaves a collection.
    collection.commit()?;
    let collected = collection.collected();
    let mut text = format!(
        "{}\n",
        words::count(
            collected.messages() - before,
            "message counted",
            "messages counted"
        )
    );
    text += &report(&campaign, collected);
    for (file, rest) in &rests {
        text += &format!(
            "{} ends with {} that are no whole message: they are read when the rest is there\n",
            file.display(),
            words::count(*rest, "byte", "bytes")
        );
    }
    text += &format!(
        "Wrote {}, and the tokens to {}: the same command goes on from there\n",
        given.out.display(),
        tokens.display()
    );
    let mut json = facts(&campaign, collected);
    json["counted_now"] = (collected.messages() - before).into();
    json["register_bytes"] = collection.register_bytes().into();
    json["out"] = json!(given.out);
    Ok(Answer::new(words::wrapped(&text), json))
}

fn report(campaign: &Campaign, collected: &Collected) -> String {
    let messages = collected.messages();
    let mut text = format!(
        "'{}' has {} in all; each is ε = {} private by itself, for everything about its owner\n",
        campaign.name(),
        words::count(messages, "message", "messages"),
        campaign.epsilon()
    );
    for why in Refusal::ALL {
        match collected.refused().of(why) {
            0 => {}
            count => text += &format!("refused, {why}: {count}\n"),
        }
    }
    if messages > 0 {
        text += &format!(
            "One message moves an estimated mean by at most {:.3e}. Tokens stop a message from being counted twice. They do not stop somebody who \
             makes up owners: made-up messages add to a mean up to their share of the messages that it is estimated from{}, times {:.3e}\n",
            campaign.influence() / campaign.fewest(collected.sums(), messages).max(1) as f64,
            match campaign.message() {
                Message::Cells(_) =>
                    " (those about one column, and who makes up a message chooses its column)",
                _ => "",
            },
            campaign.influence()
        );
    }
    if !collected.is_whole() {
        text += "It is a share of the tokens: merge it with the others with `privet collect merge`\n";
    }
    text
}

fn facts(campaign: &Campaign, collected: &Collected) -> Value {
    let refused: serde_json::Map<String, Value> = Refusal::ALL
        .iter()
        .map(|why| (why.name().to_owned(), collected.refused().of(*why).into()))
        .collect();
    json!({
        "campaign": campaign.name(),
        "digest": hexadecimal(&campaign.digest()),
        "epsilon": campaign.epsilon(),
        "messages": collected.messages(),
        "refused": refused,
        "influence": campaign.influence(),
        "whole": collected.is_whole(),
    })
}

fn merge(files: &[PathBuf], out: &Path) -> Result<Answer, Failure> {
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    if output::clash(&[out], &paths).is_some() {
        return Err(Failure::usage(format!(
            "{} is one of the collections that are merged: choose another name for --out",
            out.display()
        )));
    }
    output::check_paid(out)?;
    output::check_writable(out)?;
    let mut all: Option<Collected> = None;
    for file in files {
        let bytes = std::fs::read(file)
            .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", file.display())))?;
        let next = Collected::from_file(&file.display().to_string(), &bytes)?;
        all = Some(match all {
            None => next,
            Some(before) => before.merge(&next).map_err(|e| {
                Failure::input(format!(
                    "{} cannot be merged with those before it: {e}. Nothing was written.",
                    file.display()
                ))
            })?,
        });
    }
    let Some(all) = all else {
        return Err(Failure::usage("there is nothing to merge: name collections"));
    };
    written(out, &all.to_file())?;
    let text = format!(
        "{} with {} in all, of {}: wrote {}\n",
        words::count(files.len() as u64, "collection", "collections"),
        words::count(all.messages(), "message", "messages"),
        if all.is_whole() {
            "all tokens"
        } else {
            "a share of the tokens"
        },
        out.display()
    );
    let json = json!({"messages": all.messages(), "whole": all.is_whole(), "refused": all.refused().all(), "out": out});
    Ok(Answer::new(words::wrapped(&text), json))
}
