//! InPrivate's regression tree as it is printed: **not private as described**.
//!
//! # Paper
//! InPrivate, algorithm 1 with equations 6, 8, 10, 11, 13 and 15: candidate thresholds are averages of three neighbouring values of
//! the data, a node's threshold is drawn by the exponential mechanism, and a leaf is the ratio of two noisy sums.
//!
//! # Privacy
//! None: theorem 7 is false.
//! - Line 3 lists candidates from the rows. One row below all others shifts every triple, so the thresholds of two neighbours have
//!   nothing in common: whoever reads one tells the tables apart, at any ε.
//! - "The maximum of residual is 1": true of the first tree of a row of trees only. Later residuals of classes reach 2, those of numbers have no
//!   bound at all.
//! - Line 10 spends ε₁ at every level, the proof ε₁/(d − 1).
//!
//! [`inprivate`](crate::setting::central::inprivate) is what is sound of it.

mod grow;

use super::super::rows::{coordinates, numbers};
use super::laplace;
use crate::Error;
use crate::data::schema::{Label, Schema};
use crate::data::{Cells, Table, Target};
use crate::error::Subject;
use crate::learner::Coordinate;
use crate::privacy::{Certificate, Coins, Epsilon, Relation, Unprotected};
use grow::{Grower, feasible};

/// Why it protects nobody.
const BECAUSE: &str = "InPrivate's tree is not private as described: its candidate thresholds are averages of three values of the rows, its \
                       residuals exceed the bound of one that its noise is made for, and no noise covers either";
/// "The sensitivity of square error is Δ = 4."
const DELTA: f64 = 4.0;

/// What the questions of one level cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Levels {
    /// All of ε₁ at every level, as line 10 reads.
    Whole,
    /// A share of ε₁, as the proof of theorem 7 reads.
    Split,
}

/// What is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// One of two classes, −1 and 1.
    Classes,
    /// A number from −1 to 1.
    Numbers,
}

impl Loss {
    /// What a score leaves over of a label: equations 6 and 13.
    pub fn residual(self, label: f64, score: f64) -> f64 {
        match self {
            Self::Classes => 2.0 * label / (1.0 + (2.0 * label * score).exp()),
            Self::Numbers => label - score,
        }
    }

    /// What a row adds to the lower sum of its leaf: equations 8 and 14.
    pub fn weight(self, residual: f64) -> f64 {
        match self {
            Self::Classes => residual.abs() * (2.0 - residual.abs()),
            Self::Numbers => 1.0,
        }
    }
}

/// How much smaller the square error is on two sides than on both together (line 8), from each side's sum and count.
pub fn gain(left: (f64, f64), right: (f64, f64)) -> f64 {
    let term = |(sum, count): (f64, f64)| if count > 0.0 { sum * sum / count } else { 0.0 };
    term(left) + term(right) - term((left.0 + right.0, left.1 + right.1))
}

/// Parameters of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InPrivate {
    /// Levels of nodes, that of the leaves included; the paper has 10.
    pub depth: u32,
    /// What a tree would cost, were the claim true: half of it for questions, half for leaves. None is the paper's "No-Priv".
    pub epsilon: Option<Epsilon>,
    /// What the questions of one level cost.
    pub levels: Levels,
}

impl InPrivate {
    /// Why whatever comes of it is void: what a leave for it should say.
    pub fn because() -> &'static str {
        BECAUSE
    }

    /// Grows one tree on each table, in this order, each on what the trees before it leave over.
    ///
    /// # Paper
    /// Algorithm 1; several owners one after another are section VI.
    ///
    /// # Deviations
    /// Values are those of the schema's scale from −1 to 1 (of logarithms, where it says so), and labels are brought there by declared bounds.
    /// A domain that does not divide by three ends in a shorter average. Noise comes from public coins: it hides nothing anyway.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a number makes no sense or there is no table or label of two classes or a number; [`Error::Misuse`] if the relation
    /// protects less than the schema.
    pub fn fit(
        &self,
        tables: Vec<Table>,
        relation: &Relation,
        leave: &Unprotected,
        coins: &mut Coins,
    ) -> Result<Published, Error> {
        if !(1..=20).contains(&self.depth) || self.epsilon == Some(Epsilon::ZERO) {
            return Err(Error::parameter(
                Subject::Algorithm,
                format!("{self:?} makes no sense"),
            ));
        }
        let first = tables
            .first()
            .ok_or_else(|| Error::parameter("tables", "there is no table to grow a tree on"))?;
        let mut published = Published::of(first.schema(), leave)?;
        for table in tables {
            table.schema().covered_by(relation)?;
            let rows = published.rows(&leave.reveal(table.into_cells()));
            let scores = rows.scores(&published.trees);
            let labels = rows.labels.iter().zip(&scores);
            let residuals: Vec<f64> = labels.map(|(y, f)| published.loss.residual(*y, *f)).collect();
            let numbered = published.coordinates.iter().map(|c| c.shape.number);
            let grower = Grower {
                params: self,
                loss: published.loss,
                candidates: rows
                    .columns
                    .iter()
                    .zip(numbered)
                    .map(|(column, number)| feasible(column, number))
                    .collect(),
                columns: &rows.columns,
                residuals: &residuals,
            };
            let tree = grower.node(&grower.sorted(), self.depth - 1, coins);
            published.trees.push(tree);
        }
        Ok(published)
    }

    /// The two sums of a leaf, with noise: equations 11 and 15.
    pub fn leaf(&self, loss: Loss, residuals: &[f64], coins: &mut Coins) -> [f64; 2] {
        let upper: f64 = residuals.iter().sum();
        let lower: f64 = residuals.iter().map(|&r| loss.weight(r)).sum();
        // Lap(1/(ε₂/2)), twice.
        let scale = self.half().map_or(0.0, |half| 2.0 / half);
        [upper, lower].map(|sum| sum + laplace(scale, coins))
    }

    /// ε₁ and ε₂.
    fn half(&self) -> Option<f64> {
        self.epsilon.map(|epsilon| epsilon.to_f64() / 2.0)
    }

    /// What a gain is multiplied by in the exponent, if there is noise at all.
    fn sharpness(&self) -> Option<f64> {
        let levels = match self.levels {
            Levels::Whole => 1,
            Levels::Split => self.depth.max(2) - 1,
        };
        self.half().map(|half| half / f64::from(levels) / (2.0 * DELTA))
    }
}

