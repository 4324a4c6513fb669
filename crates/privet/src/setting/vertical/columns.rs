//! What is done to each column of a feature holder: the plan.

use std::sync::Arc;

use super::desensitisation::{Budget, Categories, Desensitisation};
use crate::Error;
use crate::data::schema::{Column as Declared, Kind};
use crate::data::{Cells, Intake, Keep, Schema, Table};
use crate::error::{Refusal, Subject};
use crate::privacy::mechanism::ordered::{
    Column, Distance, Loss, Ordered, Outputs, RandomisedResponse, Unary,
};
use crate::privacy::texts::{check_text, shown};
use crate::privacy::{Epsilon, Ledger, Private, Relation, getters};

/// How each column of a table is changed, and how far that protects it: fixed before the first row is looked at. Only such a plan
/// makes a [`Release`](super::Release).
#[derive(Debug, Clone)]
pub struct ColumnsPlan {
    desensitisation: Desensitisation,
    schema: Arc<Schema>,
    relation: Relation,
    columns: Vec<Change>,
    distances: Vec<Distance>,
}

#[derive(Debug, Clone)]
struct Change {
    name: String,
    is_number: bool,
    by: By,
}

#[derive(Debug, Clone)]
enum By {
    Order(Arc<dyn Ordered>),
    Flags(Arc<Unary>),
}

/// How the values of a released column are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// The first output, in slots from the domain's first.
    pub(super) lowest: i32,
    /// How many outputs there are.
    pub(super) outputs: usize,
    /// Values for each row: more than one for flags.
    pub(super) each: usize,
}

impl Desensitisation {
    /// What is done to each feature of a schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a mechanism cannot be had for one of the columns.
    pub fn plan(&self, schema: &Schema) -> Result<ColumnsPlan, Error> {
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        let schema = schema.coarse(self.bins);
        let count = schema.features().count();
        if count == 0 {
            return Err(Error::parameter(
                Subject::Schema,
                "a feature holder needs at least one column to learn from: its schema has none",
            ));
        }
        schema.has_no_weights("a feature holder")?;
        schema.check_sendable()?;
        schema.features().try_for_each(nameable)?;
        let each = self.each(count)?;
        let change = |column: &Declared| {
            Change::new(self, column, each).map_err(|e| {
                Error::parameter(
                    Subject::Schema,
                    format!("the column '{}' cannot be changed: {e}", column.name),
                )
            })
        };
        let columns = schema.features().map(change).collect::<Result<Vec<_>, _>>()?;
        let nobody = Private::new(Cells::default());
        let distances = columns.iter().map(|change| change.column(&nobody, 0).distance());
        Ok(ColumnsPlan {
            desensitisation: self.clone(),
            relation: schema.replaced(),
            distances: distances.collect(),
            schema: Arc::new(schema),
            columns,
        })
    }
}

/// That a ledger can name a column that it says was released.
fn nameable(column: &Declared) -> Result<(), Error> {
    check_text(&column.name).map_err(|_| {
        let why = format!(
            "the column '{}' cannot be released: its name would stand in the ledger, and is longer than 1000 bytes or has a character that \
             cannot be seen. Rename it in the table and its schema",
            shown(&column.name)
        );
        Error::parameter(Subject::Schema, why)
    })
}

impl Desensitisation {
    /// The losses of the columns that a feature holder has sent with this schema, if they were changed in this way; or why they cannot have been.
    pub(super) fn distances_of(&self, sent: &Schema) -> Result<Vec<Distance>, String> {
        if sent.coarse(self.bins) != *sent {
            return Err("columns in other bins than was agreed on".into());
        }
        let count = sent.features().count();
        if let Budget::Sample(chosen) = self.budget
            && chosen as usize != count
        {
            return Err(format!("{count} columns where {chosen} are drawn"));
        }
        // All columns of a party are sent, or as many as ε is divided over.
        let each = self.each(count).map_err(|e| e.to_string())?;
        let nobody = Private::new(Cells::default());
        let distance = |column: &Declared| {
            let change = Change::new(self, column, each);
            let change =
                change.map_err(|e| format!("the column '{}' cannot have been changed: {e}", column.name))?;
            Ok(change.column(&nobody, 0).distance())
        };
        sent.features().map(distance).collect()
    }
}

