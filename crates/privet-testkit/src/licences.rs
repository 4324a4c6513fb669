//! Every dependency, at any depth and for any platform, comes under a licence that was agreed to.
//!
//! Works without network once `cargo fetch --locked` has run: it reads the lock file and the local registry cache.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, LicenseReq, Licensee, ParseMode};

/// What somebody agreed to for one workspace.
#[derive(Debug, Clone, Copy)]
pub struct Agreement {
    /// Licences by name. Only what the tree needs stands here: adding one is a decision.
    pub licences: &'static [&'static str],
    /// Packages that declare a file instead of an expression: the licence somebody read there, and words by which the file is
    /// recognised, so that a changed file is read again.
    pub read: &'static [(&'static str, &'static str, &'static str)],
}

impl Agreement {
    /// Fails the calling test on a package whose licence is not listed, and on a listed licence that no package needs.
    ///
    /// # Panics
    /// In both cases.
    pub fn expect_of(&self, packages: &[Value]) {
        let objections: Vec<String> = packages
            .iter()
            .filter_map(|package| {
                self.object_to(package)
                    .map(|why| format!("{}: {why}", package["id"]))
            })
            .collect();
        assert!(objections.is_empty(), "{}", objections.join("\n"));
        for (name, ..) in self.read {
            let unread = |p: &Value| p["name"] == *name && p["license"].is_null();
            assert!(packages.iter().any(unread), "{name} stands here in vain");
        }
        for name in self.licences {
            let needs = |p: &Value| p["license"].as_str().is_some_and(|e| self.needs(e, name));
            assert!(packages.iter().any(needs), "no package needs {name}");
        }
    }

    /// Why an expression cannot be complied with by agreed licences alone, if so.
    pub fn objection(&self, expression: &str) -> Option<String> {
        match parse(expression) {
            Ok(parsed) if parsed.evaluate(|requirement| self.satisfies(requirement, "")) => None,
            Ok(_) => Some(format!("{expression} is not agreed to")),
            Err(e) => Some(format!("{expression:?} is no licence expression: {}", e.reason)),
        }
    }

    /// Why a package, as `cargo metadata` writes it, may not be used, if so.
    pub fn object_to(&self, package: &Value) -> Option<String> {
        let name = package["name"].as_str().expect("a package has a name");
        if let Some(expression) = package["license"].as_str() {
            return self.objection(expression);
        }
        let Some(file) = package["license_file"].as_str() else {
            return Some("no licence at all".into());
        };
        let Some((_, licence, words)) = self.read.iter().find(|(read, ..)| *read == name) else {
            return Some(format!("a licence file that nobody has read: {file}"));
        };
        let manifest = package["manifest_path"]
            .as_str()
            .expect("a package has a manifest");
        let text = std::fs::read_to_string(Path::new(manifest).with_file_name(file)).unwrap_or_default();
        // Line breaks are not part of a licence.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.contains(words) {
            self.objection(licence)
        } else {
            Some(format!("{file} no longer reads as {licence}"))
        }
    }

    fn needs(&self, expression: &str, name: &str) -> bool {
        parse(expression).is_ok_and(|e| !e.evaluate(|requirement| self.satisfies(requirement, name)))
    }

    /// Whether an agreed licence other than `without` satisfies a requirement.
    fn satisfies(&self, requirement: &LicenseReq, without: &str) -> bool {
        let others = self.licences.iter().filter(|name| **name != without);
        others
            .map(|name| Licensee::parse(name).expect("a licence's name"))
            .any(|licence| licence.satisfies(requirement))
    }
}

/// Old manifests write "MIT/Apache-2.0"; anything else that is not SPDX is an objection by itself.
fn parse(expression: &str) -> Result<Expression, spdx::ParseError> {
    let mode = ParseMode {
        allow_slash_as_or_operator: true,
        ..ParseMode::STRICT
    };
    Expression::parse_mode(expression, mode)
}

/// All packages of a folder's workspace: for every platform where they have been fetched (as CI does), else for this one.
///
/// # Panics
/// If they have not been fetched for this platform either.
pub fn packages(folder: &str) -> Vec<Value> {
    let metadata = |arguments: &[&str]| {
        Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args(["metadata", "--locked", "--offline", "--format-version", "1"])
            .args(arguments)
            .current_dir(folder)
            .output()
            .expect("cargo runs")
    };
    let mut output = metadata(&[]);
    if !output.status.success() {
        output = metadata(&["--filter-platform", &host()]);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "run `cargo fetch --locked` first:\n{complaint}"
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    metadata["packages"]
        .as_array()
        .expect("a list of packages")
        .clone()
}

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.expect("rustc names its host").to_owned()
}
