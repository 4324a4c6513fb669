//! The arguments as they are needed: parsed, and checked against each other.

mod desensitise;
mod limit;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use privet::model::Format;
use privet::privacy::Epsilon;
use privet::privacy::signature::Fingerprint;

use super::exit::Failure;
use super::low::{self, LedgerVerb, LowArgs, SchemaVerb, Verb, What};
pub(super) use desensitise::Desensitise;
pub(super) use limit::Limit;

#[derive(Debug)]
pub(super) enum Command {
    Demo {
        keep: Option<PathBuf>,
    },
    Draft {
        file: PathBuf,
        out: Option<PathBuf>,
        dataset: Option<String>,
    },
    Check {
        schema: PathBuf,
        data: Option<PathBuf>,
        diagnostics: bool,
    },
    Plan {
        job: PathBuf,
        ledger: Where,
    },
    Train(Train),
    Predict {
        model: PathBuf,
        data: PathBuf,
        out: Option<PathBuf>,
        what: What,
        ledger: Where,
    },
    Evaluate(Evaluate),
    Inspect {
        model: PathBuf,
        signed_by: Option<Fingerprint>,
    },
    Export {
        model: PathBuf,
        format: Format,
        out: PathBuf,
        ledger: Where,
    },
    Desensitise(Desensitise),
    Simulate(Simulate),
    Reproduce(Reproduce),
    Ledger {
        path: PathBuf,
        verb: LedgerCommand,
    },
    Completions {
        shell: clap_complete::Shell,
    },
}

#[derive(Debug)]
pub(super) enum LedgerCommand {
    Show { dataset: Option<String> },
    Verify { against: Vec<PathBuf> },
    Limit(Limit),
    Adopt { dataset: String, of: String },
    Export { out: Option<PathBuf> },
    Key,
}

#[derive(Debug)]
pub(super) struct Train {
    pub(super) job: PathBuf,
    pub(super) data: Option<PathBuf>,
    pub(super) out: Option<PathBuf>,
    pub(super) overwrite: bool,
    pub(super) not_protected: bool,
    pub(super) ledger: Where,
}

#[derive(Debug)]
pub(super) struct Evaluate {
    pub(super) model: PathBuf,
    pub(super) data: PathBuf,
    pub(super) schema: Option<PathBuf>,
    pub(super) consent: Consent,
    pub(super) ledger: Where,
}

/// What the owner of private rows agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    Nothing,
    Spend(Epsilon),
    NotProtected,
}

#[derive(Debug)]
pub(super) struct Simulate {
    pub(super) job: PathBuf,
    pub(super) data: Option<PathBuf>,
    pub(super) parties: NonZeroUsize,
    pub(super) test: u8,
    pub(super) seed: u64,
    pub(super) runs: u32,
    pub(super) not_protected: bool,
    pub(super) ledger: Where,
}

#[derive(Debug)]
pub(super) struct Reproduce {
    pub(super) key: Option<String>,
    /// "table 2" or "figure 1".
    pub(super) item: Option<String>,
    pub(super) dataset: Option<String>,
    pub(super) runs: Option<u32>,
    /// The folder with the data sets.
    pub(super) data: PathBuf,
}

/// Where the ledger is, or why that is not known: only some runs need one.
#[derive(Debug)]
pub(super) struct Where(Result<PathBuf, String>);

impl Where {
    pub(super) fn path(&self) -> Result<&std::path::Path, Failure> {
        self.0.as_deref().map_err(Failure::usage)
    }
}

