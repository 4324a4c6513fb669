//! Every folder in `examples` does what its README says: its commands are run, in order, in a copy of it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::home::{Home, copy, told};

#[test]
fn every_example_runs_as_its_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut examples = 0;
    for example in fs::read_dir(root).unwrap() {
        let example = example.unwrap().path();
        // Notebooks are run by the tests of the Python package.
        if example.ends_with("notebooks") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        copy(&example, folder.path());
        let readme = fs::read_to_string(example.join("README.md")).unwrap();
        let commands: Vec<&str> = readme
            .lines()
            .filter_map(|line| line.strip_prefix("privet "))
            .collect();
        assert!(commands.len() >= 3, "{}", example.display());
        for command in commands {
            let output = Command::new(env!("CARGO_BIN_EXE_privet"))
                .args(command.split_whitespace())
                .current_dir(folder.path())
                .env("PRIVET_LEDGER", "ledger.db")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success(),
                "{}: privet {command}\n{said}",
                example.display()
            );
            assert!(!output.stdout.is_empty());
        }
        examples += 1;
    }
    assert!(examples >= 1);
}

/// What the READMEs say to type into several terminals: block after block, the parties of a block at once.
#[test]
fn every_party_runs_in_its_own_terminal() {
    let examples = match privet_testkit::skipped::full() {
        true => &["secure", "vertical", "horizontal"][..],
        false => &["secure"],
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = Path::new(env!("CARGO_BIN_EXE_privet"))
        .parent()
        .unwrap()
        .to_owned();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for example in examples {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("examples").join(example);
        fs::create_dir_all(&place).unwrap();
        fs::create_dir(folder.path().join("deploy")).unwrap();
        copy(&root.join("deploy"), &folder.path().join("deploy"));
        copy(&root.join("examples").join(example), &place);
        let port = crate::network::port();
        for job in ["job.toml", "predict.toml"].map(|job| place.join(job)) {
            let Ok(text) = fs::read_to_string(&job) else {
                continue;
            };
            let text = ["7443", "7444", "7445"]
                .iter()
                .fold(text, |text, old| text.replace(old, &port.to_string()));
            fs::write(job, text).unwrap();
        }
        let readme = fs::read_to_string(place.join("README.md")).unwrap();
        let mut parties = Vec::new();
        let mut runs = 0;
        for line in readme.lines() {
            // The parties of one block talk to each other; what comes after it needs their results.
            if line.starts_with("```") && !parties.is_empty() {
                assert!(parties.len() >= 2, "{example}");
                runs += 1;
                for (line, party) in parties.drain(..) {
                    ended_well(line, &Child::wait_with_output(party).unwrap());
                }
            }
            if !["PRIVET_", "sh ", "cp "]
                .iter()
                .any(|start| line.starts_with(start))
            {
                continue;
            }
            let mut command = Command::new("sh");
            command.args(["-c", line]).current_dir(&place).env("PATH", &path);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            match line.contains(" party ") {
                true => parties.push((line, command.spawn().unwrap())),
                false => ended_well(line, &command.output().unwrap()),
            }
        }
        assert!(runs >= 1, "{example}");
    }
}

fn ended_well(line: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {said}");
}

/// The δ that stands beside a number of rows, in the README, in the help and in the error that asks for both, is none that is warned of.
#[test]
fn examples_of_a_delta_are_not_warned_of() {
    let home = Home::new();
    let told = |arguments: &[&str]| told(home.privet(arguments)).1;
    fs::write(
        home.path("schema.toml"),
        "dataset = \"patients\"\n[columns]\nage = { type = \"integer\", min = 0, max = 120 }\n\
         ill = { type = \"label\", values = [\"no\", \"yes\"] }\n",
    )
    .unwrap();
    let job = "setting = \"central\"\nschema = \"schema.toml\"\ndata = \"patients.csv\"\noutput = \"model.privet\"\n\
               [algorithm]\nname = \"trees\"\n";
    fs::write(home.path("short.toml"), job).unwrap();
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let texts = [
        fs::read_to_string(readme).unwrap(),
        told(&["help", "train"]),
        told(&["plan", "short.toml"]),
    ];
    for text in texts {
        let value = |key: &str| {
            let rest = text.split(key).nth(1).unwrap_or_else(|| panic!("{key}: {text}"));
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-.".contains(c)));
            &rest[..end.unwrap_or(rest.len())]
        };
        let (delta, rows) = (value("delta = "), value("rows_about = "));
        let spent = format!("{job}[privacy]\nepsilon = 0.5\ndelta = {delta}\nrows_about = {rows}\n");
        fs::write(home.path("job.toml"), spent).unwrap();
        let plan = told(&["plan", "job.toml"]);
        assert!(plan.contains(rows), "{plan}");
        assert!(
            !plan.contains("WARNING"),
            "delta = {delta}, rows_about = {rows}: {plan}"
        );
    }
}
