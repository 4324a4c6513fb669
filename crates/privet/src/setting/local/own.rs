//! The data user's own rows, which are used as they are: whatever is published because of them shows them.

use std::sync::Arc;

use super::encoding::{Encoding, Features, Learner, Rows, Statistic};
use crate::Error;
use crate::boost::Ensemble;
use crate::data::schema::{Extras, Kind, Label, Number, Schema};
use crate::data::{Cells, Keep, Table, Target};
use crate::learner::dense::{DenseRows, logistic};
use crate::privacy::{Certificate, Coins, Unprotected, getters};

/// Draws of made-up owners from the own rows, from which lengths of vectors are read.
const DRAWS: usize = 400;
/// The seed of these draws: public, and the same for everybody.
const SEED: [u8; 32] = *b"privet local: lengths of vectors";
/// The ridge of logistic regression on the own rows.
const RIDGE: f64 = 1.0;
/// The ridge of what need not be small: it only keeps the solver from running away.
const HARDLY: f64 = 1e-3;

/// The data user's own rows.
#[derive(Debug, Clone)]
pub struct OwnRows {
    schema: Arc<Schema>,
    cells: Cells,
    classes: usize,
    certificate: Certificate,
}

impl OwnRows {
    /// The rows of a table that was read with values and labels, with the permission to use them as they are.
    ///
    /// # Errors
    /// [`Error::Misuse`] if it was read otherwise, or its label has no classes.
    pub fn new(table: Table, permission: &Unprotected) -> Result<Self, Error> {
        table.is_whole(Keep::Values)?;
        let schema = Arc::new(table.schema().clone());
        let Some((_, Label::Classes(declared))) = schema.label() else {
            return Err(Error::misuse("the own rows need a label with classes"));
        };
        let classes = declared.values().len();
        Ok(Self {
            cells: permission.reveal(table.into_cells()),
            schema,
            classes,
            certificate: permission.certificate(),
        })
    }

    getters! {
        /// Their schema.
        pub schema(&schema) -> &Arc<Schema>;
        /// How many there are.
        pub rows(cells.rows()) -> usize;
        /// How many classes the label has.
        pub classes(classes) -> usize;
        /// What is said about their use: void.
        pub certificate(&certificate) -> &Certificate;
    }

    /// The class of each row.
    pub(super) fn labels(&self) -> &[u16] {
        match self.cells.target() {
            Some(Target::Classes(classes)) => classes,
            _ => &[],
        }
    }