impl Desensitisation {
    /// Whether a column of a model can have this loss, as one of so many that were sent; or why not. A model knows a number with the slots outside its
    /// domain that values can be moved to, so several domains may be meant.
    pub(super) fn check_loss(&self, meant: &Declared, sent: usize, claimed: &Distance) -> Result<(), String> {
        let each = self.each(sent).map_err(|e| e.to_string())?;
        let nobody = Private::new(Cells::default());
        let is_claimed = |change: &Change| change.column(&nobody, 0).distance() == *claimed;
        let found = match &meant.kind {
            Kind::Number(number) => {
                let outputs = number.cuts().bins();
                let over = |slots: usize| self.mechanism.over(slots, each).ok();
                let reach = |slots: usize| over(slots).map_or(0, |by| by.outputs().count);
                // The fewest slots that reach as far.
                let (mut low, mut high) = (1, outputs);
                while low < high {
                    let middle = low.midpoint(high);
                    match reach(middle) < outputs {
                        true => low = middle + 1,
                        false => high = middle,
                    }
                }
                let same = (low..=outputs).take_while(|slots| reach(*slots) == outputs);
                same.filter_map(over).any(|by| {
                    is_claimed(&Change {
                        name: meant.name.clone(),
                        is_number: true,
                        by: By::Order(by.into()),
                    })
                })
            }
            _ => Change::new(self, meant, each).is_ok_and(|change| is_claimed(&change)),
        };
        match found {
            true => Ok(()),
            false => Err(other_loss(&meant.name)),
        }
    }
}

/// That a certificate claims another loss than what was agreed on has.
pub(super) fn other_loss(column: &str) -> String {
    format!(
        "a certificate that claims another loss for the column '{column}' than follows from what was agreed on"
    )
}

impl Change {
    fn new(parameters: &Desensitisation, column: &Declared, epsilon: Epsilon) -> Result<Self, Error> {
        let response = |slots| RandomisedResponse::new(epsilon, slots).map(|by| By::Order(Arc::new(by)));
        let ordered = |slots| {
            parameters
                .mechanism
                .over(slots, epsilon)
                .map(|by| By::Order(by.into()))
        };
        let by = match (&column.kind, parameters.categories) {
            (Kind::Number(number), _) => ordered(number.cuts().bins())?,
            (Kind::Ordinal(declared), _) => ordered(declared.values().len())?,
            (Kind::Flag(declared), _) => response(declared.values().len())?,
            (kind, Categories::Response) => response(kind.slots())?,
            (kind, Categories::SymmetricUnary) => {
                By::Flags(Arc::new(Unary::symmetric(epsilon, kind.slots())?))
            }
            (kind, Categories::OptimisedUnary) => {
                By::Flags(Arc::new(Unary::optimised(epsilon, kind.slots())?))
            }
        };
        Ok(Self {
            name: column.name.clone(),
            is_number: matches!(column.kind, Kind::Number(_)),
            by,
        })
    }

    /// The column at a place of a table, to be changed in this way.
    fn column(&self, cells: &Private<Cells>, place: usize) -> Column<'_> {
        // What is missing or undeclared has no place in an order: it counts as the middle.
        let values = |domain: Option<usize>| {
            cells.as_ref().map(move |cells| {
                let bins = cells.features().get(place).map(|feature| &feature.bins);
                let slots = bins.into_iter().flat_map(|bins| bins.iter());
                match domain {
                    None => slots.collect(),
                    Some(domain) => {
                        let middle = (domain.max(1) - 1) as u16 / 2;
                        let known = |slot: u16| usize::from(slot) < domain;
                        slots
                            .map(|slot| if known(slot) { slot } else { middle })
                            .collect()
                    }
                }
            })
        };
        match &self.by {
            By::Order(by) => Column::slots(&self.name, &**by, values(Some(by.inputs()))),
            By::Flags(by) => Column::flags(&self.name, by, values(None)),
        }
    }
}

