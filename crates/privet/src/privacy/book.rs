//! What the entries of a journal add up to.
//!
//! A [`Book`] is a pure function of the chain: opening a ledger, `privet ledger show` and `verify` all fold the same
//! entries through [`Book::apply`], which refuses a chain that was edited, reordered or that overdraws.

mod contributed;
mod kept;
mod refusal;
mod released;
mod reserved;

use std::collections::BTreeMap;

use super::Relation;
use super::account::Price;
use super::certificate::{Certificate, Leakage, Payment, Stand};
use super::journal::{Entry, Event, Head};
use super::mechanism::ordered::{Distance, Loss};
use super::run::{Run, public_name};
use super::texts::check_texts;
use crate::Error;
use crate::error::JournalFault;
use crate::privacy::getters;
pub(super) use contributed::PaidMessage;
pub use kept::{Account, BudgetLine};
use kept::{Shown, Spent};
pub use refusal::Refusal;
pub use released::ColumnState;
use released::PaidEntry;
pub(super) use released::{KeptAt, PaidColumns};
pub(super) use reserved::{PaidDraws, Terms};

/// The state of all budgets in one ledger.
#[derive(Debug, Clone)]
pub struct Book {
    head: Head,
    heads: Vec<String>,
    /// Each name of a data set, and the name that its budget is kept under.
    names: BTreeMap<String, String>,
    accounts: BTreeMap<String, Account>,
    /// What each run did, by the data set's name in its entries and the run's public name.
    runs: BTreeMap<(String, String), Run>,
}

impl Default for Book {
    fn default() -> Self {
        Self {
            head: Head::empty(),
            heads: Vec::new(),
            names: BTreeMap::new(),
            accounts: BTreeMap::new(),
            runs: BTreeMap::new(),
        }
    }
}

impl Book {
    /// Folds a whole chain.
    ///
    /// # Errors
    /// [`Error::Journal`] at the first entry that does not follow the one before it or that overdraws.
    pub fn of(entries: &[Entry]) -> Result<Self, Error> {
        entries.iter().try_fold(Self::default(), |mut book, entry| {
            book.apply(entry)?;
            Ok(book)
        })
    }