    /// φ of all rows, one after another.
    pub(super) fn values(&self, features: &Features) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.rows() * features.dimension());
        for row in 0..self.rows() {
            features.row(&self.cells, row, &mut values);
        }
        values
    }

    /// The length below which a share of the vectors lies that owners of `each` rows like these would send.
    pub(super) fn length(&self, encoding: &Encoding, each: usize, share: f64) -> f64 {
        let dimension = encoding.features().dimension();
        let values = self.values(encoding.features());
        let mut coins = Coins::from_seed(SEED);
        let weights = vec![1.0 / each as f64; each];
        let mut lengths: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let (mut own, mut labels) = (Vec::with_capacity(each * dimension), Vec::with_capacity(each));
                for _ in 0..each {
                    let row = coins.below(self.rows() as u64) as usize;
                    own.extend_from_slice(&values[row * dimension..][..dimension]);
                    labels.push(self.labels()[row]);
                }
                let rows = Rows {
                    dimension,
                    values: &own,
                    labels: &labels,
                    weights: &weights,
                    classes: self.classes,
                };
                let vector = encoding.statistic().vector(&rows);
                vector.iter().map(|x| x * x).sum::<f64>().sqrt()
            })
            .collect();
        lengths.sort_unstable_by(f64::total_cmp);
        lengths[((DRAWS - 1) as f64 * share) as usize]
    }

    /// The share of rows whose class is not the one that an ensemble finds most probable.
    pub(super) fn error(&self, ensemble: &Ensemble) -> Result<f64, Error> {
        let scores = ensemble.scores(&self.schema, &self.cells)?;
        let outputs = ensemble.outputs().max(1);
        let rows = scores.chunks_exact(outputs).zip(self.labels());
        let wrong = rows.filter(|(scores, label)| called(scores) != usize::from(**label));
        Ok(wrong.count() as f64 / self.rows().max(1) as f64)
    }

    /// The weighted share of rows on which a learner errs, and on which rows it does.
    pub(super) fn missed(&self, learner: &Learner, values: &[f64], dimension: usize) -> Vec<bool> {
        let rows = values.chunks_exact(dimension.max(1)).zip(self.labels());
        rows.map(|(x, label)| learner.class(x) != usize::from(*label))
            .collect()
    }

    /// Places of a feature between −1 and 1 that divide the own rows by these shares. Each lies half-way between two values, so that no
    /// rounding moves a row across it.
    fn quantiles(&self, feature: usize, shares: &[f64]) -> Vec<f64> {
        let mut places = self.cells.features()[feature].scaled.clone().unwrap_or_default();
        places.sort_unstable_by(f32::total_cmp);
        let mut cuts: Vec<f64> = Vec::new();
        for share in shares {
            let place = (share * (places.len().max(1) - 1) as f64).ceil() as usize;
            let Some(value) = places.get(place) else {
                continue;
            };
            // The last value below it; nothing is cut off below the first.
            let Some(before) = places[..places.partition_point(|x| x < value)].last() else {
                continue;
            };
            let cut = f64::midpoint((*before).into(), (*value).into());
            if cuts.last().is_none_or(|last| *last < cut) {
                cuts.push(cut);
            }
        }
        cuts
    }

    /// The schema with bins that hold about as many of the own rows each.
    ///
    /// # Errors
    /// [`Error::Data`] if the bins cannot be declared.
    pub(super) fn binned(&self, bins: u32) -> Result<Schema, Error> {
        let shares: Vec<f64> = (1..bins).map(|bin| f64::from(bin) / f64::from(bins)).collect();
        let mut columns = self.schema.columns().to_vec();
        let features = columns.iter_mut().filter(|column| column.kind.is_feature());
        for (feature, column) in features.enumerate() {
            let Kind::Number(number) = &mut column.kind else {
                continue;
            };
            let transform = number.transform();
            let [low, high] = [number.min(), number.max()].map(|bound| transform.apply(bound));
            let in_units = |place: f64| transform.undo(low + f64::midpoint(place, 1.0) * (high - low));
            let mut cuts: Vec<f64> = Vec::new();
            for cut in self.quantiles(feature, &shares).into_iter().map(in_units) {
                let last = cuts.last().copied().unwrap_or(number.min());
                if (last as f32) < cut as f32 && cut <= number.max() {
                    cuts.push(cut);
                }
            }
            if cuts.is_empty() {
                cuts.push(number.max());
            }
            let extras = Extras {
                integer: number.is_integer(),
                transform: number.transform(),
                cuts: Some(cuts),
                fill: number.fill(),
                ..Extras::default()
            };
            *number = Number::new(number.min(), number.max(), extras)?;
        }
        self.schema.with_columns(columns)
    }

    /// Signs of numbers at cuts that hold about as many of the own rows between them.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a cut cannot be.
    pub(super) fn at_quantiles(&self, count: u32) -> Result<Features, Error> {
        let shares: Vec<f64> = (1..=count)
            .map(|cut| f64::from(cut) / f64::from(count + 1))
            .collect();
        self.cut(|cuts, _| cuts, &shares)
    }

    /// A sign of each number at the one of nine quantiles that divides the classes of the own rows best.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a cut cannot be.
    pub(super) fn at_best(&self) -> Result<Features, Error> {
        let shares: Vec<f64> = (1..10).map(|tenth| f64::from(tenth) / 10.0).collect();
        let best = |cuts: Vec<f64>, feature: usize| {
            let purity = |cut: &f64| {
                let scaled = self.cells.features()[feature]
                    .scaled
                    .as_deref()
                    .unwrap_or_default();
                let mut sides = vec![0.0; 2 * self.classes];
                for (x, label) in scaled.iter().zip(self.labels()) {
                    sides[usize::from(f64::from(*x) > *cut) * self.classes + usize::from(*label)] += 1.0;
                }
                let most = |side: &[f64]| side.iter().fold(0.0, |most: f64, x| most.max(*x));
                sides.chunks_exact(self.classes).map(most).sum::<f64>()
            };
            let better = |a: &f64, b: &f64| purity(a).total_cmp(&purity(b));
            cuts.into_iter().max_by(better).into_iter().collect()
        };
        self.cut(best, &shares)
    }

    fn cut(&self, keep: impl Fn(Vec<f64>, usize) -> Vec<f64>, shares: &[f64]) -> Result<Features, Error> {
        let features = Features::of(&self.schema);
        let mut map = features.map().clone();
        let mut coordinate = 0;
        let columns: Vec<(usize, usize)> = features.places().collect();
        for ((feature, width), column) in columns.into_iter().zip(self.schema.features()) {
            if matches!(column.kind, Kind::Number(_)) {
                let mut cuts = keep(self.quantiles(feature, shares), feature);
                if cuts.is_empty() {
                    cuts.push(0.0);
                }
                map = map.with_cuts(coordinate, cuts)?;
            }
            coordinate += width;
        }
        features.mapped(map)
    }

    /// Logistic regression on the own rows: with a score of each row for every contrast beside the columns, or without.
    ///
    /// # Errors
    /// As [`Ensemble::scores`].
    pub(super) fn regression(&self, besides: Option<&Ensemble>) -> Result<Regression, Error> {
        let features = with_constant(Features::of(&self.schema))?;
        let dimension = features.dimension();
        let values = self.values(&features);
        let contrasts = super::encoding::contrasts(self.classes);
        let (scores, scale) = match besides {
            Some(ensemble) => {
                let scores = ensemble.scores(&self.schema, &self.cells)?;
                let square: f64 = scores.iter().map(|s| s * s).sum::<f64>() / scores.len().max(1) as f64;
                (scores, 1.0 / square.sqrt().max(1e-12))
            }
            None => (Vec::new(), 0.0),
        };
        let wide = dimension + usize::from(besides.is_some());
        let mut ridge = vec![RIDGE; wide];
        ridge[dimension - 1..]
            .iter_mut()
            .for_each(|ridge| *ridge = HARDLY);
        let weights = vec![1.0; self.rows()];
        let outputs = contrasts.len();
        let found = contrasts.enumerate().map(|(output, class)| {
            let mut rows = Vec::with_capacity(self.rows() * wide);
            for (row, x) in values.chunks_exact(dimension).enumerate() {
                rows.extend_from_slice(x);
                rows.extend(scores.get(row * outputs + output).map(|score| score * scale));
            }
            let targets: Vec<f64> = self
                .labels()
                .iter()
                .map(|l| f64::from(u8::from(usize::from(*l) == class)))
                .collect();
            let dense = DenseRows {
                dimension: wide,
                values: &rows,
                weights: &weights,
            };
            let mut theta = logistic(&dense, &targets, &ridge, &vec![0.0; wide]);
            let beside = theta
                .split_off(dimension)
                .first()
                .map_or(0.0, |beta| beta * scale);
            (theta, beside)
        });
        Ok(Regression {
            parts: found.collect(),
            features,
        })
    }

    /// How far apart the centroids of the two most frequent classes lie (the paper's ℓ_b), and by how much the purities of two columns, cut
    /// where that divides best, differ on average (Δ_im): noise that is larger hides them.
    ///
    /// # Errors
    /// As [`Features::mapped`].
    pub(super) fn contrasts(&self) -> Result<[f64; 2], Error> {
        let features = Features::of(&self.schema);
        let d = features.dimension();
        let values = self.values(&features);
        let mut sums = vec![(0.0f64, vec![0.0; d]); self.classes];
        for (x, label) in values.chunks_exact(d.max(1)).zip(self.labels()) {
            let (count, sum) = &mut sums[usize::from(*label)];
            *count += 1.0;
            sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
        }
        sums.sort_by(|a, b| b.0.total_cmp(&a.0));
        let centre = |place: usize| -> Vec<f64> {
            let (count, sum) = &sums[place];
            sum.iter().map(|x| x / f64::max(*count, 1.0)).collect()
        };
        let far: f64 = centre(0)
            .iter()
            .zip(centre(1))
            .map(|(a, b)| (a - b).powi(2))
            .sum();
        let cut = self.at_best()?;
        let table = self.vector(&cut, &Statistic::CrossTable);
        // Of several contrasts the first.
        let pairs = table.chunks_exact(2).take(cut.dimension());
        let purities: Vec<f64> = pairs.map(|pair| pair[0].abs() + pair[1].abs()).collect();
        let all = (0..purities.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let apart: f64 = all.map(|(i, j)| (purities[i] - purities[j]).abs()).sum();
        let count = purities.len() * purities.len().saturating_sub(1) / 2;
        Ok([far.sqrt(), apart / count.max(1) as f64])
    }

    /// The vector of all own rows.
    pub(super) fn vector(&self, features: &Features, statistic: &Statistic) -> Vec<f64> {
        let values = self.values(features);
        let weights = vec![1.0 / self.rows().max(1) as f64; self.rows()];
        statistic.vector(&Rows {
            dimension: features.dimension(),
            values: &values,
            labels: self.labels(),
            weights: &weights,
            classes: self.classes,
        })
    }
}

/// The same features with a last coordinate of one.
pub(super) fn with_constant(features: Features) -> Result<Features, Error> {
    let map = features.map().clone().with_constant(Some(1.0));
    features.mapped(map)
}

/// Weights of the columns for every contrast, and of the score beside them.
pub(super) struct Regression {
    pub(super) features: Features,
    pub(super) parts: Vec<(Vec<f64>, f64)>,
}

/// The class that scores call: the sign of one, or the largest of several.
pub(super) fn called(scores: &[f64]) -> usize {
    match scores {
        [one] => usize::from(*one > 0.0),
        _ => {
            let better = |best: (usize, f64), this: (usize, f64)| if this.1 > best.1 { this } else { best };
            let scores = scores.iter().copied().enumerate();
            scores.fold((0, f64::NEG_INFINITY), better).0
        }
    }
}
