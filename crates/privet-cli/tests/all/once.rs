//! A command makes each plan once: whatever it says and does follows from that one.

use std::ffi::OsString;
use std::path::Path;

use privet::parameters::PLANS;

use crate::home::{case, copy};

const SCHEMA: &str = "dataset = \"patients\"\n[columns]\n\
    age = { type = \"integer\", min = 0, max = 120 }\n\
    region = { type = \"category\", values = [\"north\", \"south\"] }\n\
    label = { type = \"label\", values = [\"no\", \"yes\"] }\n";

/// How many plans a command makes, in this process and on this thread.
fn plans(folder: &Path, arguments: &[&str]) -> u64 {
    let before = PLANS.get();
    let ledger = folder.join("ledger.db").display().to_string();
    let job = folder.join("job.toml").display().to_string();
    let all = ["privet", "--json"].iter().chain(arguments);
    let all = all.map(|argument| argument.replace("LEDGER", &ledger).replace("JOB", &job));
    let ended = privet_cli::main(all.map(OsString::from));
    // An exit code can be compared by what it shows only.
    assert_eq!(
        format!("{ended:?}"),
        format!("{:?}", std::process::ExitCode::SUCCESS),
        "{arguments:?}"
    );
    PLANS.get() - before
}

#[test]
fn a_command_makes_each_plan_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let rows: String = (0..200)
        .map(|i| {
            format!(
                "{},{},{}\n",
                i % 100,
                ["north", "south"][i % 2],
                ["no", "yes"][i / 100]
            )
        })
        .collect();
    std::fs::write(at.join("rows.csv"), format!("age,region,label\n{rows}")).unwrap();
    std::fs::write(at.join("schema.toml"), SCHEMA).unwrap();
    plans(
        at,
        &[
            "ledger",
            "--ledger",
            "LEDGER",
            "limit",
            "patients",
            "--epsilon",
            "20",
        ],
    );
    for algorithm in ["auto", "trees", "brc", "histogram-bayes"] {
        let job = format!(
            "setting = \"central\"\nschema = \"schema.toml\"\ndata = \"rows.csv\"\noutput = \"{algorithm}.privet\"\n\
             [algorithm]\nname = \"{algorithm}\"\n[privacy]\nepsilon = 2\nrows_about = 200\n"
        );
        std::fs::write(at.join("job.toml"), job).unwrap();
        assert_eq!(
            plans(at, &["plan", "--ledger", "LEDGER", "JOB"]),
            1,
            "{algorithm}"
        );
        assert_eq!(
            plans(at, &["train", "--ledger", "LEDGER", "JOB"]),
            1,
            "{algorithm}"
        );
    }
    // Public rows, so that nobody has to permit anything.
    let open = SCHEMA
        .replace(" }\n", ", private = false }\n")
        .replace("patients", "open");
    std::fs::write(at.join("schema.toml"), open).unwrap();
    // A ledger knows these rows by another schema; public ones need none.
    std::fs::remove_file(at.join("ledger.db")).unwrap();
    let job = "setting = \"plain\"\nschema = \"schema.toml\"\ndata = \"rows.csv\"\noutput = \"plain.privet\"\n\
               [algorithm]\nname = \"trees\"\nrounds = 3\n";
    std::fs::write(at.join("job.toml"), job).unwrap();
    assert_eq!(plans(at, &["plan", "--ledger", "LEDGER", "JOB"]), 1);
    assert_eq!(plans(at, &["train", "--ledger", "LEDGER", "JOB"]), 1);
    // The job's own, and the best constant.
    let simulate = [
        "simulate",
        "--ledger",
        "LEDGER",
        "JOB",
        "--parties",
        "2",
        "--runs",
        "2",
    ];
    assert_eq!(plans(at, &simulate), 2);
    // Rows that anybody may have are still protected where a job says so: its own plan, one without privacy, the best constant.
    let job = "setting = \"central\"\nschema = \"schema.toml\"\ndata = \"rows.csv\"\noutput = \"central.privet\"\n\
               [algorithm]\nname = \"trees\"\n[privacy]\nepsilon = 2\nrows_about = 200\nchange = \"add-remove\"\n";
    std::fs::write(at.join("job.toml"), job).unwrap();
    assert_eq!(plans(at, &simulate), 3);
}

/// One plan for each of two parties, and the one that checks trees over the columns of both.
#[test]
fn each_party_is_planned_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    copy(&case("vertical"), at);
    let limit = "ledger --ledger LEDGER limit shop --epsilon 0 --change replace";
    plans(at, &limit.split(' ').collect::<Vec<_>>());
    assert_eq!(plans(at, &["plan", "--ledger", "LEDGER", "JOB"]), 3);
    let train = ["train", "--ledger", "LEDGER", "JOB", "--not-protected"];
    assert_eq!(plans(at, &train), 3);
    // Labels that change.
    std::fs::copy(at.join("noisy.toml"), at.join("job.toml")).unwrap();
    let limit = "ledger --ledger LEDGER limit register --epsilon 0 --change replace-private --columns loan";
    plans(at, &limit.split(' ').collect::<Vec<_>>());
    let train = ["train", "--ledger", "LEDGER", "JOB", "--overwrite"];
    assert_eq!(plans(at, &train), 3);
    // Besides, however many runs: both parties once their rows were matched, trees over all columns in two ways, the label holder's
    // own trees, and the best constant.
    std::fs::copy(at.join("open.toml"), at.join("job.toml")).unwrap();
    for runs in ["1", "3"] {
        let simulate = ["simulate", "--ledger", "LEDGER", "JOB", "--runs", runs];
        assert_eq!(plans(at, &simulate), 3 + 6);
    }
}
