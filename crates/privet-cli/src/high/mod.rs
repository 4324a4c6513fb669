//! The arguments as they are needed: parsed, and checked against each other.

mod collect;
mod desensitise;
mod limit;
mod party;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use privet::model::Format;
use privet::privacy::Epsilon;
use privet_node::verb::{
    Command, Consent, Evaluate, Failure, Inspect, Known, LedgerCommand, LedgerFile, OutputKind, Predict,
    PredictionSource, Simulate, Train, dataset_name,
};
#[cfg(feature = "reproduce")]
use privet_research::Reproduce;

use crate::low::{self, Adopt, Key, LedgerVerb, Limit, LowArgs, Patience, SchemaVerb, Verb};

/// What was typed.
#[derive(Debug)]
pub(super) enum Invocation {
    /// Something that the library does.
    Command(Command),
    Demo {
        keep: Option<PathBuf>,
    },
    #[cfg(feature = "reproduce")]
    Reproduce(Reproduce),
    Help {
        about: Vec<String>,
    },
    Completions {
        shell: clap_complete::Shell,
    },
}

/// The command that the arguments ask for; `env` gives environment variables.
pub(super) fn command(low: LowArgs, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Invocation, Failure> {
    let place = |given: Option<PathBuf>| LedgerFile::new(given, env);
    let waiting = |given: Option<PathBuf>, patience: &Patience| place(given).waiting(wait(patience));
    Ok(Invocation::Command(match low.verb {
        Verb::Demo(demo) => return Ok(Invocation::Demo { keep: demo.keep }),
        Verb::Help(help) => return Ok(Invocation::Help { about: help.about }),
        Verb::Completions(completions) => {
            return Ok(Invocation::Completions {
                shell: completions.shell,
            });
        }
        Verb::Ledger(given) => {
            let file = place(given.ledger);
            file.path()?;
            Command::Ledger {
                ledger: match &given.verb {
                    LedgerVerb::Limit(Limit { patience, .. })
                    | LedgerVerb::Adopt(Adopt { patience, .. })
                    | LedgerVerb::Key(Key { patience }) => file.waiting(wait(patience)),
                    LedgerVerb::Show(_) | LedgerVerb::Verify(_) | LedgerVerb::Export(_) => file,
                },
                verb: ledger(given.verb)?,
            }
        }
        Verb::Schema(given) => match given.verb {
            SchemaVerb::Draft(draft) => Command::Draft {
                file: draft.file,
                out: draft.out,
                dataset: draft.dataset.as_deref().map(dataset_name).transpose()?,
                known: Known {
                    like: draft.like,
                    from: draft.from,
                },
                ledger: place(None),
            },
            SchemaVerb::Check(check) => {
                if check.private_diagnostics && low.json {
                    return Err(Failure::usage(
                        "--private-diagnostics is for your own terminal: it is never written as JSON. Remove --json.",
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
            ledger: waiting(train.ledger.ledger, &train.patience),
        }),
        Verb::Predict(predict) => Command::Predict(predict_of(predict, &waiting)?),
        Verb::Evaluate(evaluate) => Command::Evaluate(evaluate_of(evaluate, low.json, &waiting)?),
        Verb::Inspect(inspect) if inspect.transcript => Command::Transcript { file: inspect.model },
        Verb::Inspect(inspect) => Command::Inspect(Inspect {
            model: inspect.model,
            signed_by: inspect.signed_by.as_deref().map(str::parse).transpose()?,
            report: inspect.report,
            overwrite: inspect.overwrite,
            ledger: place(inspect.ledger.ledger),
        }),
        Verb::Export(export) => Command::Export {
            model: export.model,
            format: match export.format {
                low::ExportFormat::XgboostJson => Format::XgboostJson,
                low::ExportFormat::XgboostUbj => Format::XgboostUbj,
                low::ExportFormat::Onnx => Format::Onnx,
            },
            out: export.out,
            overwrite: export.overwrite,
            ledger: place(None),
        },
        Verb::Keys(given) => party::keys_of(given, env)?,
        Verb::Party(given) => Command::Party(Box::new(party::party_of(given, env)?)),
        Verb::Status(given) => Command::Status { file: given.file },
        Verb::Desensitise(given) => Command::Desensitise(desensitise::desensitise_of(given, &waiting)?),
        Verb::Contribute(given) => Command::Contribute(collect::contribute_of(given, &waiting)?),
        Verb::Collect(given) => Command::Collect(collect::collect_of(given)?),
        Verb::Simulate(simulate) if simulate.not_protected && low.json => {
            return Err(Failure::usage(
                "--not-protected is for your own terminal: it is never written as JSON. Remove --json.",
            ));
        }
        Verb::Simulate(simulate) => Command::Simulate(Simulate {
            job: simulate.job,
            data: simulate.data,
            parties: simulate.parties,
            synthetic: simulate.synthetic,
            keep: simulate.keep,
            test: simulate.test,
            seed: simulate.seed,
            runs: simulate.runs,
            not_protected: simulate.not_protected,
            ledger: waiting(simulate.ledger.ledger, &simulate.patience),
        }),
        #[cfg(feature = "reproduce")]
        Verb::Reproduce(reproduce) => return Ok(Invocation::Reproduce(reproduce_of(reproduce, env))),
        #[cfg(not(feature = "reproduce"))]
        Verb::Reproduce(_) => {
            return Err(Failure::usage(
                "this build of privet has no `reproduce`, as that of the Python package: build the command with Rust, by `cargo install --path \
                 crates/privet-cli`. Nothing was read.",
            ));
        }
    }))
}

#[cfg(feature = "reproduce")]
fn reproduce_of(low: low::Reproduce, env: &dyn Fn(&str) -> Option<OsString>) -> Reproduce {
    let item = match (low.table, low.figure) {
        (Some(n), _) => Some(format!("table {n}")),
        (None, Some(n)) => Some(format!("figure {n}")),
        (None, None) => None,
    };
    let data = env("PRIVET_DATA").filter(|v| !v.is_empty());
    Reproduce {
        key: low.key,
        item,
        dataset: low.dataset,
        runs: low.runs,
        data: data.map_or_else(|| "../shared/data".into(), PathBuf::from),
    }
}

fn wait(patience: &Patience) -> Duration {
    Duration::from_secs(patience.wait.into())
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
            dataset: dataset_name(&adopt.dataset)?,
            of: adopt.of,
        },
        LedgerVerb::Export(export) => LedgerCommand::Export {
            out: export.out,
            overwrite: export.overwrite,
        },
        LedgerVerb::Key(_) => LedgerCommand::Key,
    })
}

fn predict_of(
    low: low::Predict,
    place: &dyn Fn(Option<PathBuf>, &Patience) -> LedgerFile,
) -> Result<Predict, Failure> {
    let is_job = low.from.extension().is_some_and(|extension| extension == "toml");
    let from = match (is_job, low.data) {
        (true, None) => PredictionSource::Job {
            job: low.from,
            not_protected: low.not_protected,
        },
        (true, Some(_)) => {
            return Err(Failure::usage(format!(
                "--data names one table for a model, and {} is a job, which names the tables of its parties: remove --data",
                low.from.display()
            )));
        }
        (false, _) if low.not_protected => {
            return Err(Failure::usage(
                "--not-protected is for jobs: whoever has all columns of a row needs no permission to predict it. Remove --not-protected",
            ));
        }
        (false, Some(data)) => PredictionSource::Model {
            model: low.from,
            data,
        },
        (false, None) => {
            return Err(Failure::usage(format!(
                "--data is missing: name the file with the new rows, as in `privet predict {} --data new.csv`. A job's name ends in .toml",
                low.from.display()
            )));
        }
    };
    Ok(Predict {
        from,
        id: low.id,
        out: low.out,
        overwrite: low.overwrite,
        what: output_kind(low.what),
        ledger: place(low.ledger.ledger, &low.patience),
    })
}

fn output_kind(low: low::OutputKind) -> OutputKind {
    match low {
        low::OutputKind::Labels => OutputKind::Labels,
        low::OutputKind::Probabilities => OutputKind::Probabilities,
        low::OutputKind::Scores => OutputKind::Scores,
        low::OutputKind::All => OutputKind::All,
    }
}

fn evaluate_of(
    low: low::Evaluate,
    json: bool,
    place: &dyn Fn(Option<PathBuf>, &Patience) -> LedgerFile,
) -> Result<Evaluate, Failure> {
    let consent = match low.spend.as_deref().map(str::parse::<Epsilon>).transpose()? {
        Some(Epsilon::ZERO) => {
            return Err(Failure::usage(
                "--spend must be above zero: say how much ε may be spent",
            ));
        }
        Some(epsilon) => Consent::Spend(epsilon),
        None if low.not_protected && json => {
            return Err(Failure::usage(
                "--not-protected is for your own terminal: it is never written as JSON. Remove --json, or use --spend.",
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
        out: low.out,
        overwrite: low.overwrite,
        ledger: place(low.ledger.ledger, &low.patience),
    })
}