/// The command that the arguments ask for; `env` gives environment variables.
pub(super) fn command(low: LowArgs, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Command, Failure> {
    let place = |given: Option<PathBuf>| Where(ledger_path(given, env).map_err(|failure| failure.message));
    Ok(match low.verb {
        Verb::Demo(demo) => Command::Demo { keep: demo.keep },
        Verb::Completions(completions) => Command::Completions {
            shell: completions.shell,
        },
        Verb::Ledger(given) => Command::Ledger {
            path: ledger_path(given.ledger, env)?,
            verb: ledger(given.verb)?,
        },
        Verb::Schema(given) => match given.verb {
            SchemaVerb::Draft(draft) => Command::Draft {
                file: draft.file,
                out: draft.out,
                dataset: draft.dataset.as_deref().map(name).transpose()?,
            },
            SchemaVerb::Check(check) => {
                if check.private_diagnostics && low.json {
                    return Err(Failure::usage(
                        "--private-diagnostics is for your own eyes: it is never written as JSON. Leave out --json.",
                    ));
                }
                Command::Check {
                    schema: check.schema,
                    data: check.data,
                    diagnostics: check.private_diagnostics,
                }
            }
        },
        Verb::Plan(plan) => Command::Plan {
            job: plan.job,
            ledger: place(plan.ledger.ledger),
        },
        Verb::Train(train) => Command::Train(Train {
            job: train.job,
            data: train.data,
            out: train.out,
            overwrite: train.overwrite,
            not_protected: train.not_protected,
            ledger: place(train.ledger.ledger),
        }),
        Verb::Predict(predict) => Command::Predict {
            model: predict.model,
            data: predict.data,
            out: predict.out,
            what: predict.what,
            ledger: place(None),
        },
        Verb::Evaluate(evaluate) => Command::Evaluate(evaluate_of(evaluate, low.json, &place)?),
        Verb::Inspect(inspect) => Command::Inspect {
            model: inspect.model,
            signed_by: inspect.signed_by.as_deref().map(str::parse).transpose()?,
        },
        Verb::Export(export) => Command::Export {
            model: export.model,
            format: match export.format {
                low::Into::XgboostJson => Format::XgboostJson,
                low::Into::XgboostUbj => Format::XgboostUbj,
                low::Into::Onnx => Format::Onnx,
            },
            out: export.out,
            ledger: place(None),
        },
        Verb::Desensitise(given) => Command::Desensitise(desensitise::desensitise_of(given, &place)?),
        Verb::Simulate(simulate) if simulate.not_protected && low.json => {
            return Err(Failure::usage(
                "--not-protected is for your own terminal: it is never written as JSON. Leave out --json.",
            ));
        }
        Verb::Simulate(simulate) => Command::Simulate(Simulate {
            job: simulate.job,
            data: simulate.data,
            parties: simulate.parties,
            test: simulate.test,
            seed: simulate.seed,
            runs: simulate.runs,
            not_protected: simulate.not_protected,
            ledger: place(simulate.ledger.ledger),
        }),
        Verb::Reproduce(reproduce) => Command::Reproduce(Reproduce {
            key: reproduce.key,
            item: match (reproduce.table, reproduce.figure) {
                (Some(n), _) => Some(format!("table {n}")),
                (None, Some(n)) => Some(format!("figure {n}")),
                (None, None) => None,
            },
            dataset: reproduce.dataset,
            runs: reproduce.runs,
            data: env("PRIVET_DATA")
                .filter(|v| !v.is_empty())
                .map_or_else(|| "../shared/data".into(), PathBuf::from),
        }),
    })
}

fn ledger(verb: LedgerVerb) -> Result<LedgerCommand, Failure> {
    Ok(match verb {
        LedgerVerb::Show(show) => LedgerCommand::Show {
            dataset: show.dataset,
        },
        LedgerVerb::Verify(verify) => LedgerCommand::Verify {
            against: verify.against,
        },
        LedgerVerb::Limit(limit) => LedgerCommand::Limit(limit::limit_of(&limit)?),
        LedgerVerb::Adopt(adopt) => LedgerCommand::Adopt {
            dataset: name(&adopt.dataset)?,
            of: adopt.of,
        },
        LedgerVerb::Export(export) => LedgerCommand::Export { out: export.out },
        LedgerVerb::Key(_) => LedgerCommand::Key,
    })
}

fn evaluate_of(
    low: low::Evaluate,
    json: bool,
    place: &dyn Fn(Option<PathBuf>) -> Where,
) -> Result<Evaluate, Failure> {
    let consent = match low.spend.as_deref().map(str::parse::<Epsilon>).transpose()? {
        Some(Epsilon::ZERO) => {
            return Err(Failure::usage(
                "--spend 0 buys nothing: say how much ε may be spent",
            ));
        }
        Some(epsilon) => Consent::Spend(epsilon),
        None if low.not_protected && json => {
            return Err(Failure::usage(
                "--not-protected is for your own terminal: it is never written as JSON. Leave out --json, or use --spend.",
            ));
        }
        None if low.not_protected => Consent::NotProtected,
        None => Consent::Nothing,
    };
    Ok(Evaluate {
        model: low.model,
        data: low.data,
        schema: low.schema,
        consent,
        ledger: place(low.ledger.ledger),
    })
}

/// One ledger from wherever the command is run: a fresh budget for each folder would be no budget.
fn ledger_path(given: Option<PathBuf>, env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, Failure> {
    let set = |variable| env(variable).filter(|value| !value.is_empty());
    if let Some(path) = given.or_else(|| set("PRIVET_LEDGER").map(PathBuf::from)) {
        return Ok(path);
    }
    // The XDG rules say that a relative path here is to be ignored.
    let data = set("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute());
    let home = || set("HOME").map(|home| PathBuf::from(home).join(".local").join("share"));
    let local = || set("LOCALAPPDATA").map(PathBuf::from);
    let folder = data.or_else(home).or_else(local).ok_or_else(|| {
        Failure::usage(
            "your data folder is not known here (no HOME): say where the ledger is with --ledger PATH",
        )
    })?;
    Ok(folder.join("privet").join("ledger.db"))
}

fn name(text: &str) -> Result<String, Failure> {
    let bad = |why| Failure::usage(format!("{text:?} cannot be the name of a data set: {why}"));
    if text.is_empty() || text.chars().count() > 100 {
        return Err(bad("it must have 1 to 100 characters"));
    }
    if text.chars().any(char::is_control) || text.trim() != text {
        return Err(bad(
            "line breaks, control characters and spaces at its ends look like another name",
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(given: Option<&str>, set: &[(&str, &str)]) -> Option<PathBuf> {
        let env = |name: &str| {
            let found = set.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| OsString::from(value))
        };
        ledger_path(given.map(PathBuf::from), &env).ok()
    }

    #[test]
    fn the_ledger_is_the_same_one_from_every_folder() {
        let all = [
            ("PRIVET_LEDGER", "/b.db"),
            ("XDG_DATA_HOME", "/data"),
            ("HOME", "/users/me"),
        ];
        assert_eq!(path(Some("a.db"), &all), Some("a.db".into()));
        assert_eq!(path(None, &all), Some("/b.db".into()));
        assert_eq!(path(None, &all[1..]), Some("/data/privet/ledger.db".into()));
        let home = Some(PathBuf::from("/users/me/.local/share/privet/ledger.db"));
        assert_eq!(path(None, &all[2..]), home);
        assert_eq!(
            path(
                None,
                &[
                    ("PRIVET_LEDGER", ""),
                    ("XDG_DATA_HOME", "relative"),
                    ("HOME", "/users/me")
                ]
            ),
            home
        );
        assert_eq!(path(None, &[]), None);
    }
}
