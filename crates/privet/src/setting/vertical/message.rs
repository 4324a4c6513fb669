//! The whole protocol: what parties say to each other.

use super::release::{Release, ReleasedColumn};
use crate::data::schema::{Column, Kind};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// The name of a column, at most so many bytes.
const LONGEST: usize = 1000;

/// The most questions that are asked at once.
pub(super) const MOST_QUESTIONS: usize = 1 << 16;

/// A message between the label holder and a feature holder.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Label holder: what was agreed on, what is wanted, and how rows meet.
    Hello {
        /// What both jobs must say alike.
        settings: Vec<(String, String)>,
        /// What is wanted.
        wanted: Wanted,
        /// How rows meet.
        meeting: Meeting,
    },
    /// Feature holder: its answer to an offer of private set intersection.
    Answer(Vec<u8>),
    /// Label holder: the rows that all have.
    Common(Vec<u8>),
    /// Feature holder: its columns, desensitised.
    Columns(Box<Release>),
    /// Feature holder, as published: the rank of each value among those of its column, in 32 bits.
    Ordinals(Box<Ordinals>),
    /// Label holder, as published: for each column the ranks that trees split after.
    Splits(Vec<Vec<u32>>),
    /// Feature holder, as published: the slots on the two sides of each split.
    Thresholds(Vec<Vec<[u16; 2]>>),
    /// Feature holder: which rows go left at each question, a bit each, question by question.
    Branches {
        /// How many rows.
        rows: u64,
        /// The bits of each question, the first row lowest.
        answers: Vec<Vec<u8>>,
        /// The promise that holds for the stored values, as a certificate in JSON.
        certificate: String,
    },
}

/// What a label holder wants of a feature holder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Columns, in full.
    Columns,
    /// Ranks, as published.
    Ordinals,
    /// Only which rows go left at these questions.
    Branches(Vec<Question>),
}

/// A question of a model about a feature holder's column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The column.
    pub column: String,
    /// SHA-256 of how the model's schema declares it: slots mean nothing else.
    pub declared: [u8; 32],
    /// The slots that go left, in rising order.
    pub left: Vec<u16>,
}

/// How rows meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meeting {
    /// Row by row: everybody has so many.
    Given {
        /// How many rows there are.
        rows: u64,
    },
    /// By private set intersection, of which this is the offer.
    Offer(Vec<u8>),
}

/// Columns as ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Ordinals {
    /// Meaning, promise and slots, without values: a label holder that follows the paper is not told them.
    pub(super) release: Release,
    /// For each column the rank of each row, from 0, without gaps.
    pub(super) ranks: Vec<Vec<u32>>,
}

impl Wire for Question {
    fn write(&self, to: &mut Writer) {
        to.text(&self.column);
        to.fixed(&self.declared);
        to.list(&self.left, |slot, to| to.word((*slot).into()));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let column = from.text(LONGEST)?;
        let declared = from.array()?;
        let left = from.list(4, short)?;
        if !left.is_sorted_by(|one, next| one < next) {
            return Err(Malformed::new("a question whose slots do not rise"));
        }
        Ok(Self {
            column,
            declared,
            left,
        })
    }
}

fn short(from: &mut Reader<'_>) -> Result<u16, Malformed> {
    u16::try_from(from.word()?).map_err(|_| Malformed::new("a slot that cannot be"))
}

