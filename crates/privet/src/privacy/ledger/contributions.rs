//! Messages of the local setting: paid for, drawn once for each campaign, stored with the ledger, and only then given to anybody.

use sha2::{Digest, Sha256};

use super::keeping::damaged;
use super::transaction::Step;
use super::{Ledger, random_name};
use crate::Error;
use crate::error::JournalFault;
use crate::privacy::account::Price;
use crate::privacy::book::PaidMessage;
use crate::privacy::journal::{Event, KeptValue, hexadecimal};
use crate::privacy::keeping::{Binding, KeptName};
use crate::privacy::mechanism::Paid;
use crate::privacy::mechanism::local::{LocalMechanism, LocalMessage, Token};
use crate::privacy::{Certificate, Neighbours, Private, Relation, Released};

/// What a message is for: one draw for each digest, whoever asks and however often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CampaignName<'a> {
    /// The campaign's name, for people.
    pub name: &'a str,
    /// SHA-256 of its file.
    pub digest: [u8; 32],
    /// The series of campaigns that it is a round of: an owner answers one of them.
    pub series: Option<&'a str>,
}

impl<N: Neighbours> Ledger<N> {
    /// The one message of this owner to a campaign: as the ledger has kept it; else it is paid for, drawn, and kept by the ledger before it is
    /// given. It may be sent as often as one likes. What all campaigns get adds up under the owner's cap.
    ///
    /// # Privacy
    /// `docs/proofs/local.md#contributions`.
    ///
    /// # Errors
    /// [`Error::Budget`] if too little of the owner's budget remains, before the input is computed; [`Error::Misuse`] if the ledger was opened for
    /// another change than that everything about an owner is replaced; [`Error::Journal`] if the message could not be kept, if what was
    /// kept is missing or damaged, if another campaign of the same series was answered before, if the campaign was answered under another ε or by another kind of mechanism, or if a message that is
    /// still to be drawn was paid for with other parameters.
    pub fn contribute<M: LocalMechanism>(
        &mut self,
        campaign: CampaignName<'_>,
        mechanism: &M,
        input: impl FnOnce() -> Private<M::Input>,
    ) -> Result<(Released<LocalMessage>, Certificate), Error> {
        if self.relation.relation() != Relation::Owner {
            return Err(Error::misuse(
                "a message of the local setting is about everything that an owner has: open its ledger for that change",
            ));
        }
        let digest = hexadecimal(&campaign.digest);
        // A key that is missing is found out before anything is paid.
        self.journal.seal([0; 32])?;
        let fresh = random_name::<16>()?;
        let paid = self.transact(|run| {
            if let Some(paid) = run.book.contributed(run.dataset, &digest) {
                return Ok((Step::Nothing, paid.clone()));
            }
            if let Some(series) = campaign.series
                && run.book.contributed_to_series(run.dataset, series)
            {
                let why = format!(
                    "another round of '{series}' was answered before: an owner answers one of them. Nothing was paid or drawn."
                );
                return Err(Error::journal(JournalFault::OtherJob, why));
            }
            let price = Price::Pure(mechanism.epsilon());
            run.book.admits(run.dataset, &run.relation, price, false)?;
            let paid = PaidMessage {
                dataset: run.dataset.into(),
                run: fresh.clone(),
                mechanism: mechanism.describe(),
                proof: mechanism.proof().as_str().into(),
                epsilon: mechanism.epsilon(),
                series: campaign.series.map(Into::into),
                kept: None,
            };
            let event = Event::Contribute {
                dataset: paid.dataset.clone(),
                what: campaign.name.into(),
                campaign: digest.clone(),
                mechanism: paid.mechanism.clone(),
                epsilon: paid.epsilon,
                proof: paid.proof.clone(),
                series: paid.series.clone(),
                run: paid.run.clone(),
            };
            Ok((Step::Write(event), paid))
        })?;
        // What was kept is sent again, also by a version of this program that describes or resolves the same campaign otherwise.
        let is_same =
            (paid.proof.as_str(), paid.epsilon) == (mechanism.proof().as_str(), mechanism.epsilon());
        if !is_same || (paid.kept.is_none() && paid.mechanism != mechanism.describe()) {
            let why = format!(
                "the message to the campaign '{}' was paid for with another mechanism: {}",
                campaign.name, paid.mechanism
            );
            return Err(Error::journal(JournalFault::OtherJob, why));
        }
        if paid.kept.is_none() {
            self.mark_run_void((&paid.dataset, &paid.run))?;
            self.random.renew()?;
            let token = Token::draw(&mut self.random);
            let body = mechanism.draw(&token, input(), Paid::receipt(), &mut self.random);
            self.keep_message(&digest, &paid, LocalMessage { token, body })?;
        }
        self.load_message(&digest)
    }

