//! How a feature holder's columns are changed: parameters, and what they make of a schema.

use super::purse::Purse;
use crate::Error;
use crate::data::schema::{Column as Declared, Kind};
use crate::data::{Cells, Schema};
use crate::error::{JournalFault, Subject};
use crate::privacy::mechanism::ordered::{
    AdjustedMap, Adjustment, Alignment as Blocks, ClampedGeometric, Column, Distance, GlobalMap, LocalMap,
    Loss, Ordered, Outputs, PathGeometric, Piecewise, RandomisedResponse, Route, Unary,
};
use crate::privacy::{Epsilon, Private, Ratio};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// How values of an ordered column are changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Mechanism {
    /// Geometric noise, clamped to the domain: the default, and spends exactly what it declares.
    ClampedGeometric,
    /// Parts of so many slots: ε between neighbours within a part, another one over a border; none means that parts are shown.
    PathGeometric {
        /// Slots in a part.
        width: u32,
        /// What neighbours over a border can be told apart by.
        across: Option<Epsilon>,
    },
    /// The paper's global map.
    GlobalMap(Route),
    /// The paper's adjusted map: spends more over borders than its ε says, and the certificate says how much.
    AdjustedMap {
        /// Slots in a part, θ.
        width: u32,
        /// How much more is spent between parts, α, in thousandths.
        alpha_thousandths: u32,
        /// Where parts begin.
        blocks: Blocks,
    },
    /// The paper's local map: shows the part that a value lies in.
    LocalMap {
        /// Slots in a part, θ.
        width: u32,
        /// Where parts begin.
        blocks: Blocks,
    },
    /// An ordinary ε for the whole domain, to compare with; clipped to the domain or not.
    Piecewise {
        /// Whether outputs stay in the domain.
        clipped: bool,
    },
}

impl Mechanism {
    /// The names that a job can say.
    pub const NAMES: [&str; 6] = [
        "clamped-geometric",
        "path-geometric",
        "global-map",
        "adjusted-map",
        "local-map",
        "piecewise",
    ];

    /// Its name in a job.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ClampedGeometric => "clamped-geometric",
            Self::PathGeometric { .. } => "path-geometric",
            Self::GlobalMap(_) => "global-map",
            Self::AdjustedMap { .. } => "adjusted-map",
            Self::LocalMap { .. } => "local-map",
            Self::Piecewise { .. } => "piecewise",
        }
    }

    fn over(&self, slots: usize, epsilon: Epsilon) -> Result<Box<dyn Ordered>, Error> {
        let covers = |width: u32| width as usize >= slots;
        Ok(match *self {
            // A domain that is one part has no border.
            Self::PathGeometric { width, .. } if covers(width) => {
                Box::new(ClampedGeometric::new(epsilon, slots)?)
            }
            Self::AdjustedMap { width, .. } | Self::LocalMap { width, .. } if covers(width) => {
                Box::new(GlobalMap::new(epsilon, slots, Route::default())?)
            }
            Self::ClampedGeometric => Box::new(ClampedGeometric::new(epsilon, slots)?),
            Self::PathGeometric { width, across } => {
                let across = across.map_or(Loss::Unbounded, Loss::Bounded);
                let within = Loss::Bounded(epsilon);
                Box::new(PathGeometric::parts(slots, width as usize, within, across)?)
            }
            Self::GlobalMap(route) => Box::new(GlobalMap::new(epsilon, slots, route)?),
            Self::AdjustedMap {
                width,
                alpha_thousandths,
                blocks,
            } => {
                let adjustment = Adjustment {
                    width: width as usize,
                    alpha: Ratio::new(alpha_thousandths.into(), 1000)?,
                    alignment: blocks,
                };
                Box::new(AdjustedMap::new(epsilon, slots, adjustment, Route::default())?)
            }
            Self::LocalMap { width, blocks } => Box::new(LocalMap::new(
                epsilon,
                slots,
                width as usize,
                blocks,
                Route::default(),
            )?),
            Self::Piecewise { clipped: true } => Box::new(Piecewise::clipped(epsilon, slots)?),
            Self::Piecewise { clipped: false } => Box::new(Piecewise::unclipped(epsilon, slots)?),
        })
    }
}

/// How values without an order are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Categories {
    /// The true one more often than each other: the model can be given raw rows.
    #[default]
    Response,
    /// A flag for each, symmetric: columns of the model are flags.
    SymmetricUnary,
    /// A flag for each, with the odds that estimate frequencies best.
    OptimisedUnary,
}

impl Categories {
    /// The names that a job can say.
    pub const NAMES: [(&str, Self); 3] = [
        ("response", Self::Response),
        ("symmetric-unary", Self::SymmetricUnary),
        ("optimised-unary", Self::OptimisedUnary),
    ];
}

