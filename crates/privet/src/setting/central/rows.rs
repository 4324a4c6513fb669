//! What the curator's algorithms see of a table: private numbers from -1 to 1, which stay `Private`, and public columns.

use rayon::prelude::*;

use crate::Error;
use crate::data::{Cells, Public, Table, Target};
use crate::learner::{Classes, Coordinate, Linear, Logistic, SILENT, Sample, Shape};
use crate::privacy::{Coins, Private, Relation};

/// The ridge of the public classifier.
const RIDGE: f64 = 1.0;
/// Steps of its solver at most.
const STEPS: u32 = 50;
/// Rows that are scored together, so that their columns stay in the cache.
const BLOCK: usize = 1024;

/// A table, read for one relation.
pub(super) struct CuratorRows {
    pub(super) shapes: Vec<Shape>,
    /// The private features, one number each.
    pub(super) coordinates: Vec<Coordinate>,
    /// Which of these are declared public: they are treated as private where the label is private.
    pub(super) open: Vec<bool>,
    /// All features, for algorithms that treat public ones as private.
    pub(super) all: Vec<Coordinate>,
    /// Their numbers and the labels.
    pub(super) matrix: Private<Matrix>,
    /// The public features and labels, if the labels are public.
    pub(super) public: Option<PublicRows>,
}

/// Public features and public labels: what may be learnt from without charge.
pub(super) struct PublicRows {
    places: Vec<usize>,
    shapes: Vec<Shape>,
    cells: Cells,
    pub(super) labels: Vec<u16>,
}

/// Private numbers, column by column, with the labels.
#[derive(Clone)]
pub(super) struct Matrix {
    pub(super) columns: Vec<Vec<f32>>,
    pub(super) labels: Vec<bool>,
    /// The slots of each feature, for algorithms that count.
    pub(super) cells: Cells,
}

impl CuratorRows {
    /// Reads `table` for a budget under `relation`.
    ///
    /// Public columns are used where the label is public too, since whatever is learnt from them is learnt about the label;
    /// where it is not, they are treated like private ones.
    pub(super) fn new(table: Table, relation: &Relation) -> Result<Self, Error> {
        table.schema().covered_by(relation)?;
        let schema = table.schema().clone();
        let shapes = Shape::of(&schema);
        let public = table
            .public_under(relation)
            .and_then(|public| PublicRows::of(public, &shapes));
        let is_free = |place: usize| {
            public
                .as_ref()
                .is_some_and(|public| public.places.contains(&place))
        };
        let coordinates = Coordinate::of(&schema, |place, _| !is_free(place));
        let all = Coordinate::of(&schema, |_, _| true);
        let named: Vec<bool> = schema
            .features()
            .map(|column| column.is_public(relation))
            .collect();
        let open = coordinates.iter().map(|own| named[own.feature]).collect();
        let private = coordinates.clone();
        let matrix = table.into_cells().map(|cells| Matrix::of(cells, &private));
        Ok(Self {
            shapes,
            coordinates,
            open,
            all,
            matrix,
            public,
        })
    }

    /// Keeps as many rows of one class as of the other, at random. Only where labels are public: which rows are kept follows
    /// from them and from public coins.
    pub(super) fn balance(&mut self, coins: &mut Coins) {
        let Some(known) = &mut self.public else {
            return;
        };
        let mut classes = [Vec::new(), Vec::new()];
        for (row, &label) in known.labels.iter().enumerate() {
            classes[usize::from(label.min(1))].push(row as u32);
        }
        let least = classes[0].len().min(classes[1].len());
        let mut kept = Vec::with_capacity(2 * least);
        for class in &mut classes {
            // The first so many of a random order.
            for i in 0..least {
                let other = i + coins.below((class.len() - i) as u64) as usize;
                class.swap(i, other);
            }
            kept.extend_from_slice(&class[..least]);
        }
        kept.sort_unstable();
        known.cells = known.cells.take(&kept);
        known.labels = kept.iter().map(|&row| known.labels[row as usize]).collect();
        self.matrix
            .update(Private::new(kept), |matrix, kept| matrix.keep(&kept));
    }

    /// A sum over private features.
    pub(super) fn linear(&self, coefficients: &[f64], intercept: f64) -> Linear {
        Linear::of(&self.shapes, &self.coordinates, coefficients, intercept)
    }

    /// The sum of two sums.
    pub(super) fn plus(&self, one: &Linear, other: &Linear) -> Linear {
        let (mut one, other) = (one.clone(), other.clone());
        one.intercept += other.intercept;
        for coordinate in &self.coordinates {
            one.terms[coordinate.feature] = other.terms[coordinate.feature].clone();
        }
        one
    }
}