impl Wire for Ordinals {
    fn write(&self, to: &mut Writer) {
        self.release.write(to);
        to.list(&self.ranks, |column, to| {
            to.list(column, |rank, to| to.word(*rank));
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let release = Release::read(from)?;
        let ranks = from.exactly(release.columns.len(), 8, |from| from.list(4, Reader::word))?;
        let rows = ranks.first().map_or(0, Vec::len);
        if release.rows != 0 || ranks.iter().any(|c| c.len() != rows) {
            return Err(Malformed::new(
                "ranks that are not as many as its rows and columns",
            ));
        }
        let unordered = |(declared, column): (&Column, &ReleasedColumn)| {
            column.reading.each != 1 || matches!(declared.kind, Kind::Category(_))
        };
        if release.schema.features().zip(&release.columns).any(unordered) {
            return Err(Malformed::new("ranks of what has no order"));
        }
        // Ranks count values that occur, without gaps: each takes a cut of a tree.
        let too_high = |(ranks, column): (&Vec<u32>, &ReleasedColumn)| {
            let values = column.reading.outputs.min(rows);
            ranks.iter().any(|rank| *rank as usize >= values)
        };
        if ranks.iter().zip(&release.columns).any(too_high) {
            return Err(Malformed::new("a rank among fewer values"));
        }
        Ok(Self { release, ranks })
    }
}

impl Wire for Message {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::Hello {
                settings,
                wanted,
                meeting,
            } => {
                to.byte(1);
                to.settings(settings);
                match wanted {
                    Wanted::Columns => to.byte(1),
                    Wanted::Ordinals => to.byte(2),
                    Wanted::Branches(questions) => {
                        to.byte(3);
                        to.list(questions, Question::write);
                    }
                }
                match meeting {
                    Meeting::Given { rows } => {
                        to.byte(1);
                        to.long(*rows);
                    }
                    Meeting::Offer(offer) => to.tagged(2, offer),
                }
            }
            Self::Answer(bytes) => to.tagged(2, bytes),
            Self::Common(bytes) => to.tagged(3, bytes),
            Self::Columns(release) => to.tagged(4, &**release),
            Self::Ordinals(ordinals) => to.tagged(5, &**ordinals),
            Self::Splits(columns) => {
                to.byte(6);
                to.list(columns, |ranks, to| to.list(ranks, |rank, to| to.word(*rank)));
            }
            Self::Thresholds(columns) => {
                to.byte(7);
                to.list(columns, |pairs, to| {
                    to.list(pairs, |[low, high], to| {
                        to.word((*low).into());
                        to.word((*high).into());
                    });
                });
            }
            Self::Branches {
                rows,
                answers,
                certificate,
            } => {
                to.byte(8);
                to.long(*rows);
                to.list(answers, |bits, to| to.bytes(bits));
                to.text(certificate);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let unknown = |what: &str| Malformed::new(format!("{what} of a kind that is not known here"));
        Ok(match from.byte()? {
            1 => Self::Hello {
                settings: from.settings()?,
                wanted: match from.byte()? {
                    1 => Wanted::Columns,
                    2 => Wanted::Ordinals,
                    3 => {
                        let questions = from.at_most(MOST_QUESTIONS, 48, Question::read)?;
                        if !questions.is_sorted_by(|one, next| one < next) {
                            return Err(Malformed::new("questions that do not rise, or one twice"));
                        }
                        Wanted::Branches(questions)
                    }
                    _ => return Err(unknown("a wish")),
                },
                meeting: match from.byte()? {
                    1 => Meeting::Given { rows: from.long()? },
                    2 => Meeting::Offer(from.bytes()?.to_vec()),
                    _ => return Err(unknown("a meeting of rows")),
                },
            },
            2 => Self::Answer(from.bytes()?.to_vec()),
            3 => Self::Common(from.bytes()?.to_vec()),
            4 => Self::Columns(Box::new(Release::read(from)?)),
            5 => Self::Ordinals(Box::new(Ordinals::read(from)?)),
            6 => Self::Splits(from.list(8, |from| from.list(4, Reader::word))?),
            7 => {
                Self::Thresholds(from.list(8, |from| from.list(8, |from| Ok([short(from)?, short(from)?])))?)
            }
            8 => Self::Branches {
                rows: from.long()?,
                answers: from.list(8, |from| from.bytes().map(<[u8]>::to_vec))?,
                certificate: from.text(1 << 22)?,
            },
            _ => return Err(unknown("a message")),
        })
    }
}

impl Message {
    /// What it is called when it comes out of turn.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "a greeting",
            Self::Answer(_) => "an answer about ids",
            Self::Common(_) => "a list of common rows",
            Self::Columns(_) => "columns",
            Self::Ordinals(_) => "ranks",
            Self::Splits(_) => "splits",
            Self::Thresholds(_) => "thresholds",
            Self::Branches { .. } => "branches",
        }
    }
}
