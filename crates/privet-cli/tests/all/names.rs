//! Characters that cannot be seen: no new name has one, and old ones are shown.

use std::fs;
use std::path::Path;

use crate::home::{Home, told};

const TURNED: char = '\u{202e}';

/// A table, its schema and a job; what stands for `NAME` in each is replaced.
fn home(name: &str) -> Home {
    let home = Home::new();
    let files = [
        (
            "schema.toml",
            "dataset = \"shop\"\n[columns]\n\"NAME\" = { type = \"number\", min = 0, max = 9, private = false }\nmood = { type = \"category\", \
             values = [\"NAME\", \"bad\"], private = false }\npaid = { type = \"label\", values = [\"no\", \"NAME\"], private = false }\n",
        ),
        (
            "job.toml",
            "setting = \"plain\"\nschema = \"schema.toml\"\ndata = \"shop.csv\"\noutput = \"model.privet\"\n[algorithm]\nname = \"stumps\"\n",
        ),
    ];
    for (file, text) in files {
        fs::write(home.path(file), text.replace("NAME", name)).unwrap();
    }
    // The table has the character itself.
    let cell = name.replace("\\u202E", &TURNED.to_string());
    let rows: String = (0..40)
        .map(|i| format!("{},{cell},{}\n", i % 10, ["no", &cell][i % 2]))
        .collect();
    fs::write(home.path("shop.csv"), format!("{cell},mood,paid\n{rows}")).unwrap();
    home
}

#[test]
fn a_character_that_cannot_be_seen_is_refused_where_a_name_is_declared() {
    let home = home(&format!("in{TURNED}come"));
    let (exit, text) = told(home.privet(&["schema", "check", "schema.toml"]));
    assert_eq!(exit, 5, "{text}");
    for line in [3, 4, 5] {
        assert!(text.contains(&format!("line {line}")), "{text}");
    }
    assert!(
        text.contains(
            "here is the character U+202E (right-to-left override), which cannot be seen: remove it"
        ) && text.contains("write \"\\u202E\" for it"),
        "{text}"
    );
    let (exit, text) = told(home.privet(&["train", "job.toml"]));
    assert_eq!(exit, 5, "{text}");
    assert!(!home.path("model.privet").exists());
    // Also in a comment, where it could turn what stands around it.
    fs::write(
        home.path("schema.toml"),
        format!("dataset = \"shop\" # {TURNED}\n"),
    )
    .unwrap();
    let (exit, text) = told(home.privet(&["schema", "check", "schema.toml"]));
    assert!(exit == 5 && text.contains("U+202E"), "{text}");
}

#[test]
fn data_sets_and_parties_have_no_such_character_in_any_form() {
    let home = home("income");
    let (exit, text) = told(home.privet(&["ledger", "limit", &format!("sh{TURNED}op"), "--epsilon", "1"]));
    assert_eq!(exit, 2, "{text}");
    assert!(
        text.contains("U+202E (right-to-left override) as its character 3"),
        "{text}"
    );
    let schema = fs::read_to_string(home.path("schema.toml")).unwrap();
    fs::write(
        home.path("schema.toml"),
        schema.replace("\"shop\"", "\"sh\\u200Bop\""),
    )
    .unwrap();
    let (exit, text) = told(home.privet(&["schema", "check", "schema.toml"]));
    assert_eq!(exit, 5, "{text}");
    assert!(
        text.contains("U+200B (zero width space) as its character 3"),
        "{text}"
    );
    let job = "setting = \"vertical\"\noutput = \"m.privet\"\n[label_holder]\nname = \"ba\\u200Bnk\"\nschema = \"schema.toml\"\ndata = \"shop.csv\"\n";
    fs::write(home.path("job.toml"), job).unwrap();
    let (exit, text) = told(home.privet(&["plan", "job.toml"]));
    assert_eq!(exit, 5, "{text}");
    assert!(
        text.contains("is not a valid name of a party: it has U+200B"),
        "{text}"
    );
}

/// What the table really has can be declared, in the form that can be seen, and is shown in it.
#[test]
fn what_is_declared_visibly_is_shown_visibly() {
    let home = home("in\\u202Ecome");
    let outputs = [
        &["schema", "check", "schema.toml", "--data", "shop.csv"][..],
        &["train", "job.toml"],
        &["inspect", "model.privet"],
        &["inspect", "model.privet", "--json"],
        &["schema", "draft", "shop.csv"],
    ];
    for arguments in outputs {
        let (exit, text) = told(home.privet(arguments));
        assert_eq!(exit, 0, "{text}");
        assert!(!text.contains(TURNED), "{arguments:?}: {text:?}");
    }
    let (_, text) = told(home.privet(&["inspect", "model.privet"]));
    assert!(text.contains("in\\u202Ecome"), "{text}");
    // A file is for programs, and has what the table has.
    let predict = [
        "predict",
        "model.privet",
        "--data",
        "shop.csv",
        "--what",
        "labels",
    ];
    let (exit, text) = told(home.privet(&predict));
    assert!(exit == 0 && text.contains(TURNED), "{text:?}");
}

#[test]
fn names_of_files_are_shown_visibly_in_messages() {
    let home = Home::new();
    for arguments in [
        &["inspect", "mo\u{202e}del\u{1b}[2J"][..],
        &["inspect", "mo\u{202e}del\u{1b}[2J", "--json"],
    ] {
        let (exit, text) = told(home.privet(arguments));
        assert_eq!(exit, 5, "{text}");
        assert!(!text.contains([TURNED, '\u{1b}']), "{text:?}");
        assert!(text.contains("mo\\u202Edel\\u001B[2J"), "{text:?}");
    }
}

/// A model that was written while such names were accepted opens and predicts.
#[test]
fn a_model_from_before_opens() {
    let home = Home::new();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/before/hidden-names.privet");
    fs::copy(old, home.path("old.privet")).unwrap();
    let (exit, text) = told(home.privet(&["inspect", "old.privet"]));
    assert_eq!(exit, 0, "{text}");
    assert!(
        text.contains("in\\u200Bcome") && !text.contains(['\u{200b}', TURNED, '\u{2066}']),
        "{text:?}"
    );
    fs::write(home.path("new.csv"), "in\u{200b}come,mood\n90,bad\n").unwrap();
    let predict = ["predict", "old.privet", "--data", "new.csv", "--what", "labels"];
    assert_eq!(
        told(home.privet(&predict)),
        (0, "row,paid\n1,y\u{2066}es\n".into())
    );
}
