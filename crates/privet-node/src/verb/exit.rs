//! How a command ended.

use std::process::ExitCode;

use privet::Error;
use privet::privacy::BudgetToSet;
use serde_json::{Value, json};

/// The exit codes: stable, and described in `docs/exit-codes.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It worked.
    Ok = 0,
    /// An unexpected error.
    Unexpected = 1,
    /// Invalid command or value.
    Usage = 2,
    /// The budget does not allow it. Nothing was drawn.
    Budget = 3,
    /// The ledger does not verify or cannot be used. Nothing was drawn.
    Ledger = 4,
    /// A file that was given cannot be read or is invalid.
    Input = 5,
    /// A reproduced figure lies outside its tolerance.
    Outside = 6,
    /// Another party did not follow the protocol.
    Peer = 7,
    /// It was stopped, as with Ctrl-C: 128 and the number of that signal, as shells say it.
    Stopped = 130,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// What kind of failure it is, in one word for programs.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unexpected => "unexpected",
            Self::Usage => "usage",
            Self::Budget => "budget",
            Self::Ledger => "ledger",
            Self::Input => "input",
            Self::Outside => "outside",
            Self::Peer => "peer",
            Self::Stopped => "stopped",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub struct Failure {
    /// What kind of failure it is.
    pub exit: Exit,
    /// What is wrong, where, and how to fix it.
    pub message: String,
    /// The library's error, if it was one: its data, for programs.
    pub cause: Option<Box<Error>>,
}

impl Failure {
    /// For programs.
    pub fn json(&self) -> Value {
        json!({"error": {"exit": self.exit.code(), "kind": self.exit.kind(), "message": self.message}})
    }

    /// The same, where it is known what budget would be enough.
    #[must_use]
    pub(super) fn enough(self, budget: &BudgetToSet) -> Self {
        match self.cause.as_deref() {
            Some(Error::Budget(refusal)) => Self {
                message: refusal.told_with(budget),
                ..self
            },
            _ => self,
        }
    }

    /// The request or one of its values is invalid.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// A file is invalid.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Exit::Input, message)
    }

    /// The request ended in this way.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            cause: None,
        }
    }
}

impl From<&Error> for Exit {
    fn from(e: &Error) -> Self {
        match e {
            Error::Parameter(_) => Self::Usage,
            Error::Data(_) => Self::Input,
            Error::Budget(_) => Self::Budget,
            Error::Journal(_) => Self::Ledger,
            Error::Peer(_) => Self::Peer,
            Error::Stopped => Self::Stopped,
            _ => Self::Unexpected,
        }
    }
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self {
            exit: Exit::from(&e),
            message: e.to_string(),
            cause: Some(Box::new(e)),
        }
    }
}
