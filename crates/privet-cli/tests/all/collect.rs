//! Owners and collectors of the local setting, by the real command.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use privet::setting::local::{Campaign, Collected};
use serde_json::Value;
use tempfile::TempDir;

use crate::collect_kill::messages;
use crate::home::told;

const SCHEMA: &str = "[schema]\ndataset = \"steps\"\n[schema.columns]\nage = { type = \"number\", min = 0, max = 100 }\n\
                      walks = { type = \"flag\" }\nill = { type = \"label\", values = [\"no\", \"yes\"] }\n";
const ENCODING: &str = "[encoding]\nstatistic = \"signed-mean\"\nconstant = 1.0\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("campaign.toml", &folder.campaign("steps", ""));
        folder.write("mine.csv", "age,walks,ill\n30,yes,no\n70,no,yes\n");
        folder
    }

    fn campaign(&self, name: &str, more: &str) -> String {
        let head =
            format!("version = 1\nname = \"{name}\"\nepsilon = 1.0\nmessage = \"vector\"\nradius = 2.0\n");
        format!("{head}{more}{SCHEMA}{ENCODING}")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.path().join(name)).unwrap()
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_privet"));
        command
            .args(line.split(' '))
            .current_dir(self.0.path())
            .env("PRIVET_LEDGER", self.0.path().join("ledger.db"));
        command
    }

    #[track_caller]
    fn run(&self, code: i32, line: &str) -> String {
        let (found, text) = told(self.command(line));
        assert_eq!(found, code, "{line}: {text}");
        text
    }

    #[track_caller]
    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.run(0, &format!("{line} --json"))).unwrap()
    }
}

#[test]
fn an_owner_answers_a_campaign_once_and_sees_what_it_sent() {
    let folder = Folder::new();
    let contribute = "contribute campaign.toml --data mine.csv --out message.bin";
    // Without a budget for everything about the owner nothing is read.
    let refused = folder.run(3, contribute);
    assert!(refused.contains("--change owner"), "{refused}");
    folder.run(0, "ledger limit me --epsilon 2 --change owner");
    let shown = folder.json("contribute campaign.toml --show");
    assert_eq!(shown["answered"], false);
    let said = folder.run(0, contribute);
    assert!(said.contains("at most e^ε = 2.72 times"), "{said}");
    let message = folder.read("message.bin");
    assert_eq!(message.len(), 31);
    // The same bytes, also from other rows, from none, and to another file.
    folder.write("mine.csv", "age,walks,ill\n99,no,no\n");
    for again in [contribute, "contribute campaign.toml --out copy.bin"] {
        let again = folder.json(again);
        assert_eq!(again["again"], true);
        assert_eq!(folder.read(again["out"].as_str().unwrap()), message);
    }
    let shown = folder.json("contribute campaign.toml --show");
    let hexadecimal: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(shown["submission"], hexadecimal);
    assert!(shown["says"].as_str().unwrap().starts_with("codeword number"));
    // One byte makes another campaign: it is paid for and has another token; the cap ends it.
    folder.write("edited.toml", &folder.campaign("steps", "# one\n"));
    folder.run(0, "contribute edited.toml --data mine.csv --out edited.bin");
    assert_ne!(folder.read("edited.bin")[10..26], message[10..26]);
    folder.write("third.toml", &folder.campaign("steps", "# two\n"));
    folder.run(3, "contribute third.toml --data mine.csv --out third.bin");
    assert!(!folder.0.path().join("third.bin").exists());
}

/// A ledger that was put back to an older copy would draw again: where the first message still lies, it does not.
#[test]
fn a_ledger_that_was_put_back_does_not_answer_again() {
    let folder = Folder::new();
    folder.run(0, "ledger limit me --epsilon 2 --change owner");
    let ledger = folder.read("ledger.db");
    folder.run(0, "contribute campaign.toml --data mine.csv --out message.bin");
    let message = folder.read("message.bin");
    fs::write(folder.0.path().join("ledger.db"), ledger).unwrap();
    for beside in ["ledger.db-wal", "ledger.db-shm"] {
        let _ = fs::remove_file(folder.0.path().join(beside));
    }
    let refused = folder.run(4, "contribute campaign.toml --data mine.csv --out message.bin");
    assert!(refused.contains("put back to an older copy"), "{refused}");
    assert_eq!(folder.read("message.bin"), message);
}

/// Each owner draws one round of a series, and no two campaigns of the series are answered.
#[test]
fn an_owner_answers_in_its_own_round_only() {
    let folder = Folder::new();
    folder.run(0, "ledger limit me --epsilon 9 --change owner");
    let round = |number: u64, name: &str| {
        let round = format!("[round]\nseries = \"steps 2026\"\nnumber = {number}\nof = 3\n");
        folder.write(name, &format!("{}{round}", folder.campaign("steps", "")));
        folder.run(0, &format!("contribute {name} --data mine.csv --out {name}.bin"));
        folder.0.path().join(format!("{name}.bin")).exists()
    };
    let answered: Vec<u64> = (1..=3)
        .filter(|number| round(*number, &format!("round-{number}.toml")))
        .collect();
    let [own] = answered[..] else {
        panic!("one round is answered: {answered:?}");
    };
    assert!(round(own, &format!("round-{own}.toml")), "the same message again");
    // The same round of the same series from another file would link two messages of one owner.
    let text = folder.read(&format!("round-{own}.toml"));
    fs::write(
        folder.0.path().join("again.toml"),
        [&text[..], b"# again\n"].concat(),
    )
    .unwrap();
    let refused = folder.run(4, "contribute again.toml --data mine.csv --out again.bin");
    assert!(refused.contains("answers one of them"), "{refused}");
}

