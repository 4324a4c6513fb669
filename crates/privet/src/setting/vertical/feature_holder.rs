//! A feature holder: changes its columns once, lets them go, and may go home.

use privet_mpc::psi;

use super::answering::{branches, ranked, thresholds};
use super::message::{Meeting, Message, Wanted};
use super::purse::{Purse, purse};
use super::release::{COLUMNS, Release};
use super::{Alignment, LABEL_HOLDER, Outcome, Party, Protocol, Vertical, meeting};
use crate::Error;
use crate::data::{Keep, Table};
use crate::error::Subject;
use crate::party::{Context, PartyId, RunName, TurnOutcome};
use crate::privacy::mechanism::ordered::Distance;
use crate::privacy::{Certificate, Ledger, Neighbours};

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

/// What it has before its columns leave.
struct Waiting {
    vertical: Vertical,
    source: Source,
}

/// Where its columns come from.
enum Source {
    /// They are still to be drawn, and paid for from this ledger.
    Fresh {
        table: Box<Table>,
        purse: Box<dyn Purse>,
        /// Which of them leave, once that is settled.
        chosen: Option<Vec<usize>>,
    },
    /// They left before: whoever has them may use them again. The table and the ledger are for ids, if rows are to meet.
    Kept {
        release: Box<Release>,
        table: Box<Table>,
        purse: Box<dyn Purse>,
    },
}

impl FeatureHolder {
    /// A party with a table whose columns have not left yet.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the parameters do not fit the table's schema.
    pub fn party<N: Neighbours + 'static>(
        vertical: Vertical,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
    ) -> Result<Party, Error> {
        vertical.check_feature_holder(table.schema())?;
        vertical.desensitisation.check_read(table.schema())?;
        table.is_whole(Keep::Bins)?;
        table.schema().covered_by(&ledger.relation().relation())?;
        let source = Source::Fresh {
            table: Box::new(table),
            purse: purse(ledger, run)?,
            chosen: None,
        };
        Ok(Self::with(vertical, source))
    }

    /// That rows of a table can meet by their ids, asked before its columns leave: to mend ids afterwards would make another table.
    ///
    /// # Errors
    /// [`Error::Data`] if an id is empty or occurs twice; [`Error::Journal`] if what meeting shows could not be written.
    pub fn check_ids<N: Neighbours>(table: &Table, ledger: &mut Ledger<N>) -> Result<(), Error> {
        let ids = table.cells().as_ref().map(meeting::ids);
        let ids = Purse::disclose(ledger, &meeting::leaks_of_feature_holder(false), ids)?;
        meeting::checked(&ids).map(|_| ())
    }

    /// A party whose columns left before ([`Release::keep`]). Its ledger is for what the meeting of rows shows.
    ///
    /// # Errors
    /// [`Error::Parameter`] or [`Error::Data`] if they are not columns of this table, changed in this way.
    pub fn kept<N: Neighbours + 'static>(
        vertical: Vertical,
        release: Release,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
    ) -> Result<Party, Error> {
        vertical.check_feature_holder(table.schema())?;
        table.schema().covered_by(&ledger.relation().relation())?;
        let purse = purse(ledger, run)?;
        let rows = table.rows_under(&purse.relation());
        release.check_same(&vertical.desensitisation, table.schema(), rows)?;
        let (release, table) = (Box::new(release), Box::new(table));
        let source = Source::Kept {
            release,
            table,
            purse,
        };
        Ok(Self::with(vertical, source))
    }

    fn with(vertical: Vertical, source: Source) -> Party {
        Self::next(Expect::Hello(Box::new(Waiting { vertical, source })))
    }

    fn next(state: Expect) -> Party {
        Party::FeatureHolder(Self(state))
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
                agree(&waiting.vertical, &settings)?;
                // Ranks are answered about later, which tells about labels. Everything else is as good as the columns.
                if wanted == Wanted::Ordinals && waiting.vertical.protocol != Protocol::AsPublished {
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
                // Columns leave once: not for nobody.
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
                context.send(LABEL_HOLDER, &Message::Thresholds(thresholds));
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
        match (meeting, self.vertical.alignment) {
            (Meeting::Given { rows }, Alignment::Given) => {
                let own = self.source.rows();
                if own.is_some_and(|own| own as u64 != rows) {
                    return Err(Error::data(format!(
                        "alignment = \"given\" means that row 1 here is row 1 there, but the label holder has {rows} rows and this table \
                         has {}: use alignment = \"private\", or mend the tables",
                        own.unwrap_or(0)
                    )));
                }
                answer(self.release(context)?, wanted, context)
            }
            (Meeting::Offer(offer), Alignment::Private) => {
                self.source.could_leave(&self.vertical, context)?;
                let ids = self.source.ids(context.others().len() > 1)?;
                let key = meeting::key("the key of the meeting", context)?;
                let run = meeting::run(context.run(), context.me());
                let (expected, answer) =
                    psi::answer(&key, run, &ids, &offer).map_err(|e| context.complain(LABEL_HOLDER, e))?;
                meeting::same("the answer", &answer, context)?;
                context.send(LABEL_HOLDER, &Message::Answer(answer));
                Ok(TurnOutcome::Continue(FeatureHolder::next(Expect::Common {
                    waiting: self,
                    meeting: Box::new(expected),
                    wanted,
                })))
            }
            _ => Err(context.complain(LABEL_HOLDER, "rows do not meet as was agreed on")),
        }
    }

    fn release(self: Box<Self>, context: &mut Context<'_, Message>) -> Result<Release, Error> {
        let Self { vertical, source } = *self;
        source.release(&vertical, context)
    }
}

