//! A feature holder: changes its columns once, lets them go, and may go home.

use privet_mpc::psi;

use super::message::{Meeting, Message, Ordinals, Question, Wanted};
use super::purse::{Purse, purse};
use super::release::{Left, Release};
use super::{Alignment, Budget, LABEL_HOLDER, Outcome, Party, Protocol, Vertical, meeting, packed};
use crate::Error;
use crate::data::Table;
use crate::data::schema::Kind;
use crate::party::{Context, PartyId, RunName, Step};
use crate::privacy::{Certificate, Ledger, Neighbours};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// A party that has columns and no label, by what it waits for.
pub struct FeatureHolder(State);

enum State {
    ExpectHello(Box<Waiting>),
    ExpectCommon {
        waiting: Box<Waiting>,
        meeting: Box<psi::ExpectCommon>,
        wanted: Wanted,
    },
    /// As published only.
    ExpectSplits {
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
    },
    /// They left before: whoever has them may use them again.
    Kept(Box<Release>),
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
        let (table, purse) = (Box::new(table), purse(ledger, run));
        Ok(Self::with(vertical, Source::Fresh { table, purse }))
    }

    /// A party whose columns left before, in the order of their table.
    pub fn kept(vertical: Vertical, release: Release) -> Party {
        Self::with(vertical, Source::Kept(Box::new(release)))
    }

    fn with(vertical: Vertical, source: Source) -> Party {
        Self::next(State::ExpectHello(Box::new(Waiting { vertical, source })))
    }

    fn next(state: State) -> Party {
        Party::FeatureHolder(Self(state))
    }

    pub(super) fn handle(
        self,
        from: PartyId,
        message: Message,
        context: &mut Context<'_, Message>,
    ) -> Result<Step<Party>, Error> {
        if from != LABEL_HOLDER {
            return Err(context.complain(from, "only the label holder has anything to say here"));
        }
        match (self.0, message) {
            (
                State::ExpectHello(waiting),
                Message::Hello {
                    settings,
                    wanted,
                    meeting,
                },
            ) => {
                agree(&waiting.vertical, &settings)?;
                let as_published = waiting.vertical.protocol == Protocol::AsPublished;
                if (wanted == Wanted::Ordinals) != as_published && !matches!(wanted, Wanted::Branches(_)) {
                    return Err(context.complain(from, "it wants what was not agreed on"));
                }
                waiting.meet(wanted, meeting, context)
            }
            (
                State::ExpectCommon {
                    waiting,
                    meeting,
                    wanted,
                },
                Message::Common(common),
            ) => {
                let rows = meeting.receive(&common).map_err(|e| context.complain(from, e))?;
                let release = waiting.release(context)?;
                if rows.iter().any(|row| *row >= release.rows) {
                    return Err(Error::Misuse("ids and columns are of one table".into()));
                }
                answer(release.take(&rows), wanted, context)
            }
            (State::ExpectSplits { tables, certificate }, Message::Splits(splits)) => {
                let thresholds = thresholds(&tables, &splits);
                let thresholds =
                    thresholds.ok_or_else(|| context.complain(from, "it asks for a split that cannot be"))?;
                context.send(LABEL_HOLDER, &Message::Thresholds(thresholds));
                Ok(Step::Finished(Outcome::Contributed(certificate)))
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
    ) -> Result<Step<Party>, Error> {
        match (meeting, self.vertical.alignment) {
            (Meeting::Given { rows }, Alignment::Given) => {
                let own = self.source.rows();
                if own.is_some_and(|own| own as u64 != rows) {
                    return Err(Error::Data(format!(
                        "alignment = \"given\" means that row 1 here is row 1 there, but the label holder has {rows} rows and this table \
                         has {}: use alignment = \"private\", or mend the tables",
                        own.unwrap_or(0)
                    )));
                }
                answer(self.release(context)?, wanted, context)
            }
            (Meeting::Offer(offer), Alignment::Private) => {
                let ids = self.source.ids()?;
                let key = meeting::key("the key of the meeting", context)?;
                let run = meeting::run(context.run(), context.me());
                let (meeting, answer) =
                    psi::answer(&key, run, &ids, &offer).map_err(|e| context.complain(LABEL_HOLDER, e))?;
                context.send(LABEL_HOLDER, &Message::Answer(answer));
                Ok(Step::Continue(FeatureHolder::next(State::ExpectCommon {
                    waiting: self,
                    meeting: Box::new(meeting),
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
) -> Result<Step<Party>, Error> {
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
            let state = State::ExpectSplits { tables, certificate };
            return Ok(Step::Continue(FeatureHolder::next(state)));
        }
    }
    Ok(Step::Finished(Outcome::Contributed(certificate)))
}

impl Source {
    /// How many rows there are, as far as that is public.
    fn rows(&self) -> Option<usize> {
        match self {
            Self::Fresh { table, purse } => table.rows_under(&purse.relation()),
            Self::Kept(release) => Some(release.rows),
        }
    }

    fn ids(&mut self) -> Result<psi::Ids, Error> {
        match self {
            Self::Kept(_) => Err(Error::Parameter(
                "columns that were kept have no ids: use alignment = \"given\"".into(),
            )),
            Self::Fresh { table, purse } => {
                let ids = table.cells().as_ref().map(meeting::ids);
                meeting::checked(&purse.disclose(&meeting::leaks_of_feature_holder(), ids)?)
            }
        }
    }

    /// The columns: drawn once in a run, and kept before anybody sees them.
    fn release(self, vertical: &Vertical, context: &mut Context<'_, Message>) -> Result<Release, Error> {
        let (table, mut purse) = match self {
            Self::Kept(release) => return Ok(*release),
            Self::Fresh { table, purse } => (table, purse),
        };
        let changes = vertical.desensitisation.changes(table.schema())?;
        let chosen = match vertical.desensitisation.budget {
            Budget::Sample(columns) => {
                // By chance, whatever the columns say: its number is fixed, and the others stay.
                let draw = || {
                    let mut coins = purse.coins()?;
                    let mut places: Vec<u32> = (0..changes.len() as u32).collect();
                    for i in 0..columns as usize {
                        let rest = (places.len() - i) as u64;
                        places.swap(i, i + coins.below(rest) as usize);
                    }
                    places.truncate(columns as usize);
                    places.sort_unstable();
                    Ok(Places(places))
                };
                let Places(chosen) = context.once("which columns leave", draw)?;
                chosen.into_iter().map(|place| place as usize).collect()
            }
            _ => (0..changes.len()).collect::<Vec<_>>(),
        };
        if chosen.iter().any(|place| *place >= changes.len()) {
            return Err(Error::Journal(
                "the record names columns that do not exist".into(),
            ));
        }
        context.once("the columns", || {
            Release::draw("the label holder", &table, &changes, &chosen, purse)
        })
    }
}

/// Numbers of columns.
struct Places(Vec<u32>);

impl Wire for Places {
    fn write(&self, to: &mut Writer) {
        to.list(&self.0, |place, to| to.word(*place));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.list(4, Reader::word).map(Self)
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
            Err(Error::Parameter(format!(
                "{name} = {value} here, and the label holder's job {their}: both must say the same"
            )))
        }
        None if theirs.len() != ours.len() => Err(Error::Parameter(
            "the label holder's job says more than this one: both must say the same".into(),
        )),
        None => Ok(()),
    }
}

/// Which rows go left at each question, by the values that left.
fn branches(release: &Release, questions: &[Question]) -> Result<Vec<Vec<u8>>, String> {
    questions
        .iter()
        .map(|question| {
            let place = release.schema.features().position(|c| c.name == question.column);
            let place = place.ok_or("it asks about a column that is not here")?;
            let Left { reading, values } = &release.columns[place];
            if reading.each != 1 {
                return Err("it asks about a column of flags".into());
            }
            let mut left = vec![false; reading.outputs];
            for slot in &question.left {
                if let Some(goes) = left.get_mut(usize::from(*slot)) {
                    *goes = true;
                }
            }
            let bits = values.iter().map(|value| u16::from(left[usize::from(*value)]));
            Ok(packed::pack(bits, 1))
        })
        .collect()
}

/// The rank of each value among those that occur in its column, and the values by rank.
fn ranked(release: Release) -> Result<(Ordinals, Vec<Vec<u16>>), Error> {
    let (mut ranks, mut tables) = (Vec::new(), Vec::new());
    for (declared, column) in release.schema.features().zip(&release.columns) {
        if column.reading.each != 1 || matches!(declared.kind, Kind::Category(_)) {
            return Err(Error::Parameter(format!(
                "protocol = \"as_published\" ranks values, and the column '{}' has no order: declare flags or ordinals, or use \
                 protocol = \"columns\"",
                declared.name
            )));
        }
        let mut seen = vec![false; column.reading.outputs];
        column
            .values
            .iter()
            .for_each(|value| seen[usize::from(*value)] = true);
        let table: Vec<u16> = (0..seen.len() as u16).filter(|v| seen[usize::from(*v)]).collect();
        let mut rank_of = vec![0; seen.len()];
        for (rank, value) in table.iter().enumerate() {
            rank_of[usize::from(*value)] = rank as u32;
        }
        ranks.push(
            column
                .values
                .iter()
                .map(|value| rank_of[usize::from(*value)])
                .collect(),
        );
        tables.push(table);
    }
    let told = Release {
        rows: 0,
        columns: release
            .columns
            .iter()
            .map(|column| Left {
                reading: column.reading,
                values: Vec::new(),
            })
            .collect(),
        ..release
    };
    Ok((Ordinals { release: told, ranks }, tables))
}

/// The values on the two sides of each split, if there are such splits.
fn thresholds(tables: &[Vec<u16>], splits: &[Vec<u32>]) -> Option<Vec<Vec<[u16; 2]>>> {
    if splits.len() != tables.len() {
        return None;
    }
    let each = splits.iter().zip(tables).map(|(ranks, table)| {
        let pair = |rank: &u32| {
            let rank = usize::try_from(*rank).ok()?;
            Some([*table.get(rank)?, *table.get(rank.checked_add(1)?)?])
        };
        ranks.iter().map(pair).collect()
    });
    each.collect()
}
