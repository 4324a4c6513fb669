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
//! [`inprivate`](privet::setting::central::inprivate) is what is sound of it.

mod grow;
#[cfg(test)]
mod tests;

use privet::Error;
use privet::data::schema::{Label, Schema};
use privet::data::{Cells, Table, Target};
use privet::learner::Coordinate;
use privet::privacy::{Coins, Unprotected};

use crate::as_published::{above_zero, laplace, numbers};
use grow::{PrintedGrower, declared, feasible};

/// Why it protects nobody.
const BECAUSE: &str = "InPrivate's tree is not private as described: its candidate thresholds are averages of three values of the rows, its \
                       residuals exceed the bound of one that its noise is made for, and no noise covers either";
/// "The sensitivity of square error is Δ = 4."
const DELTA: f64 = 4.0;

/// Rows stand for private ones, and nothing protects them.
pub(super) fn permission(schema: &Schema) -> Unprotected {
    Unprotected::unrecorded(schema.dataset(), &schema.relation(), BECAUSE)
}

/// What the questions of one level cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LevelPrice {
    /// All of ε₁ at every level, as line 10 reads.
    Whole,
    /// A share of ε₁, as the proof of theorem 7 reads.
    Split,
}

/// What is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrintedLoss {
    /// One of two classes, −1 and 1.
    Classes,
    /// A number from −1 to 1.
    Numbers,
}

impl PrintedLoss {
    /// The residual of a label after a score: equations 6 and 13.
    pub(super) fn residual(self, label: f64, score: f64) -> f64 {
        match self {
            Self::Classes => 2.0 * label / (1.0 + (2.0 * label * score).exp()),
            Self::Numbers => label - score,
        }
    }

    /// How large a residual can be, R; those of numbers are clipped to it.
    fn bound(self) -> f64 {
        match self {
            Self::Classes => 2.0,
            Self::Numbers => 1.0,
        }
    }

    /// What a row adds to the lower sum of its leaf: equations 8 and 14.
    pub(super) fn weight(self, residual: f64) -> f64 {
        match self {
            Self::Classes => residual.abs() * (2.0 - residual.abs()),
            Self::Numbers => 1.0,
        }
    }
}

/// How much smaller the square error is on two sides than on both together (line 8), from each side's sum and count.
pub(super) fn gain(left: (f64, f64), right: (f64, f64)) -> f64 {
    let term = |(sum, count): (f64, f64)| if count > 0.0 { sum * sum / count } else { 0.0 };
    term(left) + term(right) - term((left.0 + right.0, left.1 + right.1))
}

/// A tree of more levels would be too deep to be walked.
const MOST_LEVELS: u32 = 64;

/// Parameters of the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct InPrivate {
    /// Levels of nodes, that of the leaves included; the paper has 10.
    pub(super) depth: u32,
    /// What a tree would cost, were the claim true: half of it for questions, half for leaves. None is the paper's "No-Priv".
    pub(super) epsilon: Option<f64>,
    /// What the questions of one level cost.
    pub(super) levels: LevelPrice,
    /// What leaf values are multiplied by: a deviation, for the paper has none.
    pub(super) learning_rate: f64,
    /// None as it is printed.
    pub(super) corrected: Option<Correction>,
}

/// What makes theorem 7 true of a table without a seed and of exact noise: candidates of the schema, residuals clipped to R before any use,
/// questions weighed by ε·gain/(4R²), a leaf's two sums as one release, its denominator above zero and its value at most R. These are
/// figures: noise is drawn from known coins, and the library's own [`inprivate`](privet::setting::central::inprivate) is what keeps a ledger.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Correction {
    /// What is added to a leaf's denominator.
    pub(super) ridge: f64,
}

impl Default for InPrivate {
    /// As the paper has it.
    fn default() -> Self {
        Self {
            depth: super::DEPTH,
            epsilon: Some(1.0),
            levels: LevelPrice::Split,
            learning_rate: 1.0,
            corrected: None,
        }
    }
}

