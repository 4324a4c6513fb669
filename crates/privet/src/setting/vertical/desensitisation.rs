//! How a feature holder's columns are changed: the parameters.

use crate::Error;
use crate::data::Section;
use crate::parameters::{
    NeededEpsilon, Takes, Value, fits, named_values, parameters, plain_values, readable,
};
use crate::privacy::mechanism::ordered::{
    AdjustedMap, Adjustment, Alignment as Blocks, ClampedGeometric, GlobalMap, LocalMap, Loss, Ordered,
    PathGeometric, Piecewise, Route,
};
use crate::privacy::{Epsilon, Ratio};

parameters! {
    /// How columns are changed before they are sent.
    pub struct Desensitisation("desensitisation") {
        /// ε for each unit of distance; `budget` says how it is divided over columns. It must be given.
        epsilon: NeededEpsilon = NeededEpsilon(None);
        /// How numbers and ordinals are changed.
        mechanism: Mechanism = Mechanism::ClampedGeometric;
        /// How categories are changed.
        categories: Categories = Categories::Response;
        /// How ε is divided over the columns of a row.
        budget: Budget = Budget::Split;
        /// Slots of a number whose schema says nothing about bins, |D|.
        bins: u16 = 10, in 2..=1024;
    } where Self::agree
}

readable! {
    Desensitisation { mechanism: Mechanism, categories: Categories, budget: Budget, bins: u16 }
}

plain_values! {
    Mechanism: Mechanism::read, |_| None, Mechanism::settings => Takes::NamesWith(&Mechanism::ALL);
    Budget: Budget::read, |_| None, Budget::settings => Takes::NamesWith(&Budget::ALL);
}

named_values! {
    /// How values without an order are changed.
    pub enum Categories {
        /// The true one is sent more often than each other: the model can be given raw rows.
        Response = "response",
        /// A flag for each, symmetric: columns of the model are flags.
        SymmetricUnary = "symmetric-unary",
        /// A flag for each, with the odds that estimate frequencies best.
        OptimisedUnary = "optimised-unary",
    }
}

impl Desensitisation {
    const NAME_IN_CODE: &str = "Desensitisation";

    /// The parameter, as the builder of this type describes it.
    pub fn epsilon(&self) -> &Epsilon {
        self.epsilon.get()
    }

    fn agree(&self) -> Result<(), Error> {
        let bad = |key, why: &str| Err(Error::parameter(key, why));
        self.epsilon.check("epsilon", Self::NAME_IN_CODE)?;
        match self.mechanism {
            Mechanism::PathGeometric { width: 0, .. }
            | Mechanism::AdjustedMap { width: 0, .. }
            | Mechanism::LocalMap { width: 0, .. } => bad("width", "width = 0: a part has at least one slot"),
            Mechanism::AdjustedMap {
                alpha_thousandths: 0, ..
            } => bad("alpha", "alpha = 0: it must be at least 0.001"),
            _ => Ok(()),
        }
    }

    /// The ε of each column, of so many that could be sent.
    pub(super) fn each(&self, columns: usize) -> Result<Epsilon, Error> {
        let parts = match self.budget {
            Budget::Full => 1,
            Budget::Split => columns.max(1) as u64,
            Budget::Sample(chosen) if chosen == 0 || chosen as usize > columns => {
                let why = format!(
                    "columns = {chosen} cannot be drawn from {columns}: write a number from 1 to {columns}"
                );
                return Err(Error::parameter("columns", why));
            }
            Budget::Sample(chosen) => chosen.into(),
        };
        let each = self.epsilon().billionths() / parts;
        if each == 0 {
            let why = format!(
                "epsilon {} is too small to be split over {parts} columns: raise it",
                self.epsilon()
            );
            return Err(Error::parameter("epsilon", why));
        }
        Ok(Epsilon::from_billionths(each))
    }
}

