//! Parameters, parsed once.

use super::desensitisation::{Budget, Categories, Desensitisation, Mechanism};
use crate::Error;
use crate::boost::gradient::Trees;
use crate::data::Schema;
use crate::data::schema::Label;
use crate::error::Subject;
use crate::parameters::Parameters;
use crate::privacy::Epsilon;
use crate::privacy::mechanism::ordered::{Alignment as Blocks, Route};

/// What parties say to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// Feature holders send their columns and what they mean, and hear nothing back.
    #[default]
    Columns,
    /// Feature holders send ranks; the label holder asks for the values at its splits, which tells them about labels.
    AsPublished,
}

impl Protocol {
    /// The names that a job can say.
    pub const NAMES: [(&str, Self); 2] = [("columns", Self::Columns), ("as_published", Self::AsPublished)];
}

/// How rows of different parties meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Alignment {
    /// By private set intersection of their ids.
    #[default]
    Private,
    /// They stand in the same order already.
    Given,
}

impl Alignment {
    /// The names that a job can say.
    pub const NAMES: [(&str, Self); 2] = [("private", Self::Private), ("given", Self::Given)];
}

/// Trees over columns of several parties: parameters that make sense.
#[derive(Debug, Clone, PartialEq)]
pub struct Vertical {
    pub(super) desensitisation: Desensitisation,
    pub(super) trees: Trees,
    pub(super) protocol: Protocol,
    pub(super) alignment: Alignment,
    pub(super) label_epsilon: Option<Epsilon>,
}

impl Vertical {
    /// Nothing is chosen yet. The tree parameters are the paper's: 80 rounds at 0.1, depth 3.
    pub fn builder() -> Builder {
        Builder {
            epsilon: None,
            bins: Desensitisation::BINS,
            mechanism: Mechanism::ClampedGeometric,
            categories: Categories::default(),
            budget: Budget::default(),
            trees: Trees {
                rounds: 80,
                depth: Some(3),
                ..Trees::default()
            },
            protocol: Protocol::default(),
            alignment: Alignment::default(),
            label_epsilon: None,
        }
    }

    /// How columns are changed before they leave.
    pub fn desensitisation(&self) -> &Desensitisation {
        &self.desensitisation
    }

    /// The trees.
    pub fn trees(&self) -> &Trees {
        &self.trees
    }

    /// What parties say to each other.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// How rows meet.
    pub fn alignment(&self) -> Alignment {
        self.alignment
    }

    /// The ε of randomised response on labels, if they are changed.
    pub fn label_epsilon(&self) -> Option<Epsilon> {
        self.label_epsilon
    }

    /// That the parameters fit the label holder's schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not.
    pub fn check_label_holder(&self, schema: &Schema) -> Result<(), Error> {
        let Some((_, label)) = schema.label() else {
            return Err(Error::parameter(
                Subject::Schema,
                "the label holder's schema has no label, so there is nothing to predict: add a line such as outcome = { type = \
                 \"label\", values = [\"no\", \"yes\"] } to its [columns]",
            ));
        };
        if self.label_epsilon.is_none() {
            return Ok(());
        }
        if matches!(label, Label::Number { .. }) {
            return Err(Error::parameter(
                "label_epsilon",
                "label_epsilon changes classes, and the label is a number: leave it out",
            ));
        }
        match schema.features().find(|column| column.private) {
            None => Ok(()),
            Some(column) => Err(Error::parameter(
                "label_epsilon",
                format!(
                    "label_epsilon protects labels, and the model would still tell about the label holder's private column '{}': \
                 take such columns out of its schema, or leave label_epsilon out",
                    column.name
                ),
            )),
        }
    }

    /// That the parameters fit a feature holder's schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not.
    pub fn check_feature_holder(&self, schema: &Schema) -> Result<(), Error> {
        if let Some((column, _)) = schema.label() {
            return Err(Error::parameter(
                Subject::Schema,
                format!(
                    "a feature holder's schema declares the label '{}': the label holder has it; declare it as type = \"skip\"",
                    column.name
                ),
            ));
        }
        self.desensitisation.changes(schema).map(|_| ())
    }

