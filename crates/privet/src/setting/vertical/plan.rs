//! What each party will do, fixed before the first row is looked at. Only a plan makes a role.

use std::sync::Arc;

use super::columns::{ColumnsPlan, READS};
use super::{Protocol, Vertical, meeting};
use crate::Error;
use crate::data::schema::Label;
use crate::data::{Intake, Keep, Schema, Table};
use crate::error::{Refusal, Subject};
use crate::privacy::joint::Leak;
use crate::privacy::mechanism::ordered::RandomisedResponse;
use crate::privacy::{Relation, getters};

/// What the label holder will do.
#[derive(Debug, Clone)]
pub struct LabelHolderPlan {
    pub(super) vertical: Vertical,
    schema: Arc<Schema>,
    relation: Relation,
    /// How labels are changed, if they are.
    response: Option<Arc<RandomisedResponse>>,
}

/// What a feature holder will do.
#[derive(Debug, Clone)]
pub struct FeatureHolderPlan {
    pub(super) vertical: Vertical,
    pub(super) columns: ColumnsPlan,
    /// Whether it answers questions about branches instead of sending columns; both, if nothing was agreed on.
    pub(super) branches: Option<bool>,
}

/// What all parties of a run will do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The one that has the labels.
    pub label_holder: LabelHolderPlan,
    /// The others, in the order of their numbers.
    pub feature_holders: Vec<FeatureHolderPlan>,
}

impl Vertical {
    /// Plans for all parties: `own` is the label holder's schema.
    ///
    /// # Errors
    /// As [`label_holder`](Self::label_holder) and [`feature_holder`](Self::feature_holder).
    pub fn plan<'a>(
        &self,
        own: &Schema,
        others: impl IntoIterator<Item = &'a Schema>,
    ) -> Result<Plan, Error> {
        let others = others.into_iter().map(|schema| self.feature_holder(schema));
        Ok(Plan {
            label_holder: self.label_holder(own)?,
            feature_holders: others.collect::<Result<_, _>>()?,
        })
    }

    /// The plan of a label holder with this schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the schema has no label, or one that `label_epsilon` cannot protect.
    pub fn label_holder(&self, schema: &Schema) -> Result<LabelHolderPlan, Error> {
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        schema.has_no_weights("setting = \"vertical\"")?;
        let Some((_, label)) = schema.label() else {
            return Err(Error::parameter(
                Subject::Schema,
                "the label holder's schema has no label, so there is nothing to predict: add a line such as outcome = { type = \
                 \"label\", values = [\"no\", \"yes\"] } to its [columns]",
            ));
        };
        let response = match (self.label_epsilon, label) {
            (None, _) => None,
            (Some(_), Label::Number { .. }) => {
                return Err(Error::parameter(
                    "label_epsilon",
                    "label_epsilon changes classes, and the label is a number: remove it",
                ));
            }
            (Some(epsilon), Label::Classes(declared)) => {
                if let Some(column) = schema.features().find(|column| column.private) {
                    let why = format!(
                        "label_epsilon protects labels, and the model would still tell about the label holder's private column '{}': \
                         remove such columns from its schema, or remove label_epsilon",
                        column.name
                    );
                    return Err(Error::parameter("label_epsilon", why));
                }
                Some(Arc::new(RandomisedResponse::new(
                    epsilon,
                    declared.values().len(),
                )?))
            }
        };
        Ok(LabelHolderPlan {
            response,
            ..self.of_new_rows(schema)
        })
    }

    /// The plan of a label holder that has a model, and new rows with this schema: their label need not be declared.
    pub fn predictor(&self, schema: &Schema) -> LabelHolderPlan {
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        self.of_new_rows(schema)
    }

    fn of_new_rows(&self, schema: &Schema) -> LabelHolderPlan {
        LabelHolderPlan {
            vertical: self.clone(),
            relation: schema.replaced(),
            schema: Arc::new(schema.clone()),
            response: None,
        }
    }

    /// The plan of a feature holder with this schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the schema has a label, or columns that cannot be changed in this way.
    pub fn feature_holder(&self, schema: &Schema) -> Result<FeatureHolderPlan, Error> {
        if let Some((column, _)) = schema.label() {
            let why = format!(
                "a feature holder's schema declares the label '{}': the label holder has it; declare it as type = \"skip\"",
                column.name
            );
            return Err(Error::parameter(Subject::Schema, why));
        }
        Ok(FeatureHolderPlan {
            vertical: self.clone(),
            columns: self.desensitisation.plan(schema)?,
            branches: None,
        })
    }
}