/// How ε is laid out over the columns of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Budget {
    /// Each column gets an equal part.
    #[default]
    Split,
    /// Each column gets all of it, as in the reference implementation: a row loses as many times as much.
    Full,
    /// So many columns, drawn by chance and not by what they say, get an equal part each; the others stay (section 7.1).
    Sample(u32),
}

/// How columns are changed before they leave.
#[derive(Debug, Clone, PartialEq)]
pub struct Desensitisation {
    /// Per unit of distance; how it is laid out over columns is the budget's to say.
    pub epsilon: Epsilon,
    /// For numbers and ordinals.
    pub mechanism: Mechanism,
    /// For categories.
    pub categories: Categories,
    /// Over the columns of a row.
    pub budget: Budget,
    /// Slots of a number whose schema says nothing about bins, |D|.
    pub bins: u16,
}

impl Desensitisation {
    /// Slots of a number if nothing else is said.
    pub const BINS: u16 = 10;

    /// The usual way: clamped geometric noise, split over the columns, ten slots.
    pub fn new(epsilon: Epsilon) -> Self {
        Self {
            epsilon,
            mechanism: Mechanism::ClampedGeometric,
            categories: Categories::default(),
            budget: Budget::default(),
            bins: Self::BINS,
        }
    }

    /// The ε of each column, where `columns` could leave.
    ///
    /// # Errors
    /// [`Error::Parameter`] if nothing is left for a column; the message begins with the parameter's name.
    pub fn each(&self, columns: usize) -> Result<Epsilon, Error> {
        let parts = match self.budget {
            Budget::Full => 1,
            Budget::Split => columns.max(1) as u64,
            Budget::Sample(chosen) if chosen == 0 || chosen as usize > columns => {
                return Err(Error::parameter(
                    "columns",
                    format!(
                        "columns = {chosen} cannot be drawn from {columns}: write a number from 1 to {columns}"
                    ),
                ));
            }
            Budget::Sample(chosen) => chosen.into(),
        };
        let each = self.epsilon.billionths() / parts;
        if each == 0 {
            return Err(Error::parameter(
                "epsilon",
                format!(
                    "epsilon {} split over {parts} columns leaves nothing: raise it",
                    self.epsilon
                ),
            ));
        }
        Ok(Epsilon::from_billionths(each))
    }

    /// The schema by which a table is read whose columns are to leave: with as many bins as leave.
    pub fn reads(&self, schema: &Schema) -> Schema {
        schema.coarse(self.bins)
    }

    /// That a table was read as [`reads`](Self::reads) says.
    pub(super) fn check_read(&self, schema: &Schema) -> Result<(), Error> {
        if *schema == self.reads(schema) {
            return Ok(());
        }
        Err(Error::misuse(
            "a feature holder's table is read by the schema that its desensitisation `reads`",
        ))
    }

