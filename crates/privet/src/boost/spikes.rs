//! Values that many rows share, and that a model has bins of their own for.

use serde::{Deserialize, Serialize};

use crate::data::schema::{Kind, Number, Schema};

/// The spikes of one column: bins of single values, or of few, that were found in noisy counts of rows. Whoever reads the model learns them; they
/// were paid for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spikes {
    /// The place of the column among the features.
    pub feature: usize,
    /// Their bins, rising.
    pub slots: Vec<u16>,
}

impl Spikes {
    /// The name of the column, and the least and the largest value of each spike.
    pub fn values<'s>(&self, schema: &'s Schema) -> Option<(&'s str, Vec<[f64; 2]>)> {
        let (name, number) = self.column(schema)?;
        let values = |&slot: &u16| {
            let points = number.cuts().points();
            let point = |place: usize| points.get(place).map(|&x| f64::from(x));
            let low = usize::from(slot).checked_sub(1).and_then(point);
            let (low, high) = (
                low.unwrap_or(number.min()),
                point(slot.into()).unwrap_or(number.max()),
            );
            match number.is_integer() {
                // Cuts lie between whole numbers.
                true => [low.ceil(), if high < number.max() { high.floor() } else { high }],
                false => [low, high],
            }
        };
        Some((name, self.slots.iter().map(values).collect()))
    }

    fn column<'s>(&self, schema: &'s Schema) -> Option<(&'s str, &'s Number)> {
        let column = schema.features().nth(self.feature)?;
        match &column.kind {
            Kind::Number(number) => Some((column.name.as_str(), number)),
            _ => None,
        }
    }

    /// Why it does not fit a schema.
    pub(super) fn check(&self, schema: &Schema) -> Result<(), String> {
        let Some((name, number)) = self.column(schema) else {
            return Err(format!("feature {} is no number", self.feature));
        };
        let rises = self.slots.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = self
            .slots
            .last()
            .is_some_and(|&slot| usize::from(slot) < number.cuts().bins());
        match rises && inside {
            true => Ok(()),
            false => Err(format!(
                "bins of '{name}' must rise, and be among its {}",
                number.cuts().bins()
            )),
        }
    }
}