impl FeatureHolderPlan {
    /// What is done to its columns.
    pub fn columns(&self) -> &ColumnsPlan {
        &self.columns
    }

    /// The same plan for a party that only answers questions about branches, or that only sends columns: a label holder that asks for the other
    /// is refused. A plan that does not say it does both, since answers follow from the columns.
    #[must_use]
    pub fn asked(self, branches: bool) -> Self {
        Self {
            branches: Some(branches),
            ..self
        }
    }
}

impl LabelHolderPlan {
    getters! {
        /// The schema that tables are read with.
        pub schema(&schema) -> &Arc<Schema>;
        /// Who is protected, if labels are changed.
        pub relation(&relation) -> &Relation;
    }

    /// What the other parties are shown of its rows in training, besides what labels that change tell them. A permission that stands in a ledger
    /// must list it ([`Unprotected::showing`](crate::privacy::Unprotected::showing)).
    pub fn leaks(&self) -> Vec<Leak> {
        meeting::leaks_of_open_label_holder(&self.vertical, self.vertical.protocol == Protocol::AsPublished)
    }

    /// The same for predictions, by columns or by the answers to a model's questions.
    pub fn leaks_of_predicting(&self, branches: bool) -> Vec<Leak> {
        meeting::leaks_of_open_label_holder(&self.vertical, branches)
    }

    /// What is read of a table.
    pub fn reads(&self) -> Intake {
        Intake::everything(Arc::clone(&self.schema), Keep::Bins)
    }

    /// What is read of a table of new rows: no labels.
    pub fn reads_new_rows(&self) -> Intake {
        Intake::features_only(Arc::clone(&self.schema), Keep::Bins)
    }

    /// That a table was read with the plan's schema, labels included.
    pub(super) fn check(&self, table: &Table) -> Result<(), Error> {
        table.is_of(&self.schema, READS)?;
        table.is_whole(Keep::Bins)
    }

    /// The classes of the label, in order; none if it is a number.
    pub(super) fn classes(&self) -> &[String] {
        match self.schema.label() {
            Some((_, Label::Classes(declared))) => declared.values(),
            _ => &[],
        }
    }

    /// That labels were released before values were stored with the ledger.
    pub(super) fn labels_elsewhere(&self, name: &str) -> Error {
        Refusal::AlreadyDesensitised {
            dataset: self.schema.dataset().into(),
            column: name.into(),
            kept: None,
        }
        .into()
    }

    /// The label's name and how its classes are changed, under a budget that protects them and whatever else the schema calls private.
    pub(super) fn labels(&self, relation: &Relation) -> Result<(&str, &RandomisedResponse), Error> {
        let (Some(response), Some((label, _))) = (&self.response, self.schema.label()) else {
            return Err(Error::parameter(
                "label_epsilon",
                "label_epsilon is missing: say how much labels change",
            ));
        };
        self.schema.covered_by(relation)?;
        match relation {
            Relation::ReplacePrivate { columns, .. } if !columns.contains(&label.name) => {
                Err(Error::misuse(format!(
                    "labels change so that they are protected, and the budget does not protect '{}'",
                    label.name
                )))
            }
            _ => Ok((&label.name, response)),
        }
    }
}