/// What is wanted, made from values that have left.
fn answer(
    release: Release,
    wanted: Wanted,
    context: &mut Context<'_, Message>,
) -> Result<TurnOutcome<Party>, Error> {
    let certificate = Box::new(release.certificate.clone());
    match wanted {
        Wanted::Columns => context.send(LABEL_HOLDER, &Message::Columns(Box::new(release))),
        Wanted::Branches(questions) => {
            let answers = branches(&release, &questions).map_err(|e| context.complain(LABEL_HOLDER, e))?;
            let message = Message::Branches {
                rows: release.rows as u64,
                answers,
                certificate: certificate.to_json(),
            };
            context.send(LABEL_HOLDER, &message);
        }
        Wanted::Ordinals => {
            let (ordinals, tables) = ranked(release)?;
            context.send(LABEL_HOLDER, &Message::Ordinals(Box::new(ordinals)));
            let state = Expect::Splits { tables, certificate };
            return Ok(TurnOutcome::Continue(FeatureHolder::next(state)));
        }
    }
    Ok(TurnOutcome::Finished(Outcome::Contributed(certificate)))
}

impl Source {
    /// How many rows there are, as far as that is public.
    fn rows(&self) -> Option<usize> {
        match self {
            Self::Fresh { table, purse, .. } => table.rows_under(&purse.relation()),
            Self::Kept { release, .. } => Some(release.rows),
        }
    }

    /// That the ledger lets the columns out, before ids are shown on their account.
    fn could_leave(&mut self, vertical: &Vertical, context: &mut Context<'_, Message>) -> Result<(), Error> {
        let Self::Fresh { table, purse, chosen } = self else {
            return Ok(());
        };
        let desensitisation = &vertical.desensitisation;
        let places = desensitisation.choose(table.schema(), &mut **purse, |draw| {
            context.once("which columns leave", draw)
        })?;
        let all = desensitisation.changes(table.schema())?.distances();
        let leaving: Vec<Distance> = places.iter().map(|&place| all[place].clone()).collect();
        *chosen = Some(places);
        purse.admits(Release::TO, &leaving)
    }

    fn ids(&mut self, others: bool) -> Result<psi::Ids, Error> {
        let (Self::Fresh { table, purse, .. } | Self::Kept { table, purse, .. }) = self;
        let ids = table.cells().as_ref().map(meeting::ids);
        meeting::checked(&purse.disclose(&meeting::leaks_of_feature_holder(others), ids)?)
    }

    /// The columns: drawn once in a run, and kept before anybody sees them.
    fn release(self, vertical: &Vertical, context: &mut Context<'_, Message>) -> Result<Release, Error> {
        let (table, mut purse, chosen) = match self {
            Self::Kept {
                mut release, purse, ..
            } => {
                release.certificate = meeting::certified(release.certificate, purse, context)?;
                return Ok(*release);
            }
            Self::Fresh { table, purse, chosen } => (table, purse, chosen),
        };
        let desensitisation = &vertical.desensitisation;
        let chosen = match chosen {
            Some(chosen) => chosen,
            None => desensitisation.choose(table.schema(), &mut *purse, |draw| {
                context.once("which columns leave", draw)
            })?,
        };
        // Held until the record has the columns: another process would find them paid for and not kept, and draw them too.
        let mut held = None;
        let release = context.once(COLUMNS, || {
            let (release, ledger) = Release::draw(desensitisation, &table, &chosen, purse)?;
            held = Some(ledger);
            Ok(release)
        });
        drop(held);
        release
    }
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
            Err(Error::parameter(
                name.clone(),
                format!("{name} = {value} here, and the label holder's job {their}: both must say the same"),
            ))
        }
        None if theirs.len() != ours.len() => Err(Error::parameter(
            Subject::Algorithm,
            "the label holder's job says more than this one: both must say the same",
        )),
        None => Ok(()),
    }
}
