//! What newcomers stumble over: labels that match nothing, pipes, and files in other encodings.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use privet_testkit::skipped::runs;

use crate::home::{Home, told};

const SCHEMA: &str = "dataset = \"patients\"\n[columns]\nage = { type = \"integer\", min = 0, max = 120 }\ndose = { type = \"number\", min = 0, max = 10 }\n\
                      ill = { type = \"label\", values = [\"no\", \"yes\"] }\n";
const JOB: &str = "setting = \"central\"\nschema = \"schema.toml\"\ndata = \"rows.csv\"\noutput = \"model.privet\"\n[algorithm]\nname = \"auto\"\n[privacy]\n\
                   epsilon = 0.5\nrows_about = 300\n";

/// A table whose labels are written otherwise than declared.
fn home() -> Home {
    let home = Home::new();
    let rows: String = (0..300)
        .map(|i| {
            format!(
                "{},{}.5,{}\n",
                if i == 7 { 999 } else { i % 90 },
                i % 9,
                ["n", "y"][i % 2]
            )
        })
        .collect();
    fs::write(home.path("rows.csv"), format!("age,dose,ill\n{rows}")).unwrap();
    fs::write(home.path("schema.toml"), SCHEMA).unwrap();
    fs::write(home.path("job.toml"), JOB).unwrap();
    home
}

/// Runs a command on a terminal of its own; what it showed, or nothing if this machine has no `script`.
fn on_terminal(home: &Home, arguments: &str) -> Option<String> {
    let there = Path::new("/usr/bin/script").exists() && cfg!(target_os = "linux");
    if !runs("what needs a terminal (script of util-linux)", there) {
        return None;
    }
    let output = Command::new("/usr/bin/script")
        .args([
            "-qec",
            &format!("{} {arguments}", env!("CARGO_BIN_EXE_privet")),
            "/dev/null",
        ])
        .current_dir(home.folder.path())
        .env("PRIVET_LEDGER", home.ledger())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Some(String::from_utf8_lossy(&output.stdout).replace('\r', ""))
}

