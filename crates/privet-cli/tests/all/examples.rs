//! Every folder in `examples` does what its README says: its commands are run, in order, in a copy of it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::home::copy;

#[test]
fn every_example_runs_as_its_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut examples = 0;
    for example in fs::read_dir(root).unwrap() {
        let example = example.unwrap().path();
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
