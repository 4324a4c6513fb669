//! A feature holder: changes its columns once, sends them, and is done.

use privet_mpc::psi;

use super::answering::{branches, ranked, thresholds};
use super::checkpoint::{Answered, foreign};
use super::message::{Meeting, Message, Wanted};
use super::release::Release;
use super::{Alignment, FeatureHolderPlan, LABEL_HOLDER, Outcome, Party, Protocol, Vertical, meeting};
use crate::Error;
use crate::data::{Schema, Table};
use crate::error::Subject;
use crate::party::{Context, PartyId, RunName, TurnOutcome};
use crate::privacy::texts::shown;
use crate::privacy::{Certificate, Ledger, Neighbours};
use crate::wire::Wire;

/// Settings and questions take at most so many bytes.
const QUESTIONS: u64 = 1 << 26;

/// A party that has columns and no label, by what it waits for.
pub struct FeatureHolder(Expect);

enum Expect {
    Hello(Box<Waiting>),
    Common {
        waiting: Box<Waiting>,
        meeting: Box<psi::ExpectCommon>,
        wanted: Wanted,
    },
    /// As published only.
    Splits {
        /// The values that occur in each column, by rank.
        tables: Vec<Vec<u16>>,
        certificate: Box<Certificate>,
    },
}

/// What it has before it sends its columns.
struct Waiting {
    plan: FeatureHolderPlan,
    table: Table,
    /// For the columns, and for what the matching of rows shows.
    ledger: Ledger,
}

impl FeatureHolder {
    /// A party with a table. It sends the columns that its ledger has kept; if it has kept none, they are paid for, drawn and kept
    /// when they are asked for.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was read with another schema than the plan's, or the budget protects less than the schema.
    pub fn party<N: Neighbours>(
        plan: FeatureHolderPlan,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
    ) -> Result<Party, Error> {
        // A budget that does not protect these rows must not count them.
        let relation = ledger.relation().relation();
        plan.columns.check(&table, &relation)?;
        plan.vertical.check_rows(table.rows_under(&relation))?;
        let ledger = ledger.at_run_time().for_run(run.to_text())?;
        Ok(Self::next(Expect::Hello(Box::new(Waiting {
            plan,
            table,
            ledger,
        }))))
    }

    /// That rows of a table can be matched by their ids, asked before its columns are released: to correct ids afterwards would make
    /// another table.
    ///
    /// # Errors
    /// [`Error::Data`] if an id is empty or occurs twice; [`Error::Journal`] if what the matching shows could not be written.
    pub fn check_ids<N: Neighbours>(table: &Table, ledger: &mut Ledger<N>) -> Result<(), Error> {
        let ids = table.cells().as_ref().map(meeting::ids);
        let ids = meeting::disclose(ledger, &meeting::leaks_of_feature_holder(false), ids)?;
        meeting::checked(&ids).map(|_| ())
    }

    fn next(state: Expect) -> Party {
        Party::FeatureHolder(Self(state))
    }

    /// The schema of its table, before the first message.
    pub(super) fn schema(&self) -> Option<&Schema> {
        match &self.0 {
            Expect::Hello(waiting) => Some(waiting.table.schema()),
            _ => None,
        }
    }

    /// Goes on after it has answered.
    pub(super) fn restore(
        self,
        state: &[u8],
        context: &Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        let Expect::Hello(mut waiting) = self.0 else {
            return Err(Error::internal("a party is restored when it is made"));
        };
        let answered = Answered::from_bytes(state).map_err(|_| foreign())?;
        // What was shown is written down already, and belongs to what this run showed.
        let leaks = meeting::leaks_of_feature_holder(context.others().len() > 1);
        let ids = waiting.table.cells().as_ref().map(meeting::ids);
        let ids = meeting::disclose(&mut waiting.ledger, &leaks, ids)?;
        if meeting::digest(&ids) != answered.ids {
            return Err(meeting::other_ids());
        }
        let meeting = psi::ExpectCommon::from_bytes(&answered.meeting).ok_or_else(foreign)?;
        Ok(TurnOutcome::Continue(Self::next(Expect::Common {
            waiting,
            meeting: Box::new(meeting),
            wanted: answered.wanted,
        })))
    }

