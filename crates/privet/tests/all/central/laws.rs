//! Generated laws, and models of their rows.

use privet::data::schema::{AnyColumn, Domain, label, number};
use privet::data::{Frame, Schema, Table};
use privet::learner::SILENT;
use privet::model::Model;
use privet::privacy::account::Caps;
use privet::privacy::{AddRemove, Coins, Delta, Ledger, Neighbours, Randomness};
use privet::setting::central::{Algorithm, Budget};

/// Features in columns, and labels.
pub(crate) struct Rows {
    pub(crate) features: Vec<Vec<f64>>,
    pub(crate) labels: Vec<String>,
}

/// A law: its schema, and how a row is drawn.
pub(crate) struct Law {
    pub(crate) schema: Schema,
    pub(crate) row: fn(&mut Coins) -> (Vec<f64>, String),
}

impl Law {
    pub(crate) fn new(
        features: impl IntoIterator<Item = AnyColumn>,
        of: Domain,
        row: fn(&mut Coins) -> (Vec<f64>, String),
    ) -> Self {
        let columns = features.into_iter().chain([label("label", of).into()]);
        let schema = Schema::builder("law").columns(columns).build().expect("a schema");
        Self { schema, row }
    }

    pub(crate) fn rows(&self, count: usize, seed: u8) -> Rows {
        let mut coins = Coins::from_seed([seed; 32]);
        let width = self.schema.features().count();
        let mut rows = Rows {
            features: vec![Vec::new(); width],
            labels: Vec::new(),
        };
        for _ in 0..count {
            let (features, label) = (self.row)(&mut coins);
            rows.features
                .iter_mut()
                .zip(features)
                .for_each(|(column, x)| column.push(x));
            rows.labels.push(label);
        }
        rows
    }

    pub(crate) fn frame<'a>(&self, rows: &'a Rows) -> Frame<'a> {
        let columns = self.schema.features().zip(&rows.features);
        let frame = columns.fold(Frame::new(), |frame, (column, cells)| {
            frame.column(column.name.clone(), cells.as_slice())
        });
        frame.column("label", rows.labels.as_slice())
    }

    pub(crate) fn model(&self, algorithm: &dyn Algorithm, rows: &Rows, epsilon: &str, delta: &str) -> Model {
        self.model_by(7, algorithm, rows, [epsilon, delta])
    }

    /// With the coins and noise of a seed.
    pub(crate) fn model_by(
        &self,
        seed: u64,
        algorithm: &dyn Algorithm,
        rows: &Rows,
        [epsilon, delta]: [&str; 2],
    ) -> Model {
        let delta: Delta = if delta == "0" {
            Delta::ZERO
        } else {
            delta.parse().expect("a delta")
        };
        let relation = AddRemove::row().relation();
        let budget = Budget::with_delta(
            epsilon.parse().expect("an epsilon"),
            delta,
            rows.labels.len() as u64,
        );
        let plan = algorithm
            .plan(&self.schema, &relation, budget.expect("a budget"))
            .expect("a plan");
        let table = Table::read(&plan.reads(), &self.frame(rows)).expect("a table");
        let random = Randomness::seeded(seed);
        let ledger = Ledger::volatile(relation, Caps::from(plan.price()), delta, random).expect("opens");
        plan.fit(table, ledger, SILENT).expect("a model")
    }
}

pub(crate) fn normal(coins: &mut Coins) -> f64 {
    let radius = (-2.0 * (1.0 - coins.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * coins.unit()).cos()
}

pub(crate) fn numbers(rows: &Rows) -> Vec<f64> {
    rows.labels
        .iter()
        .map(|label| label.parse().expect("a number"))
        .collect()
}

pub(crate) fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// The mean absolute error, on the label's own scale.
pub(crate) fn mae(law: &Law, model: &Model, test: &Rows) -> f64 {
    let said = model.predict(&law.frame(test)).expect("predictions");
    let said = said.values().expect("numbers");
    let off = said
        .iter()
        .zip(numbers(test))
        .map(|(said, truth)| (said - truth).abs());
    off.sum::<f64>() / said.len() as f64
}

/// How many rows are put into their class, as a share.
pub(crate) fn accuracy(law: &Law, model: &Model, test: &Rows) -> f64 {
    let said = model.predict(&law.frame(test)).expect("predictions");
    let (_, kind) = law.schema.label().expect("a label");
    let privet::data::schema::Label::Classes(declared) = kind else {
        panic!("classes")
    };
    let classes = said.classes().expect("classes");
    let right = classes.iter().zip(&test.labels);
    right
        .filter(|(class, label)| declared.values()[usize::from(**class)] == **label)
        .count() as f64
        / test.labels.len() as f64
}

/// Of two rows of different classes, how often the positive one has the higher score; and the log loss.
pub(crate) fn auc_and_log_loss(law: &Law, model: &Model, test: &Rows) -> [f64; 2] {
    let said = model.predict(&law.frame(test)).expect("predictions");
    let probabilities = said.probabilities().expect("probabilities");
    let positive: Vec<bool> = test.labels.iter().map(|label| label == "yes").collect();
    let mut order: Vec<usize> = (0..positive.len()).collect();
    order.sort_by(|&a, &b| said.scores()[a].total_cmp(&said.scores()[b]));
    let (mut below, mut pairs) = (0.0, 0.0);
    // Rows of the same score, of which half of the pairs count.
    for tie in order.chunk_by(|&a, &b| said.scores()[a] == said.scores()[b]) {
        let own = tie.iter().filter(|&&row| positive[row]).count() as f64;
        let others = tie.len() as f64 - own;
        pairs += own * (below + others / 2.0);
        below += others;
    }
    let positives = positive.iter().filter(|&&x| x).count() as f64;
    let loss = positive.iter().enumerate();
    let loss = loss.map(|(row, &positive)| -probabilities[2 * row + usize::from(positive)].max(1e-300).ln());
    [
        pairs / (positives * below),
        loss.sum::<f64>() / positive.len() as f64,
    ]
}

pub(crate) fn columns(count: usize, low: f64, high: f64) -> Vec<AnyColumn> {
    (0..count)
        .map(|i| number(format!("c{i}"), low..=high).into())
        .collect()
}