    /// Adds one entry.
    ///
    /// # Errors
    /// [`Error::Journal`] if it does not follow the chain or does not make sense there; the book is then unchanged.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), Error> {
        let number = self.head.entries + 1;
        let bad = |why: String| Error::journal(JournalFault::Entry(number), why);
        if !entry.follows(&self.head) {
            return Err(bad(
                "its hash does not follow from the entry before it: the ledger was edited, cut or reordered"
                    .into(),
            ));
        }
        if matches!(entry.event(), Event::Begin { .. }) != (self.head.entries == 0) {
            return Err(bad("a ledger begins once, with its first entry".into()));
        }
        self.note(number, entry.event()).map_err(bad)?;
        self.head = entry.head();
        self.heads.push(self.head.hash.clone());
        Ok(())
    }

    /// Checks first and changes last, so that a refused event changes nothing.
    fn note(&mut self, number: u64, event: &Event) -> Result<(), String> {
        check_texts(event)?;
        match event {
            Event::Begin { .. } => {}
            Event::Limit {
                dataset,
                relation,
                caps,
                delta,
            } => {
                if matches!(relation, Relation::ReplacePrivate { columns, .. } if columns.is_empty()) {
                    return Err("a limit that protects no column protects nothing".into());
                }
                if *relation == Relation::Owner
                    && let Some(other) = self.other_owner(dataset)
                {
                    return Err(format!(
                        "a ledger has one owner, and its budget is that of '{other}': use that name, or record that both are one with `privet \
                         ledger adopt {dataset} --of {other}`"
                    ));
                }
                let mut account = self.account(dataset).cloned().unwrap_or_default();
                match account.other_unit(dataset, relation) {
                    Some(why) if !account.spends.is_empty() || account.released.total().is_some() => {
                        return Err(why.fact());
                    }
                    // Nothing was paid by the old unit: the budget begins anew.
                    Some(_) => account.lines.clear(),
                    None => {}
                }
                account.set_limit(relation, *caps, *delta)?;
                *self.account_mut(dataset) = account;
            }
            Event::Spend {
                dataset,
                relation,
                what,
                price,
                draws,
                assuming,
                run,
                promise,
                added,
                stored,
                sharing,
                portions,
            } => {
                if *added && !matches!(relation, Relation::Replace { .. }) {
                    return Err(
                        "only what protects a unit that is replaced can hold for one that is added, too"
                            .into(),
                    );
                }
                if *relation == Relation::Owner {
                    return Err(Refusal::OnlyMessages.fact());
                }
                let account = self.account(dataset);
                if *stored && sharing.is_some() {
                    return Err("shares of noise are not stored with the ledger".into());
                }
                if portions.is_some() && (!*stored || !stays_together(relation)) {
                    return Err(
                        "portions are for draws that are stored, and for units that stay together".into(),
                    );
                }
                let owned = *stored || sharing.is_some();
                if owned {
                    let name = run
                        .as_deref()
                        .ok_or("what is stored with the ledger or enters joint sums needs a run")?;
                    if account.is_some_and(|account| account.reserved.get(name, what).is_some()) {
                        return Err("a run reserves draws for one purpose once".into());
                    }
                }
                if let Some(why) = account.and_then(|account| account.other_unit(dataset, relation)) {
                    return Err(why.fact());
                }
                let spent = Spent {
                    relation: relation.clone(),
                    price: *price,
                    assuming: assuming.clone(),
                    sharing: *sharing,
                    added: *added,
                };
                let lines = match account {
                    Some(account) if account.lines.contains_key(relation) => account.charged(&spent),
                    _ => return Err(Refusal::no_budget(dataset, relation, None).fact()),
                };
                let lines = lines.map_err(|over| format!("{price} overdraws the budget for: {over}"))?;
                let paid = match run {
                    Some(name) => {
                        let run = self.run(dataset, name).unwrap_or(Run::NEW);
                        Some((name, run.admits(relation, *price, *promise)?))
                    }
                    None if promise.is_some() => return Err("a promise needs a run that makes it".into()),
                    None => None,
                };
                if let Some((name, after)) = paid {
                    let payment = Payment {
                        what: what.clone(),
                        price: *price,
                        draws: *draws,
                        assuming: assuming.clone(),
                        sharing: *sharing,
                    };
                    self.run_mut(dataset, name).pay(payment, relation, after);
                }
                let account = self.account_mut(dataset);
                account.lines = lines;
                account.spends.push(spent);
                if let (true, Some(run)) = (owned, run) {
                    let terms = Terms {
                        dataset: dataset.clone(),
                        relation: relation.clone(),
                        price: *price,
                        draws: *draws,
                        added: *added,
                        sharing: *sharing,
                        portions: *portions,
                    };
                    account.reserved.note(run, what, terms);
                }
            }
            Event::Contribute {
                dataset,
                what,
                campaign,
                mechanism,
                epsilon,
                proof,
                series,
                run,
            } => {
                let message = PaidMessage {
                    dataset: dataset.clone(),
                    run: run.clone(),
                    mechanism: mechanism.clone(),
                    proof: proof.clone(),
                    epsilon: *epsilon,
                    series: series.clone(),
                    kept: None,
                };
                self.contribute(what, campaign, message)?;
            }
            Event::Desensitise {
                dataset,
                relation,
                what,
                columns,
                record,
                run,
                stored,
            } => {
                let stated = self.desensitises(dataset, relation, columns);
                if stated.map_err(|why| why.fact())? != *record {
                    return Err("what is stated for a row is not the sum over its columns".into());
                }
                let paid = PaidEntry {
                    dataset,
                    run: run.as_deref(),
                    what,
                    relation,
                    columns,
                    stored: *stored,
                };
                self.account_mut(dataset).released.note(paid)?;
                if let Some(run) = run {
                    self.run_mut(dataset, run).desensitise(columns, relation);
                }
            }
            Event::Redraw { dataset, run, what } => {
                let account = self.existing_mut(dataset)?;
                account.released.note_redraw(run, what)?;
            }
            Event::Kept {
                dataset,
                run,
                what,
                draw,
                price,
                portion,
                digest,
            } => {
                if digest.len() != 64 || !digest.bytes().all(|b| b.is_ascii_hexdigit()) {
                    return Err("a kept value has no digest of 32 bytes".into());
                }
                let at = KeptAt {
                    entry: number,
                    digest: digest.clone(),
                };
                let account = self.existing_mut(dataset)?;
                match (draw, price) {
                    (None, None) if account.contributed.has_run(run) && portion.is_none() => {
                        account.contributed.note_kept(run, what, at)?;
                    }
                    (None, None) if portion.is_none() => account.released.note_kept(run, what, at)?,
                    (Some(draw), Some(price)) => {
                        let drawn = (draw.as_str(), *price, *portion);
                        account.reserved.note_kept((run, what), drawn, at)?;
                    }
                    _ => return Err("a draw of a reservation has a label and a price".into()),
                }
            }
            Event::Leak {
                dataset,
                what,
                to,
                count,
                run,
                relation,
                ..
            } => {
                if let (Some(run), Some(item)) = (run, Leakage::of(event)) {
                    self.run_mut(dataset, run).leak(item, relation.as_ref());
                }
                let account = self.account_mut(dataset);
                account.leaks = account.leaks.saturating_add(*count);
                if let Some(run) = run {
                    let shown = (run.clone(), what.clone(), to.clone(), *count);
                    account.shown.insert(shown);
                }
            }
            Event::Void {
                dataset,
                because,
                run,
                relation,
            } => {
                if let Some(run) = run {
                    self.run_mut(dataset, run).void(because, relation.as_ref());
                }
                self.account_mut(dataset)
                    .void
                    .get_or_insert_with(|| because.clone());
            }
            Event::Adopt { dataset, of } => {
                if self.names.contains_key(dataset) {
                    return Err(format!(
                        "'{dataset}' has a budget of its own and cannot adopt another"
                    ));
                }
                let owner = self
                    .names
                    .get(of)
                    .ok_or(format!("there is no data set '{of}'"))?
                    .clone();
                self.names.insert(dataset.clone(), owner);
            }
        }
        Ok(())
    }

    /// Whether `price` could be paid now; if not, the refusal.
    pub(in crate::privacy) fn admits(
        &self,
        dataset: &str,
        relation: &Relation,
        price: Price,
        added: bool,
    ) -> Result<(), Box<Refusal>> {
        let account = self
            .account(dataset)
            .ok_or_else(|| Refusal::no_budget(dataset, relation, None))?;
        if let Some(refusal) = account.other_unit(dataset, relation) {
            return Err(refusal.into());
        }
        if !account.lines.contains_key(relation) {
            return Err(Refusal::no_budget(dataset, relation, account.second_to(relation)));
        }
        let spent = Spent {
            relation: relation.clone(),
            price,
            assuming: Vec::new(),
            sharing: None,
            added,
        };
        account
            .charged(&spent)
            .map(drop)
            .map_err(|over| Refusal::no_room(dataset, price, &over, &account.lines[&over]))
    }

    /// The privacy loss of releasing `columns`, between two rows; or why they cannot be released.
    pub(in crate::privacy) fn desensitises(
        &self,
        dataset: &str,
        relation: &Relation,
        columns: &[Distance],
    ) -> Result<Loss, Box<Refusal>> {
        let account = self.account(dataset).filter(|a| a.lines.contains_key(relation));
        let account = account.ok_or_else(|| Refusal::no_budget(dataset, relation, None))?;
        account.released.admits(dataset, relation, columns)
    }

    /// The entry that paid for columns among `names` for this purpose, if one did; or the refusal.
    pub(in crate::privacy) fn paid_columns(
        &self,
        dataset: &str,
        what: &str,
        names: &[&str],
    ) -> Result<Option<&PaidColumns>, Box<Refusal>> {
        let released = self.account(dataset).map(|account| &account.released);
        released.map_or(Ok(None), |released| released.find(dataset, what, names))
    }

    /// What a run has reserved for a purpose, if its draws are stored with the ledger or enter joint sums.
    pub(in crate::privacy) fn reserved(&self, dataset: &str, run: &str, what: &str) -> Option<&PaidDraws> {
        self.account(dataset)?.reserved.get(run, what)
    }

    /// Whether this run has shown this already.
    pub(in crate::privacy) fn has_shown(&self, dataset: &str, shown: &Shown) -> bool {
        self.account(dataset)
            .is_some_and(|account| account.shown.contains(shown))
    }

    /// What the entries of one run say.
    pub(in crate::privacy) fn run(&self, dataset: &str, name: &str) -> Option<&Run> {
        self.runs.get(&(dataset.to_owned(), public_name(name)))
    }

    /// The certificate that follows from the entries of these runs on a data set, as if it were made now; `None` if one of them has
    /// no entry here. Runs go by the names that certificates know them by. `relation` is whose rows they are about, where their entries do not say it.
    pub fn certificate(&self, dataset: &str, runs: &[String], relation: &Relation) -> Option<Certificate> {
        let found: Vec<&Run> = runs
            .iter()
            .map(|name| self.runs.get(&(dataset.to_owned(), name.clone())))
            .collect::<Option<_>>()?;
        let last = found.last()?.relation().unwrap_or(relation);
        let stand = Stand {
            names: runs.to_vec(),
            total: self.account(dataset).and_then(|account| account.total(last)),
            head: self.head.clone(),
            commitment: None,
            recorded: true,
        };
        Some(Certificate::of(dataset, relation, &found, stand))
    }

    /// Whether a run has entries here, on whichever data set, by the name that certificates know it by.
    pub fn knows_run(&self, name: &str) -> bool {
        self.runs.keys().any(|(_, known)| known == name)
    }

    /// The budget that goes by this name.
    pub fn account(&self, dataset: &str) -> Option<&Account> {
        self.accounts.get(self.names.get(dataset)?)
    }

    getters! {
        /// All names of data sets, each with the name its budget is kept under.
        pub names(&names) -> &BTreeMap<String, String>;
        /// The end of the chain.
        pub head(&head) -> &Head;
    }

    /// Whether the chain once ended in `head`: false after a rollback, a cut or in another ledger.
    pub fn contains(&self, head: &Head) -> bool {
        let place = usize::try_from(head.entries).ok().and_then(|n| n.checked_sub(1));
        place.and_then(|p| self.heads.get(p)) == Some(&head.hash)
    }

    fn run_mut(&mut self, dataset: &str, name: &str) -> &mut Run {
        let key = (dataset.to_owned(), public_name(name));
        self.runs.entry(key).or_default()
    }

    fn existing_mut(&mut self, dataset: &str) -> Result<&mut Account, String> {
        let owner = self.names.get(dataset);
        let account = owner.and_then(|owner| self.accounts.get_mut(owner));
        account.ok_or_else(|| format!("there is no data set '{dataset}'"))
    }

    fn account_mut(&mut self, dataset: &str) -> &mut Account {
        let owner = self
            .names
            .entry(dataset.to_owned())
            .or_insert_with(|| dataset.to_owned());
        self.accounts.entry(owner.clone()).or_default()
    }
}

/// Whether all rows of a unit are known to be of one unit, so that one coin can decide about all of them.
pub(in crate::privacy) fn stays_together(relation: &Relation) -> bool {
    relation.unit().is_some() || relation.rows().get() == 1
}