    /// The most bytes of the message that it waits for.
    pub(super) fn most_bytes(&self) -> u64 {
        match &self.0 {
            Expect::Hello(waiting) => QUESTIONS + 32 * waiting.plan.vertical.most_ids.unwrap_or(0),
            Expect::Common { meeting, .. } => meeting.most_bytes(),
            Expect::Splits { tables, .. } => {
                let ranks = tables.iter().map(|table| 8 + 4 * table.len() as u64);
                16 + ranks.sum::<u64>()
            }
        }
    }

    pub(super) fn handle(
        self,
        from: PartyId,
        message: Message,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        if from != LABEL_HOLDER {
            return Err(context.complain(from, "only the label holder has anything to say here"));
        }
        match (self.0, message) {
            (
                Expect::Hello(waiting),
                Message::Hello {
                    settings,
                    wanted,
                    meeting,
                },
            ) => {
                agree(&waiting.plan.vertical, &settings)?;
                let agreed = match &wanted {
                    // Ranks are answered about later, which tells about labels.
                    Wanted::Ordinals => waiting.plan.vertical.protocol == Protocol::AsPublished,
                    Wanted::Columns => waiting.plan.branches != Some(true),
                    Wanted::Branches(_) => waiting.plan.branches != Some(false),
                };
                if !agreed {
                    return Err(context.complain(from, "it wants what was not agreed on"));
                }
                waiting.meet(wanted, meeting, context)
            }
            (
                Expect::Common {
                    waiting,
                    meeting,
                    wanted,
                },
                Message::Common(common),
            ) => {
                let rows = meeting.receive(&common).map_err(|e| context.complain(from, e))?;
                // Columns are released once: not if no row is common.
                if rows.is_empty() {
                    return Err(context.complain(from, "it says that no row is common"));
                }
                let release = waiting.release(context)?;
                if rows.iter().any(|row| *row >= release.rows) {
                    return Err(Error::internal("ids and columns are of one table"));
                }
                answer(release.take(&rows), wanted, context)
            }
            (Expect::Splits { tables, certificate }, Message::Splits(splits)) => {
                let thresholds = thresholds(&tables, &splits);
                let thresholds =
                    thresholds.ok_or_else(|| context.complain(from, "it asks for a split that cannot be"))?;
                context.send(LABEL_HOLDER, &Message::Thresholds(thresholds))?;
                Ok(TurnOutcome::Finished(Outcome::Contributed(certificate)))
            }
            (_, message) => Err(context.complain(from, format!("{} out of turn", message.name()))),
        }
    }
}