/// On the own terminal, and when asked, the owner sees that no label is what was declared.
#[test]
fn labels_that_match_nothing_are_counted_for_their_owner() {
    let home = home();
    let Some(text) = on_terminal(
        &home,
        "schema check schema.toml --data rows.csv --private-diagnostics",
    ) else {
        return;
    };
    for line in [
        "Only for you: 300 rows.",
        "   column    missing undeclared  below min  above max",
        "   age             0          0          0          1",
        "   dose            0          0          0          0",
        "   ill             0        300          -          -",
        "'ill': 300 of 300 cells are no declared value, such as \"n\", \"y\"; each counts as \"no\".",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// Before anything is paid, a terminal is told how to look; whatever the rows are, and nowhere else.
#[test]
fn train_names_the_diagnostics_before_it_pays() {
    let home = home();
    let Some(text) = on_terminal(&home, "train job.toml") else {
        return;
    };
    let command = "privet schema check schema.toml --data rows.csv --private-diagnostics";
    assert!(text.contains(command), "{text}");
    assert!(text.find(command) < text.find("guarantee"), "{text}");
    let (exit, piped) = told(home.privet(&["train", "job.toml", "--out", "other.privet"]));
    assert_eq!(exit, 0, "{piped}");
    assert!(!piped.contains("--private-diagnostics"), "{piped}");
    let good = fs::read_to_string(home.path("rows.csv")).unwrap();
    let home = Home::new();
    fs::write(
        home.path("rows.csv"),
        good.replace(",n\n", ",no\n").replace(",y\n", ",yes\n"),
    )
    .unwrap();
    fs::write(home.path("schema.toml"), SCHEMA).unwrap();
    fs::write(home.path("job.toml"), JOB).unwrap();
    let before = |text: &str| text.split("data set").next().unwrap_or_default().to_owned();
    let other = on_terminal(&home, "train job.toml").unwrap();
    assert_eq!(before(&text).lines().next(), before(&other).lines().next());
    assert!(other.contains(command));
}

fn fed(home: &Home, arguments: &[&str], bytes: &[u8]) -> (i32, String) {
    let mut command = home.privet(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

/// A table through a pipe is read for its cells and to be recognised, and gives the same as the file.
#[test]
fn a_table_can_come_through_standard_input() {
    let home = home();
    let rows = fs::read(home.path("rows.csv")).unwrap();
    let (exit, text) = fed(&home, &["schema", "check", "schema.toml", "--data", "-"], &rows);
    assert_eq!(exit, 0, "{text}");
    assert!(
        text.contains("standard input has these columns and reads to its end."),
        "{text}"
    );
    let (exit, text) = fed(&home, &["train", "job.toml", "--data", "-"], &rows);
    assert_eq!(exit, 0, "{text}");
    let from_file = told(home.privet(&["predict", "model.privet", "--data", "rows.csv"]));
    assert_eq!(
        fed(&home, &["predict", "model.privet", "--data", "-"], &rows),
        from_file
    );
    let (exit, text) = fed(&home, &["schema", "draft", "-"], &rows);
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains("dose = { type = \"number\" }"), "{text}");
    // What came through the pipe is known by now: under another name it is refused.
    let renamed = SCHEMA.replace("patients", "others");
    fs::write(home.path("schema.toml"), renamed).unwrap();
    assert_eq!(
        told(home.privet(&["ledger", "limit", "others", "--epsilon", "1"])).0,
        0
    );
    let (exit, text) = told(home.privet(&["train", "job.toml", "--out", "again.privet"]));
    assert_eq!(exit, 3, "{text}");
    let (exit, text) = fed(&home, &["schema", "check", "schema.toml", "--data", "-"], b"");
    assert_eq!(exit, 5, "{text}");
    assert!(text.contains("standard input: the file is empty"), "{text}");
}

/// Spreadsheet programs write UTF-16 with a byte order mark: it is read like any other text.
/// How many rows a table has is a property of rows: one of a single row trains as any other, ends alike, and predicts.
#[test]
fn a_table_of_one_row_trains_as_any_other() {
    let home = home();
    fs::write(home.path("one.csv"), "age,dose,ill\n34,2.5,yes\n").unwrap();
    let trees = JOB.replace("\"auto\"", "\"trees\"");
    for (name, job) in [("auto.toml", JOB), ("trees.toml", &trees)] {
        fs::write(home.path(name), job.replace("rows.csv", "one.csv")).unwrap();
        let out = format!("{name}.privet");
        let (exit, said) = told(home.privet(&["train", name, "--out", &out]));
        assert_eq!(exit, 0, "{said}");
        let (exit, said) = told(home.privet(&["predict", &out, "--data", "one.csv"]));
        assert_eq!(exit, 0, "{said}");
    }
}

#[test]
fn utf_16_is_read() {
    let home = home();
    let text = fs::read_to_string(home.path("rows.csv")).unwrap();
    let wide: Vec<u8> = std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    fs::write(home.path("wide.csv"), &wide).unwrap();
    let (exit, said) = told(home.privet(&["schema", "check", "schema.toml", "--data", "wide.csv"]));
    assert_eq!(exit, 0, "{said}");
    let (exit, said) = told(home.privet(&["schema", "draft", "wide.csv"]));
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("age = { type = \"integer\" }"), "{said}");
    // Without the mark nobody knows.
    fs::write(home.path("bare.csv"), &wide[2..]).unwrap();
    let (exit, said) = told(home.privet(&["schema", "check", "schema.toml", "--data", "bare.csv"]));
    assert_eq!(exit, 5, "{said}");
    assert!(said.contains("UTF-16"), "{said}");
}

/// `docs/jobs.md` is what the command prints.
#[test]
fn the_page_of_jobs_is_what_help_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/jobs.md");
    let (exit, text) = told(Home::new().privet(&["help", "jobs"]));
    assert_eq!(exit, 0, "{text}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page == text, "run: privet help jobs > docs/jobs.md");
}