impl InPrivate {
    /// # Errors
    /// [`Error::Parameter`] with the first parameter that is out of its range.
    fn check(&self) -> Result<(), Error> {
        if !(1..=MOST_LEVELS).contains(&self.depth) {
            let why = format!("depth = {}: write a number from 1 to {MOST_LEVELS}", self.depth);
            return Err(Error::parameter("depth", why));
        }
        above_zero("learning_rate", self.learning_rate)?;
        self.epsilon
            .map_or(Ok(()), |epsilon| above_zero("epsilon", epsilon))
    }

    /// Grows one tree on each table, in this order, each on the residuals of the trees before it.
    ///
    /// # Paper
    /// Algorithm 1 for each tree, and Algorithm 2 for owners one after another.
    ///
    /// # Deviations
    /// Values are those of the schema's scale from −1 to 1 (of logarithms, where it says so), and labels are brought there by declared bounds.
    /// A domain that does not divide by three ends in a shorter average.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters out of range; [`Error::Misuse`] if there is no table, or no label of two classes or a number.
    pub(super) fn fit(&self, tables: Vec<Table>, coins: &mut Coins) -> Result<Published, Error> {
        self.check()?;
        let first = tables
            .first()
            .ok_or_else(|| Error::misuse("there is no table to grow a tree on"))?;
        let mut published = Published::of(first.schema())?;
        for table in tables {
            let permission = permission(table.schema());
            let rows = published.rows(&permission.reveal(table.into_cells()));
            let scores = rows.scores(&published.trees);
            let labels = rows.labels.iter().zip(&scores);
            let bound = self.corrected.map_or(f64::INFINITY, |_| published.loss.bound());
            let residual = |(y, f): (&f64, &f64)| published.loss.residual(*y, *f).clamp(-bound, bound);
            let residuals: Vec<f64> = labels.map(residual).collect();
            let grower = PrintedGrower {
                params: self,
                loss: published.loss,
                candidates: self.candidates(&rows, &published.coordinates),
                columns: &rows.columns,
                residuals: &residuals,
            };
            let tree = grower.node(&grower.sorted(), self.depth - 1, coins);
            published.trees.push(tree);
        }
        Ok(published)
    }

    /// Where questions may cut each column.
    fn candidates(&self, rows: &RevealedTable, coordinates: &[Coordinate]) -> Vec<Vec<f32>> {
        match self.corrected {
            Some(_) => coordinates.iter().map(declared).collect(),
            None => {
                let columns = rows.columns.iter().zip(coordinates);
                columns
                    .map(|(column, own)| feasible(column, own.shape.number))
                    .collect()
            }
        }
    }

    /// The two sums of a leaf, with noise: equations 11 and 15.
    pub(super) fn leaf(&self, loss: PrintedLoss, residuals: &[f64], coins: &mut Coins) -> [f64; 2] {
        let upper: f64 = residuals.iter().sum();
        let lower: f64 = residuals.iter().map(|&r| loss.weight(r)).sum();
        // Lap(1/(ε₂/2)), twice. Corrected it is the same: with the lower sum halved, both of a class change by 2 together, and those of a
        // number by 1 each.
        let scale = self.half().map_or(0.0, |half| 2.0 / half);
        let halved = match (self.corrected, loss) {
            (Some(_), PrintedLoss::Classes) => 2.0,
            _ => 1.0,
        };
        [
            upper + laplace(scale, coins),
            lower + halved * laplace(scale, coins),
        ]
    }

    /// ε₁ and ε₂.
    fn half(&self) -> Option<f64> {
        self.epsilon.map(|epsilon| epsilon / 2.0)
    }