    /// What both sides' jobs must say alike, as names and values.
    pub fn shared(&self) -> Vec<(String, String)> {
        let name =
            |names: [(&'static str, Protocol); 2]| names.into_iter().find(|(_, p)| *p == self.protocol);
        let how =
            |names: [(&'static str, Alignment); 2]| names.into_iter().find(|(_, a)| *a == self.alignment);
        let mut all = vec![
            ("protocol", name(Protocol::NAMES).map_or("", |n| n.0).to_owned()),
            ("alignment", how(Alignment::NAMES).map_or("", |n| n.0).to_owned()),
        ];
        all.extend(self.desensitisation.settings());
        named(all)
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut all = vec![("setting".to_owned(), "vertical".to_owned())];
        all.extend(self.shared());
        all.extend(
            self.label_epsilon
                .map(|e| ("label_epsilon".to_owned(), e.to_string())),
        );
        all.extend(self.trees.filled().settings());
        all
    }
}

fn named(all: Vec<(&str, String)>) -> Vec<(String, String)> {
    all.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

impl Desensitisation {
    pub(super) fn named_settings(&self) -> Vec<(String, String)> {
        named(self.settings())
    }

    /// Names and values as a job says them.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("epsilon", self.epsilon.to_string()),
            ("mechanism", self.mechanism.name().to_owned()),
        ];
        let blocks = |blocks: &Blocks| match blocks {
            Blocks::FirstSlot => "first-slot".to_owned(),
            Blocks::Zero { first } => format!("zero from {first}"),
        };
        match &self.mechanism {
            Mechanism::PathGeometric { width, across } => {
                all.push(("width", width.to_string()));
                let across = across.map_or("unbounded".to_owned(), |across| across.to_string());
                all.push(("across", across));
            }
            Mechanism::AdjustedMap {
                width,
                alpha_thousandths,
                blocks: at,
            } => {
                all.push(("width", width.to_string()));
                all.push(("alpha", (f64::from(*alpha_thousandths) / 1000.0).to_string()));
                all.push(("blocks", blocks(at)));
            }
            Mechanism::LocalMap { width, blocks: at } => {
                all.push(("width", width.to_string()));
                all.push(("blocks", blocks(at)));
            }
            Mechanism::GlobalMap(Route::Exponential) => all.push(("route", "exponential".into())),
            Mechanism::Piecewise { clipped } => all.push(("clipped", clipped.to_string())),
            Mechanism::ClampedGeometric | Mechanism::GlobalMap(Route::BoundedLaplace) => {}
        }
        let categories = Categories::NAMES.into_iter().find(|(_, c)| *c == self.categories);
        all.push(("categories", categories.map_or("", |c| c.0).to_owned()));
        match self.budget {
            Budget::Split => all.push(("budget", "split".into())),
            Budget::Full => all.push(("budget", "full".into())),
            Budget::Sample(columns) => {
                all.push(("budget", "sample".into()));
                all.push(("columns", columns.to_string()));
            }
        }
        all.push(("bins", self.bins.to_string()));
        all
    }

    /// What can be checked without a schema. Messages begin with the parameter that they are about.
    ///
    /// # Errors
    /// [`Error::Parameter`] for what cannot be.
    pub fn check(&self) -> Result<(), Error> {
        let bad = |key, why: String| Err(Error::parameter(key, why));
        if self.epsilon == Epsilon::ZERO {
            return bad(
                "epsilon",
                "epsilon = 0 tells nothing: write a number above zero".into(),
            );
        }
        if !(2..=1024).contains(&self.bins) {
            return bad(
                "bins",
                format!("bins = {}: it must lie between 2 and 1024", self.bins),
            );
        }
        let width = match self.mechanism {
            Mechanism::PathGeometric { width, .. }
            | Mechanism::AdjustedMap { width, .. }
            | Mechanism::LocalMap { width, .. } => width,
            _ => 1,
        };
        if width == 0 {
            return bad("width", "width = 0: a part has at least one slot".into());
        }
        if let Mechanism::AdjustedMap {
            alpha_thousandths: 0, ..
        } = self.mechanism
        {
            return bad("alpha", "alpha = 0: it must be at least 0.001".into());
        }
        Ok(())
    }
}

/// Collects parameters. ε must be given; everything else has a default.
#[derive(Debug, Clone)]
pub struct Builder {
    epsilon: Option<Epsilon>,
    bins: u16,
    mechanism: Mechanism,
    categories: Categories,
    budget: Budget,
    trees: Trees,
    protocol: Protocol,
    alignment: Alignment,
    label_epsilon: Option<Epsilon>,
}

impl Builder {
    /// Per unit of distance; how it is laid out over columns is the budget's to say. Required.
    #[must_use]
    pub fn epsilon(mut self, epsilon: Epsilon) -> Self {
        self.epsilon = Some(epsilon);
        self
    }

    /// Slots of a number whose schema says nothing about bins; 10 if not given.
    #[must_use]
    pub fn bins(mut self, bins: u16) -> Self {
        self.bins = bins;
        self
    }

    /// How ordered columns are changed; clamped geometric noise if not given.
    #[must_use]
    pub fn mechanism(mut self, mechanism: Mechanism) -> Self {
        self.mechanism = mechanism;
        self
    }

    /// How categories are changed; by randomised response if not given.
    #[must_use]
    pub fn categories(mut self, categories: Categories) -> Self {
        self.categories = categories;
        self
    }

    /// How ε is laid out over columns; split if not given.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// The trees; 80 rounds at 0.1 and depth 3 if not given.
    #[must_use]
    pub fn trees(mut self, trees: Trees) -> Self {
        self.trees = trees;
        self
    }

    /// What parties say to each other; columns if not given.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// How rows meet; by private set intersection if not given.
    #[must_use]
    pub fn alignment(mut self, alignment: Alignment) -> Self {
        self.alignment = alignment;
        self
    }

    /// The ε of randomised response on labels; they are used as they are if not given.
    #[must_use]
    pub fn label_epsilon(mut self, epsilon: Epsilon) -> Self {
        self.label_epsilon = Some(epsilon);
        self
    }

    /// Checks all that can be checked without a schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] for what cannot be; the message begins with the parameter's name.
    pub fn build(self) -> Result<Vertical, Error> {
        let epsilon = self
            .epsilon
            .ok_or_else(|| Error::parameter("epsilon", "epsilon is missing: say how much may be spent"))?;
        let desensitisation = Desensitisation {
            epsilon,
            mechanism: self.mechanism,
            categories: self.categories,
            budget: self.budget,
            bins: self.bins,
        };
        desensitisation.check()?;
        self.trees.check()?;
        if self.label_epsilon == Some(Epsilon::ZERO) {
            return Err(Error::parameter(
                "label_epsilon",
                "label_epsilon = 0 tells nothing: write a number above zero",
            ));
        }
        Ok(Vertical {
            desensitisation,
            trees: self.trees,
            protocol: self.protocol,
            alignment: self.alignment,
            label_epsilon: self.label_epsilon,
        })
    }
}
