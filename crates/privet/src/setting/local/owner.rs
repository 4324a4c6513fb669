//! How an owner answers a campaign.

use super::campaign::{Campaign, Message};
use crate::Error;
use crate::data::Table;
use crate::privacy::mechanism::local::{LocalMessage, UNIT};
use crate::privacy::{Certificate, Ledger, Neighbours, Private, Randomness, Released};

/// One owner, about to answer a campaign.
#[derive(Debug, Clone, Copy)]
pub struct DataOwner<'a> {
    campaign: &'a Campaign,
}

impl<'a> DataOwner<'a> {
    /// For one campaign.
    pub fn new(campaign: &'a Campaign) -> Self {
        Self { campaign }
    }

    /// The owner's one message about a vector, for a campaign that asks for one: kept from before, or paid for, drawn and kept. `vector` is
    /// computed only if a message is drawn. It is clipped to the campaign's radius; missing coordinates, and what is not a number, count as
    /// zero.
    ///
    /// # Privacy
    /// `docs/proofs/local.md#contributions`, whatever the vector was computed from.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the campaign asks for a category; else as [`Ledger::contribute`].
    pub fn contribute_vector<N: Neighbours>(
        &self,
        ledger: &mut Ledger<N>,
        vector: impl FnOnce() -> Private<Vec<f64>>,
    ) -> Result<Contributed, Error> {
        let (name, radius) = (self.campaign.to_name(), self.campaign.radius());
        let to_box = |values: Vec<f64>| on_grid(&values, radius);
        let message = match self.campaign.message() {
            Message::Vector(closest) => {
                let to_ball = |values: Vec<f64>| on_grid(&in_ball(&values, radius), radius);
                ledger.contribute(name, closest, || vector().map(to_ball))
            }
            Message::Coordinates(piecewise) => ledger.contribute(name, piecewise, || vector().map(to_box)),
            Message::Signs(signs) => ledger.contribute(name, signs, || vector().map(to_box)),
            Message::Category(_) | Message::Cells(_) => {
                return Err(Error::misuse("this campaign asks for a category, not a vector"));
            }
        };
        self.contributed(message?)
    }

    /// The same about a category, by its number. One that is not declared counts as the last.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the campaign asks for a vector; else as [`Ledger::contribute`].
    pub fn contribute_category<N: Neighbours>(
        &self,
        ledger: &mut Ledger<N>,
        category: impl FnOnce() -> Private<usize>,
    ) -> Result<Contributed, Error> {
        let Message::Category(oracle) = self.campaign.message() else {
            return Err(Error::misuse("this campaign asks for a vector, not a category"));
        };
        let message = ledger.contribute(self.campaign.to_name(), oracle, category)?;
        self.contributed(message)
    }

    /// The same about the owner's rows, for a campaign that says how they become what is sent: read by its encoding's
    /// [`reads`](super::Encoding::reads).
    ///
    /// # Privacy
    /// As above, for all rows together: how many there are, their labels and their weights are part of what is protected.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the campaign says nothing about rows, or the table was read otherwise; else as [`Ledger::contribute`].
    pub fn contribute_rows<N: Neighbours>(
        &self,
        ledger: &mut Ledger<N>,
        table: &Table,
    ) -> Result<Contributed, Error> {
        let Some(encoding) = self.campaign.encoding() else {
            return Err(Error::misuse(
                "this campaign does not say how rows become what is sent: it has no [encoding]",
            ));
        };
        encoding.check(table)?;
        let Message::Cells(cells) = self.campaign.message() else {
            return self.contribute_vector(ledger, || encoding.vector_of(table));
        };
        // Which row is sent has the same law for all owners: it needs no payment.
        let draw = Randomness::from_os()?.word();
        let message = ledger.contribute(self.campaign.to_name(), cells, || encoding.cells_of(table, draw))?;
        self.contributed(message)
    }

    fn contributed(&self, drawn: (Released<LocalMessage>, Certificate)) -> Result<Contributed, Error> {
        let (message, certificate) = drawn;
        Ok(Contributed {
            submission: self.campaign.submission(message.value()),
            certificate,
        })
    }
}

/// What an owner sends to a campaign, and what that guarantees.
#[derive(Debug, Clone)]
pub struct Contributed {
    /// The bytes to send, as often as needed.
    pub submission: Vec<u8>,
    /// What it guarantees the owner.
    pub certificate: Certificate,
}

/// Coordinates on the mechanisms' grid, on which the radius is one.
pub(super) fn on_grid(values: &[f64], radius: f64) -> Vec<i32> {
    let place = |value: &f64| {
        // `as` saturates and sends NaN to zero.
        let units = (value / radius * f64::from(UNIT)).round() as i32;
        units.clamp(-UNIT, UNIT)
    };
    values.iter().map(place).collect()
}

/// A vector that is not longer than the radius: a longer one is shortened.
pub(super) fn in_ball(values: &[f64], radius: f64) -> Vec<f64> {
    // Beyond a million radii only the direction counts, and not exactly.
    let most = 1e6 * radius;
    let finite = |value: &f64| {
        if value.is_nan() {
            0.0
        } else {
            value.clamp(-most, most)
        }
    };
    let mut values: Vec<f64> = values.iter().map(finite).collect();
    let square: f64 = values.iter().map(|value| (value / radius).powi(2)).sum();
    let shorten = square.sqrt().max(1.0);
    values.iter_mut().for_each(|value| *value /= shorten);
    values
}
