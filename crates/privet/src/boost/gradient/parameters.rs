//! Parameters of gradient-boosted trees, as a job gives them.

use super::{Gradient, Sums};
use crate::Error;
use crate::data::Schema;
use crate::learner::tree::{Growth, Order};
use crate::parameters::{named_values, parameters, within};

parameters! {
    /// Gradient-boosted trees. The defaults are XGBoost's, but for a learning rate of 0.1 and a hundred rounds, as
    /// scikit-learn and LightGBM have them.
    pub struct Trees("trees") {
        /// Rounds; each grows a tree, or one for each of more than two classes.
        rounds: u32 = 100, in 1..=100_000;
        /// What leaf values are multiplied by.
        learning_rate: f64 = 0.1, in 1e-9..=10.0;
        /// Leaves at most: if given, the leaf whose split is worth most is split first.
        leaves: Option<u32> = None, in 2..=65_536;
        /// Levels at most; 6 if not given, and as many as there are leaves if only these are given.
        depth: Option<u32> = None, in 1..=65_535;
        /// Added to the second derivatives of a leaf; XGBoost's lambda.
        l2: f64 = 1.0, in 0.0..=1e9;
        /// What a split must be worth.
        gamma: f64 = 0.0, in 0.0..=1e9;
        /// What the second derivatives (second order) or rows (first order) of a child must come to.
        min_child_weight: f64 = 1.0, in 0.0..=1e9;
        /// The share of rows that a round looks at.
        row_share: f64 = 1.0, in 1e-9..=1.0;
        /// The share of features that a tree may ask about.
        column_share: f64 = 1.0, in 1e-9..=1.0;
        /// Decides which rows and features.
        seed: u64 = 0;
        /// Which derivatives decide about splits; the second if not given.
        flavour: Flavour = Flavour::SecondOrder;
        /// How gradients are summed; as integers if not given.
        sums: Sums = Sums::Integers;
        /// Columns with which scores never fall.
        rises: Vec<String> = Vec::new();
        /// Columns with which scores never rise.
        falls: Vec<String> = Vec::new();
    } where Self::agree
}

named_values! {
    /// Which derivatives decide about splits.
    #[derive(Default)]
    pub enum Flavour {
        /// Gradients and hessians, as XGBoost does.
        #[default]
        SecondOrder = "second-order",
        /// Gradients alone, with Newton's step for each leaf, as Friedman did.
        FirstOrder = "first-order",
    }
}

named_values! {
    Sums: [("integer", Sums::Integers), ("float", Sums::Floats)];
}

impl Trees {
    /// The same with what follows from the other parameters.
    pub(crate) fn filled(&self) -> Self {
        Self {
            depth: self.depth.or(self.leaves.is_none().then_some(DEPTH)),
            ..self.clone()
        }
    }

    /// The same where there are these columns only.
    #[must_use]
    pub fn among(&self, columns: &[String]) -> Self {
        let mut own = self.clone();
        own.rises.retain(|name| columns.contains(name));
        own.falls.retain(|name| columns.contains(name));
        own
    }

    /// What can be checked of several parameters without a schema.
    fn agree(&self) -> Result<(), Error> {
        if self.leaves.is_none() {
            within("depth", self.depth.as_ref(), &(1..=16))?;
        }
        let both = self.rises.iter().find(|name| self.falls.contains(name));
        if let Some(name) = both {
            let why = format!("falls names '{name}', and so does rises: remove it from one");
            return Err(Error::parameter("falls", why));
        }
        if let Some(key) = self.monotone_key()
            && self.flavour == Flavour::FirstOrder
        {
            let why = format!("{key} needs flavour = \"second-order\": remove it");
            return Err(Error::parameter(key, why));
        }
        Ok(())
    }

    fn monotone_key(&self) -> Option<&'static str> {
        match (self.rises.is_empty(), self.falls.is_empty()) {
            (false, _) => Some("rises"),
            (true, false) => Some("falls"),
            (true, true) => None,
        }
    }

    fn directions(&self, schema: &Schema) -> Result<Vec<i8>, Error> {
        use crate::data::schema::Kind;
        let mut directions = vec![0; schema.features().count()];
        for (key, names, direction) in [("rises", &self.rises, 1), ("falls", &self.falls, -1)] {
            for name in names {
                let place = schema.features().position(|column| {
                    column.name == *name
                        && matches!(column.kind, Kind::Number(_) | Kind::Ordinal(_) | Kind::Flag(_))
                });
                match place {
                    Some(place) => directions[place] = direction,
                    None => {
                        let why = format!(
                            "{key} names '{name}', which is no feature of the schema with an order: name a number, an ordinal \
                             or a flag"
                        );
                        return Err(Error::parameter(key, why));
                    }
                }
            }
        }
        Ok(directions)
    }

    pub(crate) fn gradient(&self, schema: &Schema) -> Result<Gradient, Error> {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        let growth = match (self.leaves, self.depth) {
            (None, depth) => Growth::Levels(depth.unwrap_or(DEPTH) as usize),
            (Some(leaves), depth) => Growth::Best {
                leaves: leaves as usize,
                depth: depth.unwrap_or(leaves) as usize,
            },
        };
        let order = match self.flavour {
            Flavour::SecondOrder => Order::Second,
            Flavour::FirstOrder => Order::First,
        };
        Gradient::builder()
            .rounds(self.rounds as usize)
            .rate(self.learning_rate)
            .growth(growth)
            .order(order)
            .lambda(self.l2)
            .gamma(self.gamma)
            .min_child_weight(self.min_child_weight)
            .monotone(self.directions(schema)?)
            .rows(self.row_share)
            .columns(self.column_share)
            .seed(seed)
            .sums(self.sums)
            .build()
    }
}

const DEPTH: u32 = 6;
