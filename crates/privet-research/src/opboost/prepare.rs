//! Who has which columns, how numbers are mapped to slots, and which rows are for testing.

use std::sync::Arc;

use privet::Error;
use privet::data::schema::{Extras, Kind, Number};
use privet::data::{Schema, Table};
use privet::model::Model;

use super::super::Records;
use super::Data;

/// |D| of all models, as the paper has it.
pub(super) const SLOTS: usize = 10;

/// A data set as the paper splits it between two parties.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup {
    pub(super) dataset: &'static str,
    /// Its first rows only, if not all.
    pub(super) head: usize,
    /// The rows of the publisher's own file for training; without one, four fifths at random.
    pub(super) files: Option<usize>,
    /// Bounds are the 5th and 95th percentile instead of the least and the greatest.
    pub(super) clipped: bool,
    /// Trees of two leaves instead of depth 3.
    pub(super) stumps: bool,
}

/// How numbers become slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mapping {
    /// `⌈1 + 9·(x − lower)/(upper − lower)⌉`: the least alone has the first slot, the others have equal widths.
    Ceiling,
    /// As many training rows in each slot.
    Quantiles,
}

/// A data set's rows, and which columns B has: the numbers.
pub(super) struct Prepared {
    pub(super) records: Records,
    pub(super) setup: Setup,
    pub(super) plain: Arc<Schema>,
    numbers: Vec<(String, Vec<f64>)>,
}

impl Prepared {
    pub(super) fn new(setup: Setup, data: &Data) -> Result<Self, Error> {
        let records = data.records(setup.dataset)?.head(setup.head);
        let plain = records.schema_with(|column| Ok(column.kind.clone()))?;
        let is_number = |name: &&str| {
            let kind = plain.columns().iter().find(|column| column.name == **name);
            kind.is_some_and(|column| matches!(column.kind, Kind::Number(_)))
        };
        let names: Vec<&str> = plain
            .columns()
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        let numbers = names.into_iter().filter(is_number);
        let numbers = numbers.map(|name| (name.to_owned(), records.numbers(name)));
        Ok(Self {
            numbers: numbers.collect(),
            plain: Arc::new(plain),
            records,
            setup,
        })
    }

    /// The rows to train on and to test on.
    pub(super) fn deal(&self, run: u32) -> (Vec<usize>, Vec<usize>) {
        match self.setup.files {
            Some(train) => ((0..train).collect(), (train..self.records.len()).collect()),
            None => self.records.deal(self.records.len() / 5, run.into()),
        }
    }

    /// The columns of B.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.numbers.iter().map(|(name, _)| name.as_str())
    }

    /// The schema in which B's numbers have ten slots.
    pub(super) fn mapped(&self, mapping: Mapping, train: &[usize]) -> Result<Arc<Schema>, Error> {
        let schema = self.records.schema_with(|column| {
            let Some((_, values)) = self.numbers.iter().find(|(name, _)| *name == column.name) else {
                return Ok(column.kind.clone());
            };
            number(values, mapping, self.setup.clipped, train).map(Kind::Number)
        });
        Ok(Arc::new(schema?))
    }

    /// Without B's columns.
    pub(super) fn own(&self) -> Result<Arc<Schema>, Error> {
        let schema = self.records.schema_with(|column| {
            let theirs = self.names().any(|name| name == column.name);
            Ok(if theirs { Kind::Skip } else { column.kind.clone() })
        });
        Ok(Arc::new(schema?))
    }

    /// The names of A's columns with the label, and of B's.
    pub(super) fn sides(&self) -> [Vec<String>; 2] {
        let all = self.plain.columns().iter().map(|column| column.name.clone());
        let (theirs, own) = all.partition(|name| self.names().any(|other| other == name));
        [own, theirs]
    }

    /// Rows for a model that was trained on both sides' columns. Values beyond the bounds count as these: a model whose columns
    /// were changed to values outside would tell them apart.
    pub(super) fn asked(
        &self,
        model: &Model,
        mapping: Mapping,
        (train, test): (&[usize], &[usize]),
    ) -> Result<Table, Error> {
        let mapped = self.mapped(mapping, train)?;
        let bounds = |name: &str| {
            mapped.columns().iter().find_map(|column| match &column.kind {
                Kind::Number(number) if column.name == name => Some((number.min(), number.max())),
                _ => None,
            })
        };
        let clamped = self.numbers.iter().filter_map(|(name, values)| {
            let (low, high) = bounds(name)?;
            let cells = test.iter().map(|row| values[*row].clamp(low, high).to_string());
            Some((name.clone(), cells.collect()))
        });
        let schema = Arc::new(model.schema().clone());
        self.records
            .table_with(&schema, test, &clamped.collect::<Vec<_>>())
    }
}

