//! Parameters of gradient-boosted trees.

use crate::Error;
use crate::boost::gradient::{Gradient, Sums};
use crate::data::Schema;
use crate::learner::tree::{Growth, Order};

/// Gradient-boosted trees. The defaults are XGBoost's, but for a learning rate of 0.1 and a hundred rounds, as
/// scikit-learn and LightGBM have them.
#[derive(Debug, Clone, PartialEq)]
pub struct Trees {
    /// Rounds; each grows a tree, or one for each of more than two classes.
    pub rounds: u32,
    /// What leaf values are multiplied by.
    pub learning_rate: f64,
    /// Levels at most; 6 if not given, and as many as there are leaves if only these are given.
    pub depth: Option<u32>,
    /// Leaves at most: if given, the leaf whose split is worth most is split first.
    pub leaves: Option<u32>,
    /// Added to the second derivatives of a leaf; XGBoost's lambda.
    pub l2: f64,
    /// What a split must be worth.
    pub gamma: f64,
    /// What the second derivatives (second order) or rows (first order) of a child must come to.
    pub min_child_weight: f64,
    /// The share of rows that a round looks at.
    pub row_share: f64,
    /// The share of features that a tree may ask about.
    pub column_share: f64,
    /// Decides which rows and features.
    pub seed: u64,
    /// Which derivatives decide about splits.
    pub flavour: Flavour,
    /// How gradients are summed.
    pub sums: Sums,
    /// Columns with which scores never fall.
    pub rises: Vec<String>,
    /// Columns with which scores never rise.
    pub falls: Vec<String>,
}

/// Which derivatives decide about splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavour {
    /// Gradients and hessians, as XGBoost does.
    #[default]
    SecondOrder,
    /// Gradients alone, with Newton's step for each leaf, as Friedman did.
    FirstOrder,
}

impl Flavour {
    /// The names that a job can say.
    pub const NAMES: [(&str, Self); 2] = [
        ("second-order", Self::SecondOrder),
        ("first-order", Self::FirstOrder),
    ];
}

/// The names of the ways to sum that a job can say.
pub const SUMS: [(&str, Sums); 2] = [("integer", Sums::Integers), ("float", Sums::Floats)];

pub(super) fn name<T: PartialEq>(names: [(&'static str, T); 2], value: &T) -> String {
    let found = names.iter().find(|(_, known)| known == value);
    found.map_or("", |(name, _)| name).to_owned()
}

impl Default for Trees {
    fn default() -> Self {
        Self {
            rounds: 100,
            learning_rate: 0.1,
            depth: None,
            leaves: None,
            l2: 1.0,
            gamma: 0.0,
            min_child_weight: 1.0,
            row_share: 1.0,
            column_share: 1.0,
            seed: 0,
            flavour: Flavour::default(),
            sums: Sums::default(),
            rises: Vec::new(),
            falls: Vec::new(),
        }
    }
}

impl Trees {
    /// Each parameter's name in a job, and its value.
    pub(in crate::setting) fn settings(&self) -> Vec<(String, String)> {
        let mut all = vec![
            ("rounds", self.rounds.to_string()),
            ("learning_rate", self.learning_rate.to_string()),
        ];
        match (self.leaves, self.depth) {
            (None, depth) => all.push(("depth", depth.unwrap_or(DEPTH).to_string())),
            (Some(leaves), depth) => {
                all.push(("leaves", leaves.to_string()));
                all.extend(depth.map(|depth| ("depth", depth.to_string())));
            }
        }
        all.extend([
            ("l2", self.l2.to_string()),
            ("gamma", self.gamma.to_string()),
            ("min_child_weight", self.min_child_weight.to_string()),
            ("row_share", self.row_share.to_string()),
            ("column_share", self.column_share.to_string()),
            ("seed", self.seed.to_string()),
            ("flavour", name(Flavour::NAMES, &self.flavour)),
            ("sums", name(SUMS, &self.sums)),
        ]);
        for (key, names) in [("rises", &self.rises), ("falls", &self.falls)] {
            if !names.is_empty() {
                all.push((key, names.join(", ")));
            }
        }
        all.into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }

    /// What can be checked without a schema. Every message begins with the parameter that it is about.
    pub(in crate::setting) fn check(&self) -> Result<(), Error> {
        let counts = [
            ("rounds", Some(self.rounds), 1..=100_000),
            (
                "depth",
                self.depth,
                1..=if self.leaves.is_some() { 65_535 } else { 16 },
            ),
            ("leaves", self.leaves, 2..=65_536),
        ];
        for (key, value, range) in counts {
            if let Some(value) = value.filter(|value| !range.contains(value)) {
                return Err(Error::parameter(
                    key,
                    format!(
                        "{key} = {value}: it must lie between {} and {}",
                        range.start(),
                        range.end()
                    ),
                ));
            }
        }
        let numbers = [
            ("learning_rate", self.learning_rate, 1e-9, 10.0),
            ("l2", self.l2, 0.0, 1e9),
            ("gamma", self.gamma, 0.0, 1e9),
            ("min_child_weight", self.min_child_weight, 0.0, 1e9),
            ("row_share", self.row_share, 1e-9, 1.0),
            ("column_share", self.column_share, 1e-9, 1.0),
        ];
        for (key, value, least, most) in numbers {
            if !(least..=most).contains(&value) {
                return Err(Error::parameter(
                    key,
                    format!("{key} = {value}: it must lie between {least} and {most}"),
                ));
            }
        }
        let both = self.rises.iter().find(|name| self.falls.contains(name));
        if let Some(name) = both {
            return Err(Error::parameter(
                "falls",
                format!("falls names '{name}', and so does rises: leave it out of one"),
            ));
        }
        if let Some(key) = self.monotone_key()
            && self.flavour == Flavour::FirstOrder
        {
            return Err(Error::parameter(
                key,
                format!("{key} needs flavour = \"second-order\": leave it out"),
            ));
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

    /// That the columns it names are features with an order. Messages begin with the parameter that they are about.
    pub(in crate::setting) fn check_schema(&self, schema: &Schema) -> Result<(), Error> {
        self.directions(schema).map(|_| ())
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
                        return Err(Error::parameter(
                            key,
                            format!(
                                "{key} names '{name}', which is no feature of the schema with an order: name a number, an ordinal \
                             or a flag"
                            ),
                        ));
                    }
                }
            }
        }
        Ok(directions)
    }

    pub(in crate::setting) fn gradient(&self, schema: &Schema) -> Result<Gradient, Error> {
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