    /// What a gain is multiplied by in the exponent, if there is noise at all.
    fn sharpness(&self, loss: PrintedLoss) -> Option<f64> {
        let levels = match self.levels {
            LevelPrice::Whole => 1,
            LevelPrice::Split => self.depth.max(2) - 1,
        };
        // Corrected: the range of all gains, once. As printed: twice the "sensitivity".
        let range = match self.corrected {
            Some(_) => 4.0 * loss.bound() * loss.bound(),
            None => 2.0 * DELTA,
        };
        self.half().map(|half| half / f64::from(levels) / range)
    }
}

/// Trees that anybody may read, and that protect nobody.
#[derive(Debug, Clone)]
pub(super) struct Published {
    loss: PrintedLoss,
    /// Where labels lie.
    bounds: [f64; 2],
    coordinates: Vec<Coordinate>,
    trees: Vec<PrintedNode>,
}

#[derive(Debug, Clone)]
enum PrintedNode {
    /// To the left with values below the threshold.
    Question {
        column: usize,
        below: f32,
        sides: Box<[PrintedNode; 2]>,
    },
    Leaf(f64),
}

/// What trees see of a table.
struct RevealedTable {
    columns: Vec<Vec<f32>>,
    labels: Vec<f64>,
}

impl Published {
    fn of(schema: &Schema) -> Result<Self, Error> {
        let (loss, bounds) = match schema.label() {
            Some((_, Label::Classes(declared))) if declared.values().len() == 2 => {
                (PrintedLoss::Classes, [0.0, 1.0])
            }
            Some((_, Label::Number { min, max })) => (PrintedLoss::Numbers, [*min, *max]),
            _ => {
                return Err(Error::misuse("a label of two classes or a number is needed"));
            }
        };
        Ok(Self {
            loss,
            bounds,
            coordinates: Coordinate::of(schema, |_, _| true),
            trees: Vec::new(),
        })
    }

    fn rows(&self, cells: &Cells) -> RevealedTable {
        let [min, max] = self.bounds;
        let place = |label: f64| 2.0 * (label - min) / (max - min) - 1.0;
        let labels = match cells.target() {
            Some(Target::Classes(of)) => of.iter().map(|&class| place(class.min(1).into())).collect(),
            Some(Target::Numbers(of)) => of.iter().map(|&number| place(number.into())).collect(),
            None => vec![0.0; cells.rows()],
        };
        RevealedTable {
            columns: numbers(cells, &self.coordinates),
            labels,
        }
    }

    /// The column and the threshold of every question.
    pub(super) fn questions(&self) -> Vec<(usize, f32)> {
        let mut found = Vec::new();
        let mut rest: Vec<&PrintedNode> = self.trees.iter().rev().collect();
        while let Some(node) = rest.pop() {
            if let PrintedNode::Question { column, below, sides } = node {
                found.push((*column, *below));
                rest.extend(sides.iter().rev());
            }
        }
        found
    }

    /// How far the trees are off on each row of a table: 0 or 1 of a class, the distance of a number on the scale from −1 to 1.
    pub(super) fn off(&self, table: &Table) -> Vec<f64> {
        let rows = self.rows(&permission(table.schema()).reveal(table.cells().clone()));
        let judged = rows.labels.iter().zip(rows.scores(&self.trees));
        let off = |(label, score): (&f64, f64)| match self.loss {
            PrintedLoss::Classes => f64::from(u8::from((score > 0.0) != (*label > 0.0))),
            PrintedLoss::Numbers => (label - score).abs(),
        };
        judged.map(off).collect()
    }
}

impl RevealedTable {
    fn scores(&self, trees: &[PrintedNode]) -> Vec<f64> {
        let score = |row| trees.iter().map(|tree| tree.at(&self.columns, row)).sum();
        (0..self.labels.len()).map(score).collect()
    }
}

impl PrintedNode {
    fn at(&self, columns: &[Vec<f32>], row: usize) -> f64 {
        match self {
            Self::Leaf(value) => *value,
            Self::Question { column, below, sides } => {
                sides[usize::from(columns[*column][row] >= *below)].at(columns, row)
            }
        }
    }
}