    /// The round of a series that this owner takes part in, from one: drawn by the owner itself, uniformly, and the same whenever it is asked for. It
    /// follows from the journal's key and the name of the series, and from nothing about the owner.
    ///
    /// # Errors
    /// [`Error::Journal`] if the key is missing.
    pub fn round(&mut self, series: &str, of: u64) -> Result<u64, Error> {
        let hash = Sha256::new_with_prefix(b"privet round 1\0").chain_update(series);
        let sealed = self.journal.seal(hash.finalize().into())?;
        let uniform = sealed
            .get(..16)
            .and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let uniform = uniform.ok_or_else(|| Error::internal("a seal is a hexadecimal number of 32 bytes"))?;
        Ok(((u128::from(uniform) * u128::from(of)) >> 64) as u64 + 1)
    }

    /// The message to a campaign as it was kept, if it was; never a draw.
    ///
    /// # Errors
    /// [`Error::Journal`] if what was kept is missing or damaged.
    pub fn contributed(&mut self, digest: [u8; 32]) -> Result<Option<LocalMessage>, Error> {
        self.catch_up()?;
        let digest = hexadecimal(&digest);
        let paid = self.book.contributed(&self.dataset, &digest);
        if paid.is_none_or(|paid| paid.kept.is_none()) {
            return Ok(None);
        }
        let (message, _) = self.load_message(&digest)?;
        Ok(Some(message.into_inner()))
    }

    /// Stores a message together with the entry that says that it may be sent; nothing if another process was first.
    fn keep_message(
        &mut self,
        campaign: &str,
        paid: &PaidMessage,
        message: LocalMessage,
    ) -> Result<(), Error> {
        let kept = KeptValue {
            about: Binding::default().with("mechanism", &paid.mechanism).to_text(),
            value: message.to_bytes(),
        };
        let digest = self.journal.seal(paid.name(campaign).hash(&kept))?;
        let mut kept = Some(kept);
        self.transact(|run| {
            let now = run.book.contributed(run.dataset, campaign);
            if now.is_some_and(|now| now.kept.is_some()) {
                return Ok((Step::Nothing, ()));
            }
            let event = Event::Kept {
                dataset: paid.dataset.clone(),
                run: paid.run.clone(),
                what: campaign.into(),
                draw: None,
                price: None,
                portion: None,
                digest: digest.clone(),
            };
            let kept = kept
                .take()
                .ok_or_else(|| Error::internal("a transaction decides once"))?;
            Ok((Step::Keep(event, kept), ()))
        })
    }

    fn load_message(&mut self, campaign: &str) -> Result<(Released<LocalMessage>, Certificate), Error> {
        let paid = self.book.contributed(&self.dataset, campaign).cloned();
        let paid = paid.ok_or_else(|| Error::internal("what was paid for stays paid for"))?;
        let at = paid.kept.clone();
        let at = at.ok_or_else(|| Error::internal("what was just kept is kept"))?;
        let kept = self.checked(paid.name(campaign), &at)?;
        let message =
            LocalMessage::from_bytes(&kept.value).ok_or_else(|| damaged(&at, "it cannot be read"))?;
        let certificate = self.certificate(&self.book, (&paid.dataset, &paid.run), &Relation::Owner);
        Ok((Released::new(message), certificate))
    }
}

impl PaidMessage {
    fn name<'a>(&'a self, campaign: &'a str) -> KeptName<'a> {
        KeptName {
            dataset: &self.dataset,
            run: &self.run,
            what: campaign,
            draw: None,
        }
    }
}

#[cfg(test)]
mod tests;
