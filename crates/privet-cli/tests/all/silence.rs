//! What private rows say never decides how a command ends, what it prints, or whether a model is there: tables of one
//! shape and very different contents are told apart by nothing but noise.

use std::fmt::Write;
use std::fs;

use crate::home::{Home, told};

const SCHEMA: &str = r#"dataset = "visits"
unit = "person"
rows_per_unit = 2
[columns]
person = { type = "id" }
age = { type = "integer", min = 0, max = 120 }
dose = { type = "number", min = 0, max = 10, transform = "log1p" }
group = { type = "category", values = ["a", "b", "c"] }
grade = { type = "ordinal", values = ["low", "mid", "high"] }
ill = { type = "label", LABEL }
"#;

/// Tables that anybody would like to tell apart.
fn tables() -> Vec<(&'static str, String)> {
    let table = |rows: usize, row: &dyn Fn(usize) -> String| {
        let mut text = String::from("person,age,dose,group,grade,ill\n");
        (0..rows).for_each(|i| writeln!(text, "{}", row(i)).unwrap());
        text
    };
    let usual = |i: usize| {
        let (group, grade) = (["a", "b", "c"][i % 3], ["low", "mid", "high"][i % 3]);
        format!(
            "{i},{},{}.5,{group},{grade},{}",
            i % 90,
            i % 9,
            ["no", "yes"][i / 3 % 2]
        )
    };
    vec![
        ("usual", table(300, &usual)),
        ("one class", table(300, &|i| format!("{i},{},1,a,low,no", i % 90))),
        (
            "constant columns",
            table(300, &|i| format!("{i},40,1,a,low,{}", ["no", "yes"][i % 2])),
        ),
        (
            "nothing declared",
            table(300, &|i| format!("{i},old,much,z,top,maybe")),
        ),
        ("all missing", table(300, &|_| ",,,,,".into())),
        (
            "beyond bounds",
            table(300, &|i| format!("{i},-1e308,1e400,inf,NaN,-inf")),
        ),
        ("one person", table(300, &|i| format!("me,{i},1,a,low,yes"))),
        ("one row", table(1, &usual)),
        ("no row", table(0, &usual)),
        ("many rows", table(3000, &usual)),
        (
            "odd bytes",
            table(300, &|i| {
                format!("{i},\u{1F600},\u{0},\"a,b\",\"\"\"\",\u{FEFF}yes")
            }),
        ),
    ]
}

fn outcome(schema: &str, job: &str, table: &str) -> Vec<(i32, String)> {
    let home = Home::new();
    fs::write(home.path("schema.toml"), schema).unwrap();
    fs::write(home.path("job.toml"), job).unwrap();
    fs::write(home.path("rows.csv"), table).unwrap();
    let limit = [
        "ledger",
        "limit",
        "visits",
        "--epsilon",
        "1",
        "--unit",
        "person",
        "--rows-per-unit",
        "2",
    ];
    assert_eq!(told(home.privet(&limit)).0, 0);
    let mut said: Vec<(i32, String)> = [
        "schema check schema.toml --data rows.csv",
        "plan job.toml",
        "train job.toml",
        "train job.toml --not-protected",
        "evaluate model.privet --data rows.csv",
        "evaluate model.privet --data rows.csv --spend 0.25",
        "evaluate model.privet --data rows.csv --spend 2",
        "ledger show",
    ]
    .iter()
    .map(|command| told(home.privet(&command.split(' ').collect::<Vec<_>>())))
    .collect();
    said.iter_mut()
        .for_each(|(_, text)| *text = public_part(text, &home));
    assert!(home.path("model.privet").exists());
    said
}

/// Without hashes, dates, folders, and the figures that were paid for.
fn public_part(text: &str, home: &Home) -> String {
    let mut text = text.replace(&home.folder.path().display().to_string(), "");
    // Notes that follow from the same noisy counts as the figures.
    for note in ["Macro F1 is known", "The constant has such intervals"] {
        if let Some(start) = text.find(note) {
            let end = text[start..].find(".\n").expect("the note ends") + 2;
            text.replace_range(start..start + end, "");
        }
    }
    let is_paid = |line: &&str| {
        [
            "About", "accuracy", "AUC", "log loss", "F1", "macro F1", "MAE", "RMSE", "R²",
        ]
        .iter()
        .any(|name| line.starts_with(name))
    };
    let hidden = |word: &str| word.contains(|c: char| c.is_ascii_digit()) && word.len() > 7;
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| !is_paid(line))
        .map(|line| {
            line.split(' ')
                .filter(|word| !hidden(word))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    // The header of the table of figures is as wide as they are.
    lines.retain(|line| !line.trim_start().starts_with("metric"));
    lines.join("\n")
}

#[test]
fn rows_never_decide_how_a_command_ends_or_what_it_says() {
    for (label, algorithm) in [
        ("values = [\"no\", \"yes\"]", "name = \"stumps\"\nrounds = 10"),
        ("values = [\"no\", \"yes\"]", "name = \"logistic\""),
        (
            "values = [\"no\", \"yes\", \"perhaps\"]",
            "name = \"stumps\"\nrounds = 10",
        ),
        ("min = 0, max = 1", "name = \"logistic\""),
        ("min = 0, max = 1", "name = \"constant\""),
    ] {
        let schema = SCHEMA.replace("LABEL", label);
        let job = format!(
            "setting = \"plain\"\nschema = \"schema.toml\"\ndata = \"rows.csv\"\noutput = \"model.privet\"\n[algorithm]\n{algorithm}\n"
        );
        let mut usual: Option<Vec<(i32, String)>> = None;
        for (name, table) in tables() {
            let found = outcome(&schema, &job, &table);
            let codes: Vec<i32> = found.iter().map(|(code, _)| *code).collect();
            assert_eq!(codes, [0, 0, 2, 0, 2, 0, 3, 0], "{name}, {algorithm}: {found:#?}");
            // How many stumps were worth adding is part of the model, which is not protected here.
            let strip = |all: &[(i32, String)]| -> Vec<String> {
                all.iter()
                    .map(|(_, text)| text.lines().filter(|l| !l.starts_with("Wrote")).collect())
                    .collect()
            };
            match &usual {
                None => usual = Some(found),
                Some(usual) => assert_eq!(strip(usual), strip(&found), "{name}, {algorithm}"),
            }
        }
    }
}

/// A reader that did let a cell decide would be seen: a line with a cell too many is a matter of shape.
#[test]
fn the_comparison_can_fail() {
    let home = Home::new();
    fs::write(
        home.path("schema.toml"),
        SCHEMA.replace("LABEL", "values = [\"no\", \"yes\"]"),
    )
    .unwrap();
    fs::write(
        home.path("rows.csv"),
        "person,age,dose,group,grade,ill\n1,2,3,a,low,no,7\n",
    )
    .unwrap();
    let (code, text) = told(home.privet(&["schema", "check", "schema.toml", "--data", "rows.csv"]));
    assert_eq!(code, 5);
    assert!(text.contains("line 2"), "{text}");
}