impl PublicRows {
    /// The public part, if there is a public feature and the labels are public.
    fn of(public: Public, shapes: &[Shape]) -> Option<Self> {
        let labels = match (public.cells.target(), public.cells.rows()) {
            (Some(Target::Classes(labels)), _) => labels.clone(),
            _ => return None,
        };
        let own = public.places.iter().map(|&place| shapes[place]).collect();
        Some(Self {
            places: public.places,
            shapes: own,
            cells: public.cells,
            labels,
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is a feature to learn from.
    pub(super) fn has_features(&self) -> bool {
        !self.places.is_empty()
    }

    /// Logistic regression on the public features, as a sum over all.
    pub(super) fn classifier(&self, weights: &[f64], all: &[Shape]) -> Linear {
        let mut linear = Linear {
            intercept: 0.0,
            terms: all.iter().map(Shape::nothing).collect(),
        };
        let Some(sample) = Sample::new(&self.shapes, &self.cells, weights) else {
            return linear;
        };
        let classes = Classes {
            of: &self.labels,
            count: 2,
        };
        let logistic = Logistic {
            l2: RIDGE,
            iterations: STEPS,
        };
        let fitted = logistic.classes(&sample, classes, SILENT).into_iter().next();
        if let Some(fitted) = fitted {
            linear.intercept = fitted.intercept;
            for (&place, term) in self.places.iter().zip(fitted.terms) {
                linear.terms[place] = term;
            }
        }
        linear
    }

    /// The sum of each row over its public features.
    pub(super) fn scores(&self, linear: &Linear) -> Vec<f64> {
        let own = Linear {
            intercept: linear.intercept,
            terms: self
                .places
                .iter()
                .map(|&place| linear.terms[place].clone())
                .collect(),
        };
        let features = self.cells.features();
        (0..self.rows())
            .into_par_iter()
            .map(|row| own.sum(features, row))
            .collect()
    }
}

/// The numbers of each coordinate, column by column.
pub(super) fn numbers(cells: &Cells, coordinates: &[Coordinate]) -> Vec<Vec<f32>> {
    let column = |coordinate: &Coordinate| match cells.features().get(coordinate.feature) {
        Some(feature) => (0..cells.rows()).map(|row| coordinate.at(feature, row)).collect(),
        None => Vec::new(),
    };
    coordinates.par_iter().map(column).collect()
}

impl Matrix {
    fn of(cells: Cells, coordinates: &[Coordinate]) -> Self {
        let rows = cells.rows();
        let columns = numbers(&cells, coordinates);
        let labels = match cells.target() {
            Some(Target::Classes(classes)) => classes.iter().map(|&class| class > 0).collect(),
            _ => vec![false; rows],
        };
        Self {
            columns,
            labels,
            cells,
        }
    }

    fn keep(&mut self, rows: &[u32]) {
        for column in &mut self.columns {
            *column = rows.iter().map(|&row| column[row as usize]).collect();
        }
        self.labels = rows.iter().map(|&row| self.labels[row as usize]).collect();
        self.cells = self.cells.take(rows);
    }

    pub(super) fn rows(&self) -> usize {
        self.labels.len()
    }

    /// For each row, whether a plane puts it on its label's side. It follows from that row and the plane alone.
    pub(super) fn right(&self, coefficients: &[f32], intercept: f32) -> Vec<bool> {
        let mut right = vec![false; self.rows()];
        right
            .par_chunks_mut(BLOCK)
            .enumerate()
            .for_each(|(block, right)| {
                let mut sums = [intercept; BLOCK];
                self.add(coefficients, block * BLOCK, &mut sums[..right.len()]);
                let labels = &self.labels[block * BLOCK..];
                for ((right, sum), label) in right.iter_mut().zip(sums).zip(labels) {
                    *right = (sum >= 0.0) == *label;
                }
            });
        right
    }

    /// How many rows each candidate puts on their label's side, `offsets` added to every row's sum.
    pub(super) fn hits(&self, candidates: &[Candidate], offsets: Option<&[f64]>) -> Vec<i64> {
        let blocks = self.rows().div_ceil(BLOCK);
        let count = |mut hits: Vec<i64>, block: usize| {
            let rows = block * BLOCK..((block + 1) * BLOCK).min(self.rows());
            let labels = &self.labels[rows.clone()];
            let mut sums = [0.0; BLOCK];
            let sums = &mut sums[..labels.len()];
            for (hits, candidate) in hits.iter_mut().zip(candidates) {
                sums.fill(candidate.intercept);
                if let Some(offsets) = offsets.and_then(|offsets| offsets.get(rows.clone())) {
                    for (sum, &offset) in sums.iter_mut().zip(offsets) {
                        *sum += offset as f32;
                    }
                }
                self.add(&candidate.coefficients, rows.start, sums);
                let right = sums.iter().zip(labels);
                *hits += right
                    .map(|(sum, label)| i64::from((*sum >= 0.0) == *label))
                    .sum::<i64>();
            }
            hits
        };
        let none = || vec![0; candidates.len()];
        (0..blocks)
            .into_par_iter()
            .fold(none, count)
            .reduce(none, |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            })
    }

    /// Adds the weighted columns of the rows from `first` on, one column after another.
    fn add(&self, coefficients: &[f32], first: usize, sums: &mut [f32]) {
        for (column, &coefficient) in self.columns.iter().zip(coefficients) {
            for (sum, x) in sums.iter_mut().zip(&column[first..]) {
                *sum += coefficient * x;
            }
        }
    }
}

/// A plane that may be chosen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) coefficients: Vec<f32>,
    pub(super) intercept: f32,
}

impl Candidate {
    /// The same plane seen from behind.
    pub(super) fn reversed(&self) -> Self {
        Self {
            coefficients: self.coefficients.iter().map(|c| -c).collect(),
            intercept: -self.intercept,
        }
    }

    pub(super) fn linear(&self, rows: &CuratorRows) -> Linear {
        let coefficients: Vec<f64> = self.coefficients.iter().map(|&c| f64::from(c)).collect();
        rows.linear(&coefficients, f64::from(self.intercept))
    }
}
