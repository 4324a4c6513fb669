//! Parties on this machine whose columns lie apart: what training and predicting do alike.

use privet::Error;
use privet::data::{Intake, Table};
use privet::party::{Edge, PartyId, RunName, Simulated, Simulation};
use privet::setting::vertical::{FeatureHolder, Outcome, Party, Release};
use serde_json::{Value, json};

use super::exit::Failure;
use super::parties::{Outgoing, lines};
use super::request::LedgerFile;
use super::{output, permission, words};
use crate::job::VerticalJob;
use crate::ledger::Shared;
use crate::progress::{Progress, going_on};

/// The tables of all parties: the label holder's, and the others' in their order.
pub(super) struct Tables {
    pub(super) mine: Table,
    pub(super) theirs: Vec<Table>,
}

impl Tables {
    /// Reads them, `reads` of the label holder's, after looking whether the ledger has the lines that are needed.
    pub(super) fn read(parties: &VerticalJob, reads: Intake, ledger: &LedgerFile) -> Result<Self, Failure> {
        let (own, others) = (&parties.label_holder, &parties.feature_holders);
        for kept in others.iter().map(|holder| &holder.kept).chain([&own.kept]) {
            output::check_record(ledger, kept)?;
        }
        lines(ledger.path()?, &parties.data_sets())?;
        let mine = own.read(reads)?;
        let theirs = others
            .iter()
            .map(|holder| holder.read(holder.plan.columns().reads()))
            .collect::<Result<Vec<_>, _>>()?;
        parties.check_rows(&mine, &theirs)?;
        Ok(Self { mine, theirs })
    }
}

/// What each feature holder releases, from its own budget.
pub(super) struct Columns<'a> {
    parties: &'a VerticalJob,
    outgoing: Vec<Outgoing<'a>>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(parties: &'a VerticalJob, shared: &'a Shared) -> Result<Self, Failure> {
        let outgoing = parties
            .feature_holders
            .iter()
            .map(|holder| Outgoing::of(holder, holder.plan.columns().relation(), shared))
            .collect::<Result<_, _>>()?;
        Ok(Self { parties, outgoing })
    }

    /// Whoever refuses does so before anything is written about anybody; only columns that are drawn by lot are known after the draw.
    pub(super) fn check(&self, tables: &[Table]) -> Result<(), Failure> {
        for ((outgoing, holder), table) in self
            .outgoing
            .iter()
            .zip(&self.parties.feature_holders)
            .zip(tables)
        {
            let plan = holder.plan.columns();
            outgoing.check(
                |ledger| Release::check_keep(plan, table, ledger),
                |ledger, earlier| Release::import(plan, table, ledger, earlier, false),
            )?;
        }
        Ok(())
    }

    /// Each party's ledger keeps what it releases; its role finds it there.
    pub(super) fn release(&self, tables: &[Table]) -> Result<(), Failure> {
        let holders = || {
            self.outgoing
                .iter()
                .zip(&self.parties.feature_holders)
                .zip(tables)
        };
        for ((outgoing, holder), table) in holders() {
            if holder.id.is_some() {
                outgoing.check_ids(table, holder.plan.columns().distances())?;
            }
        }
        for ((outgoing, holder), table) in holders() {
            let plan = holder.plan.columns();
            outgoing.release(
                |ledger| Release::keep(plan, table, ledger),
                |ledger, earlier| Release::import(plan, table, ledger, earlier, true),
            )?;
        }
        Ok(())
    }

    /// Plays all parties; `own` makes the label holder.
    pub(super) fn play(
        &self,
        what: &str,
        tables: Tables,
        own: impl Fn(Table, &RunName) -> Result<Party, Error>,
    ) -> Result<Played, Failure> {
        let all = [tables.mine].into_iter().chain(tables.theirs);
        let mut tables: Vec<Option<Table>> = all.map(Some).collect();
        let make = |party: PartyId, run: RunName| -> Result<Party, Error> {
            let place = usize::from(party.0);
            let table = tables[place].take();
            let table = table.ok_or_else(|| Error::internal("each party is made once"))?;
            match place.checked_sub(1) {
                None => own(table, &run),
                Some(place) => {
                    let plan = self.parties.feature_holders[place].plan.clone();
                    FeatureHolder::party(plan, table, self.outgoing[place].ledger()?, &run)
                }
            }
        };
        let bar = Progress::steps(what);
        let progress = |_: &str, done, of| bar.at(done, of);
        let ended = Simulation::new(self.parties.names(), make)?
            .progress(&progress)
            .run()?;
        going_on()?;
        let names = self.parties.names();
        Ok(Played {
            traffic: Traffic::of(&names, &ended),
            outcome: outcome(names, ended, |outcome| {
                !matches!(outcome, Outcome::Contributed(_))
            })?,
        })
    }
}

/// Stops known tables under new names, and remembers the others: the feature holders', and the label holder's if it is private or its labels are
/// released.
pub(super) fn recognise(parties: &VerticalJob, shared: &Shared, ledger: &LedgerFile) -> Result<(), Failure> {
    let own = &parties.label_holder.source;
    let mut sources: Vec<_> = parties.feature_holders.iter().map(|h| &h.source).collect();
    if parties.vertical.label_epsilon().is_some() || own.schema.is_private() {
        sources.push(own);
    } else {
        permission::public(own, ledger)?;
    }
    permission::recognise(&mut shared.store(), &sources)
}

/// What came of a run, and what was sent.
pub(super) struct Played {
    pub(super) outcome: Outcome,
    pub(super) traffic: Traffic,
}

/// What the first party has in the end that has what is wanted, or why nobody has: a party that says no more than that another gave up is
/// asked last.
pub(super) fn outcome<T>(
    names: Vec<String>,
    ended: Simulated<T>,
    wanted: impl Fn(&T) -> bool,
) -> Result<T, Failure> {
    let mut why: Option<(String, Error)> = None;
    for (name, outcome) in names.into_iter().zip(ended.outcomes) {
        match outcome {
            Ok(outcome) if wanted(&outcome) => return Ok(outcome),
            Ok(_) => {}
            Err(e) if matches!(why, None | Some((_, Error::Peer(_)))) => why = Some((name, e)),
            Err(_) => {}
        }
    }
    let (name, e) = why.unwrap_or_else(|| {
        (
            "nobody".into(),
            Error::internal("a party has what was wanted, or one says why not"),
        )
    });
    let failure = Failure::from(e);
    Err(Failure {
        message: format!("{name}: {}", failure.message),
        ..failure
    })
}

/// How much each party sent to each other.
pub(super) struct Traffic(Vec<(String, String, Edge)>);

impl Traffic {
    pub(super) fn of<T>(names: &[String], ended: &Simulated<T>) -> Self {
        let name = |party: &PartyId| names.get(usize::from(party.0)).cloned().unwrap_or_default();
        let edges = ended.traffic.iter();
        Self(
            edges
                .map(|((from, to), edge)| (name(from), name(to), *edge))
                .collect(),
        )
    }

    /// A line for each pair.
    pub(super) fn text(&self) -> String {
        let line = |(from, to, edge): &(String, String, Edge)| {
            let bytes = words::count(edge.bytes, "byte", "bytes");
            let messages = words::count(edge.messages, "message", "messages");
            format!("sent       {from} to {to}: {bytes} in {messages}\n")
        };
        self.0.iter().map(line).collect()
    }

    pub(super) fn json(&self) -> Vec<Value> {
        let edge = |(from, to, edge): &(String, String, Edge)| json!({"from": from, "to": to, "bytes": edge.bytes, "messages": edge.messages});
        self.0.iter().map(edge).collect()
    }
}
