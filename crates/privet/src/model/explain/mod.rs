//! What each column does to a model's scores, with the band by which noise alone moves it.
//!
//! Trees that ask about one column or two add up to a *shape* for each column and a *pair* for each two columns: base, shapes and pairs are the
//! score, exactly. Leaves carry the standard deviation of their noise, so each point of a shape has one, too: the root of the sum of its
//! leaves' variances. A shape is moved so that its mean is zero, and the base by as much the other way; the mean is over the shares of rows that
//! leaves' noise implies ([`Signal`](crate::boost::Signal)), never over rows.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `segments` | the parts of a column's range that a model treats alike, and what they mean |
//! | `sums` | shapes and pairs from members |
//! | `rows` | what a row's score is made of |
//! | `svg`, `canvas` | drawings |
//!
//! Everything follows from the model alone, which is released. A band says how far noise alone moves a curve. It is not a confidence interval:
//! curves are shrunk towards zero, and other trees would have been cut elsewhere.

mod canvas;
mod rows;
mod segments;
mod sums;
mod svg;

pub use canvas::escaped;
pub use rows::Contributions;
pub use segments::{Meaning, Segment};
pub use svg::spans;

use serde::Serialize;

use super::Model;
use crate::Error;
use crate::boost::Link;
use crate::data::Schema;
use crate::data::schema::Label;
use crate::privacy::getters;

/// A band reaches so many standard deviations to each side.
const REACH: f64 = 1.96;

/// What the columns of a model do to its scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    schema: Schema,
    outputs: Vec<String>,
    base: Vec<f64>,
    terms: Vec<Term>,
    importance: Vec<Importance>,
}

/// What one column, or two together, add to one score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Term {
    /// Which score, by its place.
    pub output: usize,
    /// The column, or the two columns.
    pub columns: Vec<TermColumn>,
    /// What is added, by segment; of two columns, the second's segments for each of the first's.
    pub values: Vec<f64>,
    /// The standard deviation of the noise in each value; nothing if no noise is known.
    pub noise: Option<Vec<f64>>,
}

/// A column of a term.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermColumn {
    /// Its place among the schema's features.
    #[serde(skip)]
    pub feature: usize,
    /// Its name.
    pub name: String,
    /// The unit of measure, if the schema names one.
    pub measure: Option<String>,
    /// What its cells are told apart by, in order.
    pub segments: Vec<Segment>,
}

impl Term {
    /// Its name: of the column, or of both.
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.join(" × ")
    }

    /// Whether a value is further from zero than noise alone moves it in 95 of 100 runs; of many values, some are by chance.
    pub fn stands_out(&self) -> bool {
        (0..self.values.len()).any(|cell| self.is_told(cell))
    }

    /// The same of one value.
    fn is_told(&self, cell: usize) -> bool {
        let noise = self.noise.as_ref().map_or(0.0, |noise| REACH * noise[cell]);
        self.values[cell].abs() > noise
    }

    /// Whether it is about one column.
    pub fn is_shape(&self) -> bool {
        self.columns.len() == 1
    }
}

/// How much a column does, beside what noise alone would do: the variance of what it adds to the scores, each part of its range weighted by
/// the precision of its leaves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// The column.
    pub name: String,
    /// The standard deviation of what it adds.
    pub size: f64,
    /// The same, on average, if its leaves held noise alone.
    pub by_noise: f64,
    /// How far it stands out, in standard errors: about 0 ± 1 if there is noise alone. Nothing if no noise is known.
    pub deviations: Option<f64>,
    /// Whether it is told from noise.
    pub stands_out: bool,
}

impl Explanation {
    getters! {
        /// What each score is, in words.
        pub outputs(&outputs) -> &[String];
        /// Where each score begins.
        pub base(&base) -> &[f64];
        /// Shapes, then pairs; the column that stands out furthest first.
        pub terms(&terms) -> &[Term];
        /// The columns, the one that stands out furthest first.
        pub importance(&importance) -> &[Importance];
    }

    /// The terms about one column.
    pub fn shapes(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|term| term.is_shape())
    }

    /// The terms about two.
    pub fn pairs(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|term| !term.is_shape())
    }
}

impl Model {
    /// What each column does to the scores.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the model is not a sum over columns and pairs of them, with the settings that make one.
    pub fn explain(&self) -> Result<Explanation, Error> {
        let (mut base, mut terms) = sums::of(self)?;
        sums::centre(self, &mut base, &mut terms);
        let importance = self.importance();
        let rank = |term: &Term| {
            let place = |column: &TermColumn| {
                let mut own = importance.iter();
                own.position(|other| other.name == column.name)
                    .unwrap_or(usize::MAX)
            };
            let places: Vec<usize> = term.columns.iter().map(place).collect();
            (term.columns.len(), places, term.output)
        };
        terms.sort_by_cached_key(rank);
        Ok(Explanation {
            schema: self.schema().clone(),
            outputs: self.output_names(),
            base,
            terms,
            importance,
        })
    }

    /// What each score is, in words.
    fn output_names(&self) -> Vec<String> {
        match (self.schema().label(), self.ensemble().link) {
            (Some((column, Label::Classes(declared))), link) => {
                let of = |value: &String| match link {
                    Link::Logistic => format!("log-odds of {} = {value}", column.name),
                    Link::Vote => format!("half the log-odds of {} = {value}", column.name),
                    _ => format!("score of {} = {value}", column.name),
                };
                let values = declared.values();
                match self.ensemble().outputs() {
                    1 => values.last().map(of).into_iter().collect(),
                    _ => values.iter().map(of).collect(),
                }
            }
            (Some((column, Label::Number { .. })), _) => vec![match self.ensemble().scale {
                Some(scale) => format!("{}, on the scale \"{}\"", column.name, scale.0.name()),
                None => column.name.clone(),
            }],
            (None, _) => Vec::new(),
        }
    }

    /// How much each column does, the one that stands out furthest first: after those of which no noise is known, and before those that no
    /// member asks about.
    fn importance(&self) -> Vec<Importance> {
        let reach = self.ensemble().reach(self.schema().features().count());
        let signals = self.signals();
        let noisy = signals.iter().flatten().count();
        let mut all: Vec<(f64, Importance)> = self
            .schema()
            .features()
            .zip(reach.iter().zip(signals))
            .map(|(column, (reach, signal))| {
                let rank = match signal {
                    Some(signal) => signal.deviations,
                    None if *reach > 0.0 => f64::INFINITY,
                    None => f64::MIN,
                };
                let own = Importance {
                    name: column.name.clone(),
                    size: signal.map_or(*reach, |signal| signal.variance.max(0.0).sqrt()),
                    by_noise: signal.map_or(0.0, |signal| signal.by_noise.max(0.0).sqrt()),
                    deviations: signal.map(|signal| signal.deviations).filter(|x| x.is_finite()),
                    stands_out: signal.map_or(*reach > 0.0, |signal| signal.stands_out(noisy)),
                };
                (rank, own)
            })
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.size.total_cmp(&a.1.size)));
        all.into_iter().map(|(_, own)| own).collect()
    }
}
