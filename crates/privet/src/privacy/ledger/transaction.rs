//! One transaction of a ledger: what others have written is folded into the book, then it is decided, then it is written.

use super::Ledger;
use super::run::RunView;
use crate::Error;
use crate::error::JournalFault;
use crate::privacy::Neighbours;
use crate::privacy::book::Book;
use crate::privacy::journal::{Addition, Entry, Event, Head, Journal, KeptValue, random_name};
use crate::privacy::texts::check_texts;

/// What a transaction writes.
pub(super) enum Step {
    Nothing,
    Write(Event),
    /// An entry that says that a value is kept, together with the value.
    Keep(Event, KeptValue),
}

impl<N: Neighbours> Ledger<N> {
    /// Decides and writes while nobody else can write. What another process has written is in the book before `decide` sees it, so
    /// that two processes never spend the same part of a budget.
    pub(super) fn transact<T>(
        &mut self,
        mut decide: impl FnMut(&RunView<'_>) -> Result<(Step, T), Error>,
    ) -> Result<T, Error> {
        self.check_written()?;
        let relation = self.relation.relation();
        let known = self.book.head().clone();
        let (book, broken) = (&mut self.book, &mut self.broken);
        let (dataset, name, promised) = (self.dataset.as_str(), self.name.as_str(), self.promised);
        let (mut decided, mut written) = (None, None);
        self.journal.transact(&known, &mut |news, now| {
            news.iter().try_for_each(|entry| book.apply(entry))?;
            let view = RunView {
                book,
                dataset,
                relation: relation.clone(),
                name,
                promised,
            };
            let (step, result) = decide(&view)?;
            decided = Some(result);
            let (event, value) = match step {
                Step::Nothing => return Ok(None),
                Step::Write(event) => (event, None),
                Step::Keep(event, value) => (event, Some(value)),
            };
            // What the book would refuse must not reach the journal; everything else was admitted before.
            check_texts(&event).map_err(|why| Error::parameter("what", why))?;
            let entry = Entry::after(book.head(), now, event)?;
            // From here on the entry may be stored, whatever is returned.
            *broken = true;
            written = Some(entry.clone());
            Ok(Some(Addition { entry, value }))
        })?;
        if let Some(entry) = written {
            self.book.apply(&entry)?;
            self.broken = false;
        }
        decided.ok_or_else(|| Error::internal("a journal that has ended a transaction has decided"))
    }

    /// Refuses to go on after a failed write.
    pub(super) fn check_written(&self) -> Result<(), Error> {
        if self.broken {
            return Err(Error::journal(
                JournalFault::Unwritten,
                "an earlier entry could not be written, so nothing more is drawn: open the ledger again",
            ));
        }
        Ok(())
    }

    /// Reads what other processes have written meanwhile.
    pub(super) fn catch_up(&mut self) -> Result<(), Error> {
        if self.broken {
            return Ok(());
        }
        let news = self.journal.read(self.book.head().entries)?;
        news.iter().try_for_each(|entry| self.book.apply(entry))
    }
}

/// Writes the first entry of an empty journal: a random name for the chain.
///
/// # Errors
/// [`Error::Journal`] if the journal has entries or cannot be written.
pub fn begin(journal: &mut impl Journal) -> Result<(), Error> {
    let ledger = random_name::<32>()?;
    append(journal, Event::Begin { ledger })?;
    Ok(())
}

/// Writes one entry that draws nothing, such as a limit or an adoption, and returns the book with it.
///
/// # Errors
/// [`Error::Journal`] if the chain does not verify, the event is invalid there, or it cannot be written.
pub fn append(journal: &mut impl Journal, event: Event) -> Result<Book, Error> {
    let (mut book, mut event) = (Book::default(), Some(event));
    journal.transact(&Head::empty(), &mut |entries, now| {
        book = Book::of(&entries)?;
        let event = event
            .take()
            .ok_or_else(|| Error::internal("a transaction decides once"))?;
        let entry = Entry::after(book.head(), now, event)?;
        book.apply(&entry)?;
        Ok(Some(entry.into()))
    })?;
    Ok(book)
}