#[test]
fn messages_are_counted_from_files_and_from_standard_input() {
    let folder = Folder::new();
    let campaign = Campaign::read("campaign.toml", &folder.campaign("steps", "")).unwrap();
    let frames = messages(&campaign, 1000);
    let length = campaign.submission_bytes();
    fs::write(folder.0.path().join("first"), &frames[..length * 400]).unwrap();
    fs::write(folder.0.path().join("second"), &frames[length * 400..]).unwrap();
    let whole = folder.json("collect campaign.toml first second --out whole --batch 100");
    // A file that grows is read on from where it was left; a tail that is no whole message is left.
    fs::write(folder.0.path().join("growing"), &frames[..length * 300 + 5]).unwrap();
    let said = folder.run(0, "collect campaign.toml growing --out grown");
    assert!(said.contains("5 bytes that are no whole message"), "{said}");
    fs::write(folder.0.path().join("growing"), &frames).unwrap();
    folder.json("collect campaign.toml growing --out grown");
    // A stream, twice: what was counted is known again.
    let stream = |frames: &[u8]| {
        let mut command = folder.command("collect campaign.toml --out streamed --batch 250 --json");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(frames).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        (
            serde_json::from_slice::<Value>(&output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (_, durable) = stream(&frames[..length * 600]);
    assert!(
        durable.contains(&format!("durable: {} bytes", length * 500)),
        "{durable}"
    );
    let (streamed, _) = stream(&frames);
    assert!(
        streamed["refused"]["token seen before"].as_u64() > whole["refused"]["token seen before"].as_u64()
    );
    let [whole, grown, streamed] =
        ["whole", "grown", "streamed"].map(|name| Collected::from_file(name, &folder.read(name)).unwrap());
    for other in [&grown, &streamed] {
        assert_eq!(other.sums(), whole.sums());
        assert_eq!(other.messages(), whole.messages());
    }
    assert_eq!(grown.refused(), whole.refused());
    assert!(grown_again(&folder, whole.messages()));
}

fn grown_again(folder: &Folder, messages: u64) -> bool {
    // Nothing is left to be counted.
    let again = folder.json("collect campaign.toml growing --out grown");
    again["counted_now"] == 0 && again["messages"] == messages
}

#[test]
fn shares_are_merged_and_overlapping_ones_refused() {
    let folder = Folder::new();
    let campaign = Campaign::read("campaign.toml", &folder.campaign("steps", "")).unwrap();
    fs::write(folder.0.path().join("all"), messages(&campaign, 5000)).unwrap();
    for (name, share) in [("a", "1/2"), ("b", "2/2"), ("c", "1/3"), ("whole", "1/1")] {
        folder.run(
            0,
            &format!("collect campaign.toml all --share {share} --out {name} --threads 2"),
        );
    }
    let merged = folder.json("collect merge a b --out ab");
    assert_eq!(merged["whole"], true);
    let [merged, whole] = ["ab", "whole"].map(|name| Collected::from_file(name, &folder.read(name)).unwrap());
    assert_eq!(merged.sums(), whole.sums());
    assert_eq!(merged.messages(), whole.messages());
    let refused = folder.run(5, "collect merge a c --out ac");
    assert!(refused.contains("took the same tokens"), "{refused}");
    assert!(!folder.0.path().join("ac").exists());
    folder.run(5, "collect merge a a --out aa");
    folder.run(2, "collect merge a b --out a");
    // What was begun with one share or campaign does not go on with another.
    folder.run(5, "collect campaign.toml all --share 2/2 --out a");
    folder.run(5, "collect campaign.toml all --out ab");
    folder.write("other.toml", &folder.campaign("other", ""));
    folder.run(5, "collect other.toml all --share 1/2 --out a");
    folder.run(2, "collect campaign.toml all --share 0/2 --out d");
    folder.run(2, "collect campaign.toml all --share half --out d");
    // Room that is used up says how to go on.
    let full = folder.run(5, "collect campaign.toml all --most 10 --out small");
    assert!(full.contains("--most"), "{full}");
    let went_on = folder.json("collect campaign.toml all --out small");
    assert_eq!(went_on["messages"], whole.messages());
    // A file of another content under a name that was read is refused.
    fs::write(
        folder.0.path().join("all"),
        b"something else that is longer than one message is",
    )
    .unwrap();
    folder.run(5, "collect campaign.toml all --out whole");
}
