//! The arguments as they are needed: parsed, and checked against each other.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

use privet::privacy::account::{Caps, MuSquared, Rho};
use privet::privacy::{AddRemove, Delta, Epsilon, Neighbours, Relation, Replace, ReplacePrivate};

use super::exit::Failure;
use super::low::{self, Change, LedgerVerb, LowArgs, Verb};

/// e^20 is half a billion: whatever somebody believed, they may be certain afterwards.
const MOST_EPSILON: Epsilon = Epsilon::from_billionths(20_000_000_000);

#[derive(Debug)]
pub(super) enum Command {
    Demo {
        keep: Option<PathBuf>,
    },
    Show {
        ledger: PathBuf,
        dataset: Option<String>,
    },
    Verify {
        ledger: PathBuf,
        against: Vec<PathBuf>,
    },
    Limit {
        ledger: PathBuf,
        limit: Limit,
    },
    Adopt {
        ledger: PathBuf,
        dataset: String,
        of: String,
    },
    Export {
        ledger: PathBuf,
        out: Option<PathBuf>,
    },
    Completions {
        shell: clap_complete::Shell,
    },
}

/// A box of caps for one data set under one relation, and what it promises as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Limit {
    pub(super) dataset: String,
    pub(super) relation: Relation,
    pub(super) caps: Caps,
    pub(super) delta: Delta,
    pub(super) epsilon: Epsilon,
}

/// The command that the arguments ask for; `env` gives environment variables.
pub(super) fn command(low: LowArgs, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Command, Failure> {
    let given = match low.verb {
        Verb::Demo(demo) => return Ok(Command::Demo { keep: demo.keep }),
        Verb::Completions(completions) => {
            return Ok(Command::Completions {
                shell: completions.shell,
            });
        }
        Verb::Ledger(given) => given,
    };
    let ledger = ledger_path(given.ledger, env)?;
    Ok(match given.verb {
        LedgerVerb::Show(show) => Command::Show {
            ledger,
            dataset: show.dataset,
        },
        LedgerVerb::Verify(verify) => Command::Verify {
            ledger,
            against: verify.against,
        },
        LedgerVerb::Limit(limit) => Command::Limit {
            ledger,
            limit: limit_of(&limit)?,
        },
        LedgerVerb::Adopt(adopt) => Command::Adopt {
            ledger,
            dataset: name(&adopt.dataset)?,
            of: adopt.of,
        },
        LedgerVerb::Export(export) => Command::Export {
            ledger,
            out: export.out,
        },
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

fn limit_of(low: &low::Limit) -> Result<Limit, Failure> {
    let dataset = name(&low.dataset)?;
    let relation = relation_of(low)?;
    let delta: Delta = parse(low.delta.as_deref())?;
    let epsilon: Epsilon = parse(low.epsilon.as_deref())?;
    let rho: Rho = parse(low.rho.as_deref())?;
    let mu_squared: MuSquared = parse(low.mu_squared.as_deref())?;
    if low.delta.is_some() && delta == Delta::ZERO {
        return Err(Failure::usage(
            "--delta 0 says nothing: leave it out, the limit is then on plain ε",
        ));
    }
    if delta.to_f64() >= 0.01 {
        return Err(Failure::usage(format!(
            "--delta {delta} would allow a release to show one person in a hundred outright. It should be far below one \
             over the number of people, such as 1e-6."
        )));
    }
    let explicit = low.rho.is_some() || low.mu_squared.is_some();
    if explicit && delta == Delta::ZERO {
        return Err(Failure::usage(
            "--rho and --mu-squared promise nothing without a chance of failure: add --delta, such as --delta 1e-6",
        ));
    }
    if epsilon > MOST_EPSILON {
        return Err(too_much("--epsilon", epsilon));
    }
    let caps = if explicit {
        Caps {
            pure: epsilon,
            rho,
            mu_squared,
        }
    } else if delta == Delta::ZERO {
        Caps {
            pure: epsilon,
            ..Caps::ZERO
        }
    } else if epsilon == Epsilon::ZERO {
        Caps::ZERO
    } else {
        Caps {
            mu_squared: MuSquared::for_budget(epsilon, delta)?,
            ..Caps::ZERO
        }
    };
    if caps == Caps::ZERO {
        return Err(Failure::usage(
            "a limit of zero allows no release at all: give --epsilon a positive value, such as 1",
        ));
    }
    let implied = caps.epsilon(delta);
    if implied > MOST_EPSILON {
        return Err(too_much("together these caps", implied));
    }
    Ok(Limit {
        dataset,
        relation,
        caps,
        delta,
        epsilon: implied,
    })
}

fn too_much(what: &str, epsilon: Epsilon) -> Failure {
    let found = if epsilon == Epsilon::MAX {
        "promise nothing".to_owned()
    } else {
        format!("allow ε = {epsilon}")
    };
    Failure::usage(format!(
        "{what} would {found}: the odds about one person could change by a factor of e^{MOST_EPSILON} and more, which \
         protects nobody. Limits are at most {MOST_EPSILON}; usual ones are between 0.1 and 10."
    ))
}

fn parse<T: std::str::FromStr<Err = privet::Error> + Default>(text: Option<&str>) -> Result<T, Failure> {
    Ok(text.map(str::parse).transpose()?.unwrap_or_default())
}

fn relation_of(low: &low::Limit) -> Result<Relation, Failure> {
    let rows: NonZeroU32 = low.rows_per_unit.parse().map_err(|_| {
        Failure::usage(format!(
            "--rows-per-unit {}: a person has at least one row, and at most 4294967295",
            low.rows_per_unit
        ))
    })?;
    if low.change != Change::ReplacePrivate && !low.columns.is_empty() {
        return Err(Failure::usage(
            "--columns belongs to --change replace-private: the other changes protect all columns",
        ));
    }
    Ok(match low.change {
        Change::AddRemove => AddRemove::unit(rows).relation(),
        Change::Replace => Replace::unit(rows).relation(),
        Change::ReplacePrivate if low.columns.is_empty() => {
            return Err(Failure::usage(
                "--change replace-private needs the private columns: add --columns diagnosis,income",
            ));
        }
        Change::ReplacePrivate => {
            if low.columns.iter().any(|column| column.trim().is_empty()) {
                return Err(Failure::usage("--columns has an empty name between two commas"));
            }
            ReplacePrivate::unit(rows, low.columns.iter().map(|column| column.trim())).relation()
        }
    })
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