/// How values of an ordered column are changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Mechanism {
    /// Geometric noise, clamped to the domain: the default, and spends exactly what it declares.
    ClampedGeometric,
    /// Parts of so many slots: ε between neighbours within a part, another one over a border; without that one, parts are shown.
    PathGeometric {
        /// Slots in a part.
        width: u32,
        /// The ε between neighbours on the two sides of a border.
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
    /// The mechanisms that a job can name, each with the parameters that it takes.
    const ALL: [(&str, &[&str]); 6] = [
        ("clamped-geometric", &[]),
        ("path-geometric", &["width", "across"]),
        ("global-map", &[]),
        ("adjusted-map", &["width", "alpha"]),
        ("local-map", &["width"]),
        ("piecewise", &["clipped"]),
    ];

    /// Its name in a job.
    pub fn name(&self) -> &'static str {
        let place = match self {
            Self::ClampedGeometric => 0,
            Self::PathGeometric { .. } => 1,
            Self::GlobalMap(_) => 2,
            Self::AdjustedMap { .. } => 3,
            Self::LocalMap { .. } => 4,
            Self::Piecewise { .. } => 5,
        };
        Self::ALL[place].0
    }

    /// The mechanism that a job names, with its parameters.
    fn read(section: &Section<'_>, key: &str) -> Option<Self> {
        section.allow(&[key]);
        Self::ALL.iter().for_each(|(_, takes)| section.allow(takes));
        let names = Self::ALL.map(|(name, takes)| (name, (name, takes)));
        let (name, takes) = match section.has(key) {
            false => Self::ALL[0],
            true => section.choice(key, &names)?.value,
        };
        let foreign = |key: &&&str| section.has(key) && !takes.contains(*key);
        let mut fine = true;
        for key in Self::ALL[1..]
            .iter()
            .flat_map(|(_, takes)| *takes)
            .filter(foreign)
        {
            section.finding_at(key, format!("{key} does not belong to \"{name}\": remove it"));
            fine = false;
        }
        let width = || {
            let found = section.required_integer("width", "4")?;
            fits(section, "width", found.value)
        };
        let blocks = Blocks::FirstSlot;
        // Both parameters are read before one that is wrong ends this, so that all findings are made.
        let read = match name {
            "path-geometric" => {
                let across = match section.has("across") {
                    false => Some(None),
                    true => Epsilon::read(section, "across").map(Some),
                };
                let both = width().zip(across);
                both.map(|(width, across)| Self::PathGeometric { width, across })
            }
            "global-map" => Some(Self::GlobalMap(Route::default())),
            "adjusted-map" => {
                let alpha = thousandths(section);
                width()
                    .zip(alpha)
                    .map(|(width, alpha_thousandths)| Self::AdjustedMap {
                        width,
                        alpha_thousandths,
                        blocks,
                    })
            }
            "local-map" => width().map(|width| Self::LocalMap { width, blocks }),
            "piecewise" => {
                let clipped = match section.has("clipped") {
                    false => Some(true),
                    true => bool::read(section, "clipped"),
                };
                clipped.map(|clipped| Self::Piecewise { clipped })
            }
            _ => Some(Self::ClampedGeometric),
        };
        read.filter(|_| fine)
    }

    fn settings(&self, key: &str) -> Vec<(String, String)> {
        let start = |blocks: &Blocks| match blocks {
            Blocks::FirstSlot => "first-slot".to_owned(),
            Blocks::Zero { first } => format!("zero from {first}"),
        };
        let own = match self {
            Self::ClampedGeometric | Self::GlobalMap(Route::BoundedLaplace) => vec![],
            Self::GlobalMap(Route::Exponential) => vec![("route", "exponential".into())],
            Self::PathGeometric { width, across } => vec![
                ("width", width.to_string()),
                (
                    "across",
                    across.map_or("unbounded".into(), |across| across.to_string()),
                ),
            ],
            Self::AdjustedMap {
                width,
                alpha_thousandths,
                blocks,
            } => vec![
                ("width", width.to_string()),
                ("alpha", (f64::from(*alpha_thousandths) / 1000.0).to_string()),
                ("blocks", start(blocks)),
            ],
            Self::LocalMap { width, blocks } => vec![("width", width.to_string()), ("blocks", start(blocks))],
            Self::Piecewise { clipped } => vec![("clipped", clipped.to_string())],
        };
        let all = [(key, self.name().to_owned())].into_iter().chain(own);
        all.map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// The mechanism over a domain of so many slots.
    pub(super) fn over(&self, slots: usize, epsilon: Epsilon) -> Result<Box<dyn Ordered>, Error> {
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

/// α in thousandths.
fn thousandths(section: &Section<'_>) -> Option<u32> {
    let alpha = section.required_number("alpha", "2.0")?.value;
    let thousandths = (alpha * 1000.0).round();
    if (thousandths - alpha * 1000.0).abs() < 1e-6 && (1.0..=1e6).contains(&thousandths) {
        return Some(thousandths as u32);
    }
    let why =
        format!("alpha = {alpha} is invalid: write a number from 0.001 to 1000 with at most three decimals");
    section.finding_at("alpha", why);
    None
}

/// How ε is divided over the columns of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Each column gets an equal part.
    Split,
    /// Each column gets all of it, as in the reference implementation: a row loses as many times as much.
    Full,
    /// So many columns, drawn by chance and not by what they say, get an equal part each; the others are not sent (section 7.1).
    Sample(u32),
}

impl Budget {
    /// The ways that a job can name, each with the parameters that it takes.
    const ALL: [(&str, &[&str]); 3] = [("split", &[]), ("full", &[]), ("sample", &["columns"])];

    fn read(section: &Section<'_>, key: &str) -> Option<Self> {
        section.allow(&[key, "columns"]);
        let names = [
            ("split", Self::Split),
            ("full", Self::Full),
            ("sample", Self::Sample(0)),
        ];
        let chosen = match section.has(key) {
            false => Self::Split,
            true => section.choice(key, &names)?.value,
        };
        if let Self::Sample(_) = chosen {
            let columns = section.required_integer("columns", "3")?.value;
            return fits(section, "columns", columns).map(Self::Sample);
        }
        if section.has("columns") {
            let why = "columns belongs to budget = \"sample\", which releases that number of columns: remove it, or write budget = \"sample\"";
            section.finding_at("columns", why);
            return None;
        }
        Some(chosen)
    }

    fn settings(&self, key: &str) -> Vec<(String, String)> {
        let named = |value: &str| (key.to_owned(), value.to_owned());
        match self {
            Self::Split => vec![named("split")],
            Self::Full => vec![named("full")],
            Self::Sample(columns) => vec![named("sample"), ("columns".to_owned(), columns.to_string())],
        }
    }
}
