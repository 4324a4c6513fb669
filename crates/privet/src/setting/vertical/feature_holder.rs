//! A feature holder: changes its columns once, sends them, and is done.

use privet_mpc::psi;

use super::answering::{branches, ranked, thresholds};
use super::checkpoint::{Answered, foreign};
use super::message::{Meeting, Message, Wanted};
use super::release::{CHOICE, COLUMNS, Release, kept_once};
use super::{Alignment, FeatureHolderPlan, LABEL_HOLDER, Outcome, Party, Protocol, Vertical, meeting};
use crate::Error;
use crate::data::{Schema, Table};
use crate::error::Subject;
use crate::party::{Context, PartyId, RunName, TurnOutcome};
use crate::privacy::mechanism::ordered::Distance;
use crate::privacy::{Certificate, Ledger, Neighbours};
use crate::wire::{MOST_BYTES, Wire};

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
    /// For the columns, if they are still to be drawn, and for what the matching of rows shows.
    ledger: Ledger,
    columns: Columns,
}

enum Columns {
    /// They are still to be drawn: these of them, once that is decided.
    Fresh(Option<Vec<usize>>),
    /// They were released before: whoever has them may use them again.
    Kept(Box<Release>),
}

impl FeatureHolder {
    /// A party with a table whose columns have not been released yet.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was read with another schema than the plan's, or the budget protects less than the schema.
    pub fn party<N: Neighbours>(
        plan: FeatureHolderPlan,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
    ) -> Result<Party, Error> {
        Self::with(plan, table, ledger, run, Columns::Fresh(None))
    }

    /// A party whose columns were released before ([`Release::keep`]). Its ledger is for what the matching of rows shows.
    ///
    /// # Errors
    /// As [`party`](Self::party), and [`Error::Parameter`] or [`Error::Data`] if they are not columns of this table, changed in this way.
    pub fn kept<N: Neighbours>(
        plan: FeatureHolderPlan,
        release: Release,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
    ) -> Result<Party, Error> {
        let relation = ledger.relation().relation();
        // A budget that does not protect these rows must not count them.
        plan.columns.check(&table, &relation)?;
        release.check_same(&plan.columns, table.rows_under(&relation))?;
        Self::with(plan, table, ledger, run, Columns::Kept(Box::new(release)))
    }

    fn with<N: Neighbours>(
        plan: FeatureHolderPlan,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
        columns: Columns,
    ) -> Result<Party, Error> {
        plan.columns.check(&table, &ledger.relation().relation())?;
        let ledger = ledger.at_run_time().for_run(run.to_text())?;
        Ok(Self::next(Expect::Hello(Box::new(Waiting {
            plan,
            table,
            ledger,
            columns,
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
        if let Columns::Fresh(chosen) = &mut waiting.columns {
            *chosen = answered.chosen;
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
            Expect::Hello(_) => MOST_BYTES as u64,
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
                // Ranks are answered about later, which tells about labels. Everything else is as good as the columns.
                if wanted == Wanted::Ordinals && waiting.plan.vertical.protocol != Protocol::AsPublished {
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
                if let Some(own) = self.rows()
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
                self.check_admitted(context)?;
                let leaks = meeting::leaks_of_feature_holder(context.others().len() > 1);
                let ids = self.table.cells().as_ref().map(meeting::ids);
                let ids = meeting::disclose(&mut self.ledger, &leaks, ids)?;
                let digest = meeting::digest(&ids);
                let ids = meeting::checked(&ids)?;
                let key = meeting::key("the key of the meeting", context)?;
                let run = meeting::run(context.run(), context.me());
                let (expected, answer) =
                    psi::answer(&key, run, &ids, &offer).map_err(|e| context.complain(LABEL_HOLDER, e))?;
                meeting::same("the answer", &answer, context)?;
                context.send(LABEL_HOLDER, &Message::Answer(answer))?;
                context.checkpoint(&Answered {
                    ids: digest,
                    meeting: expected.to_bytes(),
                    wanted: wanted.clone(),
                    chosen: self.chosen(),
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

    /// The columns that were drawn by lot, if that is done.
    fn chosen(&self) -> Option<Vec<usize>> {
        match &self.columns {
            Columns::Fresh(chosen) => chosen.clone(),
            Columns::Kept(_) => None,
        }
    }

    /// How many rows there are, as far as that is public.
    fn rows(&self) -> Option<usize> {
        match &self.columns {
            Columns::Fresh(_) => self.table.rows_under(self.ledger.relation()),
            Columns::Kept(release) => Some(release.rows),
        }
    }

    /// That the ledger admits the columns, before ids are shown for their sake.
    fn check_admitted(&mut self, context: &mut Context<'_, Message>) -> Result<(), Error> {
        let Columns::Fresh(chosen) = &mut self.columns else {
            return Ok(());
        };
        let plan = &self.plan.columns;
        let places = plan.choose(&mut self.ledger, |draw| context.once(CHOICE, draw))?;
        let distances = places.iter().map(|&place| plan.distances()[place].clone());
        let distances: Vec<Distance> = distances.collect();
        *chosen = Some(places);
        self.ledger.admits_columns(Release::TO, &distances)
    }

    /// The columns: drawn once in a run, and kept before anybody sees them.
    fn release(self: Box<Self>, context: &mut Context<'_, Message>) -> Result<Release, Error> {
        let Self {
            plan,
            table,
            mut ledger,
            columns,
        } = *self;
        let plan = &plan.columns;
        let chosen = match columns {
            Columns::Kept(mut release) => {
                release.certificate = meeting::certified(release.certificate, ledger, context)?;
                return Ok(*release);
            }
            Columns::Fresh(Some(chosen)) => chosen,
            Columns::Fresh(None) => plan.choose(&mut ledger, |draw| context.once(CHOICE, draw))?,
        };
        let draw = || Release::draw(plan, &table, &chosen, ledger);
        kept_once(draw, |draw| context.once(COLUMNS, draw))
    }
}

/// Sends what is wanted, made from released values.
fn answer(
    release: Release,
    wanted: Wanted,
    context: &mut Context<'_, Message>,
) -> Result<TurnOutcome<Party>, Error> {
    let certificate = Box::new(release.certificate.clone());
    match wanted {
        Wanted::Columns => context.send(LABEL_HOLDER, &Message::Columns(Box::new(release)))?,
        Wanted::Branches(questions) => {
            let answers = branches(&release, &questions).map_err(|e| context.complain(LABEL_HOLDER, e))?;
            let message = Message::Branches {
                rows: release.rows as u64,
                answers,
                certificate: certificate.to_json(),
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
    let shown = |text: &str| {
        text.chars()
            .filter(|c| !c.is_control())
            .take(60)
            .collect::<String>()
    };
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