/// Trees that anybody may read, and that protect nobody.
#[derive(Debug, Clone)]
pub struct Published {
    loss: Loss,
    /// Where labels lie.
    bounds: [f64; 2],
    coordinates: Vec<Coordinate>,
    trees: Vec<Node>,
    certificate: Certificate,
}

#[derive(Debug, Clone)]
enum Node {
    /// To the left with values below the threshold.
    Question {
        column: usize,
        below: f32,
        sides: Box<[Node; 2]>,
    },
    Leaf(f64),
}

/// What trees see of a table.
struct Rows {
    columns: Vec<Vec<f32>>,
    labels: Vec<f64>,
}

impl Published {
    fn of(schema: &Schema, leave: &Unprotected) -> Result<Self, Error> {
        let (loss, bounds) = match schema.label() {
            Some((_, Label::Classes(declared))) if declared.values().len() == 2 => {
                (Loss::Classes, [0.0, 1.0])
            }
            Some((_, Label::Number { min, max })) => (Loss::Numbers, [*min, *max]),
            _ => {
                return Err(Error::parameter(
                    Subject::Schema,
                    "a label of two classes or a number is needed",
                ));
            }
        };
        Ok(Self {
            loss,
            bounds,
            coordinates: coordinates(schema, |_| true),
            trees: Vec::new(),
            certificate: leave.certificate(),
        })
    }

    fn rows(&self, cells: &Cells) -> Rows {
        let [min, max] = self.bounds;
        let place = |label: f64| 2.0 * (label - min) / (max - min) - 1.0;
        let labels = match cells.target() {
            Some(Target::Classes(of)) => of.iter().map(|&class| place(class.min(1).into())).collect(),
            Some(Target::Numbers(of)) => of.iter().map(|&number| place(number.into())).collect(),
            None => vec![0.0; cells.rows()],
        };
        Rows {
            columns: numbers(cells, &self.coordinates),
            labels,
        }
    }

    /// What may be said about the trees: that they protect nobody.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The column and the threshold of every question.
    pub fn questions(&self) -> Vec<(usize, f32)> {
        let mut found = Vec::new();
        let mut left: Vec<&Node> = self.trees.iter().rev().collect();
        while let Some(node) = left.pop() {
            if let Node::Question { column, below, sides } = node {
                found.push((*column, *below));
                left.extend(sides.iter().rev());
            }
        }
        found
    }

    /// How far the trees are off on each row of a table: 0 or 1 of a class, the distance of a number on the scale from −1 to 1.
    pub fn off(&self, table: &Table, leave: &Unprotected) -> Vec<f64> {
        let rows = self.rows(&leave.reveal(table.cells().clone()));
        let judged = rows.labels.iter().zip(rows.scores(&self.trees));
        let off = |(label, score): (&f64, f64)| match self.loss {
            Loss::Classes => f64::from(u8::from((score > 0.0) != (*label > 0.0))),
            Loss::Numbers => (label - score).abs(),
        };
        judged.map(off).collect()
    }
}

impl Rows {
    fn scores(&self, trees: &[Node]) -> Vec<f64> {
        let score = |row| trees.iter().map(|tree| tree.at(&self.columns, row)).sum();
        (0..self.labels.len()).map(score).collect()
    }
}

impl Node {
    fn at(&self, columns: &[Vec<f32>], row: usize) -> f64 {
        match self {
            Self::Leaf(value) => *value,
            Self::Question { column, below, sides } => {
                sides[usize::from(columns[*column][row] >= *below)].at(columns, row)
            }
        }
    }
}