impl ColumnsPlan {
    getters! {
        /// How columns are changed.
        pub desensitisation(&desensitisation) -> &Desensitisation;
        /// The schema that tables are read with: with as many bins as are sent.
        pub schema(&schema) -> &Arc<Schema>;
        /// Who is protected.
        pub relation(&relation) -> &Relation;
        /// How well the values of each column can be told apart once they are sent.
        pub distances(&distances) -> &[Distance];
    }

    /// What is read of a table.
    pub fn reads(&self) -> Intake {
        Intake::everything(Arc::clone(&self.schema), Keep::Bins)
    }

    /// The same of a whole row, over all columns.
    pub fn distance(&self) -> Loss {
        Distance::record(&self.distances)
    }

    /// That a table was read as [`reads`](Self::reads) says, and that a budget protects whom its schema names.
    pub(super) fn check(&self, table: &Table, relation: &Relation) -> Result<(), Error> {
        table.is_of(&self.schema, READS)?;
        table.is_whole(Keep::Bins)?;
        self.schema.covered_by(relation)
    }

    /// The names of all columns that may be sent.
    pub(super) fn names(&self) -> Vec<&str> {
        self.distances
            .iter()
            .map(|column| column.column.as_str())
            .collect()
    }

    /// The columns that are sent: all, or as many as the budget says, drawn by chance and not by what they say. The entry that pays for
    /// them says which.
    pub(super) fn choose(&self, ledger: &mut Ledger) -> Result<Vec<usize>, Error> {
        let mut places: Vec<usize> = (0..self.columns.len()).collect();
        if let Budget::Sample(chosen) = self.desensitisation.budget {
            let mut coins = ledger.coins()?;
            let chosen = (chosen as usize).min(places.len());
            for i in 0..chosen {
                let rest = (places.len() - i) as u64;
                places.swap(i, i + coins.below(rest) as usize);
            }
            places.truncate(chosen);
            places.sort_unstable();
        }
        Ok(places)
    }

    /// The places of columns that were paid for, if the plan sends as many and changes them in the same way.
    pub(super) fn places(&self, paid: &[Distance]) -> Result<Vec<usize>, Error> {
        let count = match self.desensitisation.budget {
            Budget::Sample(chosen) => chosen as usize,
            _ => self.columns.len(),
        };
        let place = |column: &Distance| self.distances.iter().position(|own| own == column);
        let places: Option<Vec<usize>> = paid.iter().map(place).collect();
        let places = places.filter(|places| places.len() == count && places.is_sorted());
        places.ok_or_else(|| Refusal::OtherColumns.into())
    }

    /// That columns were released before values were stored with the ledger.
    pub(super) fn released_elsewhere(&self, columns: &[Distance]) -> Error {
        let column = columns.first().map(|column| column.column.clone());
        Refusal::AlreadyDesensitised {
            dataset: self.schema.dataset().into(),
            column: column.unwrap_or_default(),
            kept: None,
        }
        .into()
    }

    /// The chosen columns of a table, to be changed.
    pub(super) fn columns(&self, cells: &Private<Cells>, chosen: &[usize]) -> Vec<Column<'_>> {
        let column = |&place: &usize| self.columns[place].column(cells, place);
        chosen.iter().map(column).collect()
    }

    /// How the values of a column are to be read once it is released. Only numbers can lie outside their domain.
    pub(super) fn reading(&self, place: usize) -> Reading {
        let change = &self.columns[place];
        let (lowest, outputs, each) = match &change.by {
            By::Order(by) if change.is_number => {
                let Outputs { lowest, count } = by.outputs();
                (lowest, count, 1)
            }
            By::Order(by) => (0, by.inputs(), 1),
            By::Flags(by) => (0, 2, by.categories()),
        };
        Reading {
            lowest,
            outputs,
            each,
        }
    }

    /// An output as it is read: clamped to the domain unless it is a number.
    pub(super) fn read(&self, place: usize, output: u16) -> u16 {
        let change = &self.columns[place];
        match &change.by {
            By::Order(by) if !change.is_number => {
                let slot = i32::from(output) + by.outputs().lowest;
                slot.clamp(0, by.inputs() as i32 - 1) as u16
            }
            _ => output,
        }
    }
}

/// How a table is read, where one was read with another schema.
pub(super) const READS: &str = "what the plan's `reads` gives";
