//! Messages of the local setting that an owner has paid for.

use std::collections::BTreeMap;

use super::released::KeptAt;
use super::{Account, Book, Refusal, Spent};
use crate::privacy::account::{Caps, Price};
use crate::privacy::certificate::Payment;
use crate::privacy::run::{Promise, Run};
use crate::privacy::{Delta, Epsilon, Relation};

/// The messages of one owner, by the digests of their campaigns.
#[derive(Debug, Clone, Default)]
pub(super) struct Contributed(BTreeMap<String, PaidMessage>);

/// A message that was paid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::privacy) struct PaidMessage {
    /// The name of what the owner has, in the entry.
    pub(in crate::privacy) dataset: String,
    pub(in crate::privacy) run: String,
    /// The mechanism and its parameters in words.
    pub(in crate::privacy) mechanism: String,
    /// Where the mechanism's ε is proved: each kind has its own place.
    pub(in crate::privacy) proof: String,
    pub(in crate::privacy) epsilon: Epsilon,
    /// The series of campaigns of which one is answered.
    pub(in crate::privacy) series: Option<String>,
    /// Where the ledger says that the message is stored.
    pub(in crate::privacy) kept: Option<KeptAt>,
}

impl Contributed {
    /// Whether this run paid for a message.
    pub(super) fn has_run(&self, run: &str) -> bool {
        self.0.values().any(|message| message.run == run)
    }

    /// Notes that the message for a campaign is stored with the ledger; or why that cannot be.
    pub(super) fn note_kept(&mut self, run: &str, campaign: &str, at: KeptAt) -> Result<(), String> {
        let message = self.0.get_mut(campaign).filter(|message| message.run == run);
        let message = message.ok_or("this run has paid for no message to this campaign")?;
        if message.kept.is_some() {
            return Err("this message was kept before, and is kept once".into());
        }
        message.kept = Some(at);
        Ok(())
    }
}

impl Book {
    /// The message to a campaign, if it was paid for.
    pub(in crate::privacy) fn contributed(&self, dataset: &str, campaign: &str) -> Option<&PaidMessage> {
        self.account(dataset)?.contributed.0.get(campaign)
    }

    /// Whether a campaign of this series was answered.
    pub(in crate::privacy) fn contributed_to_series(&self, dataset: &str, series: &str) -> bool {
        let account = self.account(dataset);
        let mut messages = account
            .into_iter()
            .flat_map(|account| account.contributed.0.values());
        messages.any(|message| message.series.as_deref() == Some(series))
    }

    /// The data set whose budget is for everything about the owner of this ledger, if there is one.
    pub fn owner(&self) -> Option<&str> {
        let is_owner = |account: &Account| account.lines.contains_key(&Relation::Owner);
        let (name, _) = self.accounts.iter().find(|(_, account)| is_owner(account))?;
        Some(name)
    }

    /// Another data set whose budget is for everything about the owner. A ledger has one owner: with two such budgets, it would answer a
    /// campaign twice, and no total would say so.
    pub(super) fn other_owner(&self, dataset: &str) -> Option<&str> {
        let own = self.names.get(dataset).map_or(dataset, String::as_str);
        let mut accounts = self.accounts.iter();
        let is_owner = |account: &Account| account.lines.contains_key(&Relation::Owner);
        let (name, _) = accounts.find(|(name, account)| *name != own && is_owner(account))?;
        Some(name)
    }

    /// Notes that a message was paid for; or why that cannot be.
    ///
    /// # Privacy
    /// `docs/proofs/local.md#contributions`.
    pub(super) fn contribute(
        &mut self,
        what: &str,
        campaign: &str,
        message: PaidMessage,
    ) -> Result<(), String> {
        let (dataset, relation) = (message.dataset.as_str(), Relation::Owner);
        // One digest has one text: else a campaign could be answered once in each spelling.
        let is_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        if campaign.len() != 64 || !campaign.bytes().all(is_digit) {
            return Err("a campaign has a digest of 32 bytes, in lower-case hexadecimal digits".into());
        }
        if self.contributed(dataset, campaign).is_some() {
            return Err("a message is paid for and drawn once for each campaign".into());
        }
        if let Some(series) = &message.series
            && self.contributed_to_series(dataset, series)
        {
            return Err("one campaign of a series is answered".into());
        }
        if self.run(dataset, &message.run).is_some_and(Run::is_begun) {
            return Err("a message is a run of its own".into());
        }
        let account = self.account(dataset);
        let account = account.filter(|account| account.lines.contains_key(&relation));
        let account = account.ok_or_else(|| Refusal::no_budget(dataset, &relation, None).fact())?;
        let price = Price::Pure(message.epsilon);
        let spent = Spent {
            relation: relation.clone(),
            price,
            assuming: Vec::new(),
            sharing: None,
            added: false,
        };
        let lines = account
            .charged(&spent)
            .map_err(|over| format!("{price} overdraws the budget for: {over}"))?;
        let promise = Promise {
            caps: Caps::from(price),
            delta: Delta::ZERO,
        };
        let after = Run::NEW.admits(&relation, price, Some(promise))?;
        let payment = Payment {
            what: what.into(),
            price,
            draws: 1,
            assuming: Vec::new(),
            sharing: None,
        };
        let (dataset, run) = (message.dataset.clone(), message.run.clone());
        self.run_mut(&dataset, &run).pay(payment, &relation, after);
        let account = self.account_mut(&dataset);
        account.lines = lines;
        account.spends.push(spent);
        account.contributed.0.insert(campaign.into(), message);
        Ok(())
    }
}