impl Waiting {
    fn meet(
        mut self: Box<Self>,
        wanted: Wanted,
        meeting: Meeting,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        match (meeting, self.plan.vertical.alignment) {
            (Meeting::Given { rows }, Alignment::Given) => {
                if let Some(own) = self.table.rows_under(self.ledger.relation())
                    && own as u64 != rows
                {
                    return Err(Error::data(format!(
                        "alignment = \"given\" means that row 1 here is row 1 there, but the label holder has {rows} rows and this table \
                         has {own}: use alignment = \"private\", or correct the tables"
                    )));
                }
                answer(self.release(context)?, wanted, context)
            }
            (Meeting::Offer(offer), Alignment::Private) => {
                let run = meeting::run(context.agreement(), context.me(), &self.plan.vertical);
                // Before anything is written down for its sake.
                psi::check_offer(&run, &offer).map_err(|e| context.complain(LABEL_HOLDER, e))?;
                // Ids are shown for columns that can be sent.
                Release::check_obtain(&self.plan.columns, &self.table, &mut self.ledger)?;
                let leaks = meeting::leaks_of_feature_holder(context.others().len() > 1);
                let ids = self.table.cells().as_ref().map(meeting::ids);
                let ids = meeting::disclose(&mut self.ledger, &leaks, ids)?;
                let digest = meeting::digest(&ids);
                let ids = meeting::checked(&ids)?;
                let key = meeting::key("the key of the meeting", context)?;
                let (expected, answer) = psi::answer(&key, run, &ids, &offer).map_err(|e| match e {
                    privet_mpc::Error::TooManyIds { .. } => meeting::unmatched(&e),
                    e => context.complain(LABEL_HOLDER, e),
                })?;
                meeting::same("the answer", &answer, context)?;
                context.send(LABEL_HOLDER, &Message::Answer(answer))?;
                context.checkpoint(&Answered {
                    ids: digest,
                    meeting: expected.to_bytes(),
                    wanted: wanted.clone(),
                });
                Ok(TurnOutcome::Continue(FeatureHolder::next(Expect::Common {
                    waiting: self,
                    meeting: Box::new(expected),
                    wanted,
                })))
            }
            _ => Err(context.complain(LABEL_HOLDER, "rows are not matched as was agreed on")),
        }
    }

    /// The columns: released once, kept by the ledger before anybody sees them, and what this run shows besides.
    fn release(self: Box<Self>, context: &mut Context<'_, Message>) -> Result<Release, Error> {
        let Self {
            plan,
            table,
            mut ledger,
        } = *self;
        let mut release = Release::obtain(&plan.columns, &table, &mut ledger)?;
        release.certificate = meeting::certified_columns(release.certificate, ledger, context)?;
        Ok(release)
    }
}

/// Sends what is wanted, made from released values.
fn answer(
    mut release: Release,
    wanted: Wanted,
    context: &mut Context<'_, Message>,
) -> Result<TurnOutcome<Party>, Error> {
    // Where its ledger ends, and what other runs did, is its owner's business.
    let told = release.certificate.for_partners();
    let certificate = Box::new(std::mem::replace(&mut release.certificate, told));
    match wanted {
        Wanted::Columns => context.send(LABEL_HOLDER, &Message::Columns(Box::new(release)))?,
        Wanted::Branches(questions) => {
            let answers = branches(&release, &questions).map_err(|e| context.complain(LABEL_HOLDER, e))?;
            let message = Message::Branches {
                rows: release.rows as u64,
                answers,
                certificate: release.certificate.to_json(),
            };
            context.send(LABEL_HOLDER, &message)?;
        }
        Wanted::Ordinals => {
            let (ordinals, tables) = ranked(release)?;
            context.send(LABEL_HOLDER, &Message::Ordinals(Box::new(ordinals)))?;
            let state = Expect::Splits { tables, certificate };
            return Ok(TurnOutcome::Continue(FeatureHolder::next(state)));
        }
    }
    Ok(TurnOutcome::Finished(Outcome::Contributed(certificate)))
}

/// That both jobs say the same.
fn agree(vertical: &Vertical, theirs: &[(String, String)]) -> Result<(), Error> {
    let ours = vertical.shared();
    let wrong = ours.iter().find(|(name, value)| {
        let their = theirs.iter().find(|(other, _)| other == name);
        their.map(|(_, value)| value) != Some(value)
    });
    let shown = |text: &str| shown(&text.chars().take(60).collect::<String>()).into_owned();
    match wrong {
        Some((name, value)) => {
            let their = theirs.iter().find(|(other, _)| other == name);
            let their = their.map_or("says nothing about it".into(), |(_, v)| {
                format!("says {}", shown(v))
            });
            let why =
                format!("{name} = {value} here, and the label holder's job {their}: both must say the same");
            Err(Error::parameter(name.clone(), why))
        }
        None if theirs.len() != ours.len() => Err(Error::parameter(
            Subject::Algorithm,
            "the label holder's job says more than this one: both must say the same",
        )),
        None => Ok(()),
    }
}