    /// What is done to each feature of a schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a mechanism cannot be had for one of the columns.
    pub fn changes(&self, schema: &Schema) -> Result<Changes, Error> {
        let schema = self.reads(schema);
        let count = schema.features().count();
        if count == 0 {
            return Err(Error::parameter(
                Subject::Schema,
                "a feature holder needs at least one column to learn from: its schema has none",
            ));
        }
        let each = self.each(count)?;
        let columns = schema
            .features()
            .map(|column| {
                self.change(column, each).map_err(|e| {
                    Error::parameter(
                        Subject::Schema,
                        format!("the column '{}' cannot be changed: {e}", column.name),
                    )
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Changes { schema, columns })
    }

    /// The columns that leave: all, or as many as the budget says, drawn by chance and not by what they say. `once` keeps a draw.
    pub(super) fn choose(
        &self,
        schema: &Schema,
        purse: &mut dyn Purse,
        once: impl FnOnce(&mut dyn FnMut() -> Result<Places, Error>) -> Result<Places, Error>,
    ) -> Result<Vec<usize>, Error> {
        let columns = schema.features().count();
        let Budget::Sample(chosen) = self.budget else {
            return Ok((0..columns).collect());
        };
        self.each(columns)?;
        let Places(places) = once(&mut || {
            let mut coins = purse.coins()?;
            let mut places: Vec<u32> = (0..columns as u32).collect();
            for i in 0..chosen as usize {
                let rest = (places.len() - i) as u64;
                places.swap(i, i + coins.below(rest) as usize);
            }
            places.truncate(chosen as usize);
            places.sort_unstable();
            Ok(Places(places))
        })?;
        let places: Vec<usize> = places.into_iter().map(|place| place as usize).collect();
        if places.iter().any(|place| *place >= columns) {
            return Err(Error::journal(
                JournalFault::Damaged,
                "the record names columns that do not exist",
            ));
        }
        Ok(places)
    }

    fn change(&self, column: &Declared, epsilon: Epsilon) -> Result<Change, Error> {
        let by = match &column.kind {
            Kind::Number(number) => By::Order(self.mechanism.over(number.cuts().bins(), epsilon)?),
            Kind::Ordinal(declared) => By::Order(self.mechanism.over(declared.values().len(), epsilon)?),
            Kind::Flag(declared) => By::Order(Box::new(RandomisedResponse::new(
                epsilon,
                declared.values().len(),
            )?)),
            kind => {
                let slots = kind.slots();
                match self.categories {
                    Categories::Response => By::Order(Box::new(RandomisedResponse::new(epsilon, slots)?)),
                    Categories::SymmetricUnary => By::Flags(Box::new(Unary::symmetric(epsilon, slots)?)),
                    Categories::OptimisedUnary => By::Flags(Box::new(Unary::optimised(epsilon, slots)?)),
                }
            }
        };
        Ok(Change {
            name: column.name.clone(),
            is_number: matches!(column.kind, Kind::Number(_)),
            by,
        })
    }
}

/// Numbers of columns.
pub(super) struct Places(Vec<u32>);

impl Wire for Places {
    fn write(&self, to: &mut Writer) {
        to.list(&self.0, |place, to| to.word(*place));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.list(4, Reader::word).map(Self)
    }
}

/// What is done to each column of a schema.
#[derive(Debug)]
pub struct Changes {
    schema: Schema,
    columns: Vec<Change>,
}

#[derive(Debug)]
struct Change {
    name: String,
    is_number: bool,
    by: By,
}

#[derive(Debug)]
enum By {
    Order(Box<dyn Ordered>),
    Flags(Box<Unary>),
}

/// How the values of a column that has left are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// The first output, in slots from the domain's first.
    pub(super) lowest: i32,
    /// How many outputs there are.
    pub(super) outputs: usize,
    /// Values for each row: more than one for flags.
    pub(super) each: usize,
}

impl Changes {
    /// The schema with the slots that columns have when they leave.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there is none: never.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// What is claimed about each column, known from the schema alone.
    pub fn distances(&self) -> Vec<Distance> {
        let nobody = Private::new(Cells::default());
        let all: Vec<usize> = (0..self.len()).collect();
        self.leaving(&nobody, &all).iter().map(Column::distance).collect()
    }

    /// The chosen columns of a table, on their way out.
    pub(super) fn leaving<'a>(&'a self, cells: &Private<Cells>, chosen: &[usize]) -> Vec<Column<'a>> {
        let leave = |place: usize| {
            let change = &self.columns[place];
            // What is missing or undeclared has no place in an order: it counts as the middle.
            let values = |domain: Option<usize>| {
                cells.as_ref().map(move |cells| {
                    let bins = cells.features().get(place).map(|feature| &feature.bins);
                    let slots = bins.into_iter().flat_map(|bins| bins.iter());
                    match domain {
                        None => slots.collect(),
                        Some(domain) => {
                            let middle = (domain.max(1) - 1) as u16 / 2;
                            let known = |slot: u16| usize::from(slot) < domain;
                            slots
                                .map(|slot| if known(slot) { slot } else { middle })
                                .collect()
                        }
                    }
                })
            };
            match &change.by {
                By::Order(by) => Column::slots(&change.name, &**by, values(Some(by.inputs()))),
                By::Flags(by) => Column::flags(&change.name, by, values(None)),
            }
        };
        chosen.iter().map(|&place| leave(place)).collect()
    }

    /// How the values of a column are to be read once it has left. Only numbers can lie outside their domain.
    pub(super) fn reading(&self, place: usize) -> Reading {
        let change = &self.columns[place];
        match &change.by {
            By::Order(by) => {
                let Outputs { lowest, count } = by.outputs();
                let (lowest, outputs) = if change.is_number {
                    (lowest, count)
                } else {
                    (0, by.inputs())
                };
                Reading {
                    lowest,
                    outputs,
                    each: 1,
                }
            }
            By::Flags(by) => Reading {
                lowest: 0,
                outputs: 2,
                each: by.categories(),
            },
        }
    }

    /// An output as it is read: clamped to the domain unless it is a number.
    pub(super) fn read(&self, place: usize, output: u16) -> u16 {
        let change = &self.columns[place];
        match &change.by {
            By::Order(by) if !change.is_number => {
                let slot = i32::from(output) + by.outputs().lowest;
                slot.clamp(0, by.inputs() as i32 - 1) as u16
            }
            _ => output,
        }
    }
}