fn number(values: &[f64], mapping: Mapping, clipped: bool, train: &[usize]) -> Result<Number, Error> {
    let mut sorted: Vec<f64> = match mapping {
        Mapping::Ceiling => values.to_vec(),
        Mapping::Quantiles => train.iter().map(|row| values[*row]).collect(),
    };
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let [low, high] = if clipped { [0.05, 0.95] } else { [0.0, 1.0] }.map(at);
    let points: Vec<f32> = match mapping {
        // What equals an edge goes left, so the cut is the next number.
        Mapping::Ceiling => (0..SLOTS - 1)
            .map(|i| ((low + (high - low) * i as f64 / (SLOTS - 1) as f64) as f32).next_up())
            .collect(),
        Mapping::Quantiles => {
            let cut = |i: usize| (at(i as f64 / SLOTS as f64) as f32).next_up();
            (1..SLOTS).map(cut).collect()
        }
    };
    // Where many rows have one value, quantiles coincide; the column then has fewer slots.
    let mut cuts: Vec<f64> = points
        .into_iter()
        .map(f64::from)
        .filter(|cut| *cut <= high)
        .collect();
    cuts.dedup();
    let extras = Extras {
        cuts: Some(cuts),
        fill: Some(low),
        ..Extras::default()
    };
    Number::new(low, high, extras)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(number: &Number, values: &[f64]) -> Vec<u16> {
        let slot = |x: &f64| number.cuts().bin(*x as f32) + 1;
        values.iter().map(slot).collect()
    }

    #[test]
    fn the_least_has_a_slot_of_its_own() {
        let number = number(&[100.0, 0.0, 50.0], Mapping::Ceiling, false, &[]).expect("bounds");
        let values = [0.0, 0.001, 11.1, 11.2, 50.0, 99.9, 100.0];
        assert_eq!(slots(&number, &values), [1, 2, 2, 3, 6, 10, 10]);
        assert_eq!(number.cuts().bins(), SLOTS);
    }

    #[test]
    fn a_twentieth_is_left_out_at_either_end() {
        let values: Vec<f64> = (0..=100).map(f64::from).collect();
        let number = number(&values, Mapping::Ceiling, true, &[]).expect("bounds");
        assert_eq!((number.min(), number.max()), (5.0, 95.0));
        assert_eq!(
            slots(&number, &[0.0, 5.0, 5.1, 15.0, 15.1, 95.0, 99.0]),
            [1, 1, 2, 2, 3, 10, 10]
        );
    }

    /// Quantiles are those of the rows to train on; where they coincide there are fewer slots.
    #[test]
    fn quantiles_hold_as_many_rows() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i * i)).collect();
        let train: Vec<usize> = (0..100).collect();
        let cut = number(&values, Mapping::Quantiles, false, &train).expect("bounds");
        let mut counts = [0; SLOTS];
        for slot in slots(&cut, &values[..100]) {
            counts[usize::from(slot) - 1] += 1;
        }
        assert!(counts.iter().all(|count| (9..=11).contains(count)), "{counts:?}");
        let zeros: Vec<f64> = (0..100).map(|i| if i < 95 { 0.0 } else { 7.0 }).collect();
        let cut = number(&zeros, Mapping::Quantiles, false, &train).expect("bounds");
        assert_eq!(slots(&cut, &[0.0, 7.0]), [1, 2]);
    }
}
