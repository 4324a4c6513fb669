//! `privet contribute`

use std::path::Path;
use std::sync::Arc;

use privet::privacy::mechanism::local::LocalMessage;
use privet::privacy::{Certificate, Delta, Ledger, Owner, Randomness, Relation};
use privet::setting::local::{Campaign, DataOwner};
use serde_json::{Value, json};

use super::exit::{Exit, Failure};
use super::request::{Contribute, LedgerFile};
use super::{Answer, output, words, written};
use crate::job::Source;
use crate::ledger::Store;

pub(super) fn run(given: &Contribute) -> Result<Answer, Failure> {
    let campaign = open(&given.campaign)?;
    let owner = owner(&given.ledger, &campaign)?;
    let random = Randomness::from_os()?;
    let Some(out) = &given.out else {
        let store = Store::read_only(given.ledger.path()?)?;
        let mut ledger = Ledger::open(&owner, Owner, store, random)?;
        let message = ledger.contributed(campaign.digest())?;
        return Ok(show(&campaign, message.as_ref()));
    };
    output::check(&given.ledger, out)?;
    output::check_writable(out)?;
    let mut ledger = Ledger::open(&owner, Owner, given.ledger.open()?, random)?;
    let kept = ledger.contributed(campaign.digest())?;
    check_set_back(&campaign, kept.as_ref(), out)?;
    let is_again = kept.is_some();
    if let (None, Some(round)) = (&kept, campaign.round()) {
        let own = ledger.round(&round.series, round.of)?;
        if own != round.number {
            return Ok(other_round(&campaign, own));
        }
    }
    let (submission, certificate) = match kept {
        // Rows are not looked at again.
        Some(message) => (campaign.submission(&message), None),
        None => {
            let sent = contribute(given, &campaign, &mut ledger)?;
            (sent.0, Some(sent.1))
        }
    };
    written(out, &submission)?;
    let bytes = submission.len();
    let mut text = match is_again {
        true => format!(
            "'{}' was answered before: wrote the same {bytes} bytes again to {}\nNothing was paid, and nothing was drawn\n",
            campaign.name(),
            out.display()
        ),
        false => format!(
            "Wrote {bytes} bytes to {}: your one message to '{}'. Send them to whoever runs the campaign, as often as needed\n",
            out.display(),
            campaign.name()
        ),
    };
    if let Some(certificate) = &certificate {
        text += &format!("\n{certificate}\n");
    }
    text += &format!("\n{}\n", meaning(&campaign));
    let json = json!({
        "campaign": campaign.name(),
        "digest": hexadecimal(&campaign.digest()),
        "answered": true,
        "again": is_again,
        "epsilon": campaign.epsilon(),
        "bytes": bytes,
        "out": out,
        "certificate": certificate,
    });
    Ok(Answer::new(words::wrapped(&text), json))
}

/// Pays, draws and keeps the message.
fn contribute(
    given: &Contribute,
    campaign: &Campaign,
    ledger: &mut Ledger<Owner>,
) -> Result<(Vec<u8>, Certificate), Failure> {
    let Some(encoding) = campaign.encoding() else {
        return Err(Failure::input(format!(
            "{} does not say how rows become a message: it has no [encoding]. Answer it with a program that uses the library",
            given.campaign.display()
        )));
    };
    let Some(data) = &given.data else {
        return Err(Failure::usage(
            "--data is missing: name the file with your rows, as in --data mine.csv. Nothing was paid or drawn.",
        ));
    };
    let source = Source {
        schema: Arc::clone(encoding.schema()),
        data: data.clone(),
    };
    let table = source.read(&encoding.reads())?;
    let sent = DataOwner::new(campaign).contribute_rows(ledger, &table)?;
    Ok((sent.submission, sent.certificate))
}

/// Reads a campaign's file.
pub(super) fn open(file: &Path) -> Result<Campaign, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", file.display())))?;
    Ok(Campaign::read(&file.display().to_string(), &text)?)
}

/// The name under which the ledger has a budget for everything about its owner.
fn owner(ledger: &LedgerFile, campaign: &Campaign) -> Result<String, Failure> {
    let path = ledger.path()?;
    let there = std::fs::symlink_metadata(path).is_ok();
    let book = there.then(|| Store::read_only(path)?.book()).transpose()?;
    let owner = book.as_ref().and_then(|book| book.owner()).map(str::to_owned);
    owner.ok_or_else(|| {
        let command = Relation::Owner.limit_command("me", &ledger.budget(campaign.epsilon(), Delta::ZERO));
        Failure::new(
            Exit::Budget,
            format!(
                "refused: the ledger {} has no budget for everything about its owner. Run `{command}`: so much ε in all, for every campaign together. \
                 Nothing was read.",
                path.display()
            ),
        )
    })
}

/// Refuses to draw where a message to this campaign lies already that the ledger does not know of: the ledger was put back to an older copy,
/// and whoever has seen that message would see a second one.
fn check_set_back(campaign: &Campaign, kept: Option<&LocalMessage>, out: &Path) -> Result<(), Failure> {
    let Ok(bytes) = std::fs::read(out) else {
        return Ok(());
    };
    match campaign.read_submission(&bytes) {
        Ok(there) if kept != Some(&there) => Err(Failure::new(
            Exit::Ledger,
            format!(
                "{} is a message to this campaign that your ledger does not have: the ledger was put back to an older copy, or the message is somebody \
                 else's. A second message would tell more than its ε. Put the latest copy of the ledger back; send what is there if it is yours. Nothing \
                 was paid or drawn.",
                out.display()
            ),
        )),
        _ => Ok(()),
    }
}

fn other_round(campaign: &Campaign, own: u64) -> Answer {
    let round = campaign.round();
    let (series, number, of) = round.map_or(("", 0, 0), |r| (r.series.as_str(), r.number, r.of));
    let text = format!(
        "This is round {number} of {of} of '{series}', and the round that you drew is {own}: there is nothing to send now. Nothing was read, paid or drawn.\n"
    );
    let json = json!({
        "campaign": campaign.name(),
        "digest": hexadecimal(&campaign.digest()),
        "answered": false,
        "round": number,
        "own_round": own,
    });
    Answer::new(words::wrapped(&text), json)
}

/// What is stored, in words.
fn show(campaign: &Campaign, message: Option<&LocalMessage>) -> Answer {
    let digest = hexadecimal(&campaign.digest());
    let Some(message) = message else {
        let text = format!(
            "'{}' was not answered: nothing was paid, drawn or sent\n",
            campaign.name()
        );
        let json = json!({"campaign": campaign.name(), "digest": digest, "answered": false});
        return Answer::new(words::wrapped(&text), json);
    };
    let told = campaign.in_words(message).unwrap_or_default();
    let token = hexadecimal(&message.token.bytes());
    let text = format!(
        "Your one message to '{}':\ntoken    {token} (random; it is in no other message)\nsays     {told}\n\n{}\n",
        campaign.name(),
        meaning(campaign)
    );
    let json: Value = json!({
        "campaign": campaign.name(),
        "digest": digest,
        "answered": true,
        "epsilon": campaign.epsilon(),
        "token": token,
        "says": told,
        "submission": hexadecimal(&campaign.submission(message)),
    });
    Answer::new(words::wrapped(&text), json)
}

fn meaning(campaign: &Campaign) -> String {
    let epsilon = campaign.epsilon();
    format!(
        "Had everything about you been different, this message would have been at most e^ε = {} times as likely, or as unlikely (ε = {epsilon}).",
        words::odds(epsilon)
    )
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
