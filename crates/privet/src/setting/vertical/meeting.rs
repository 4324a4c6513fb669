//! How rows of two parties are matched without showing other ids: by private set intersection.

use privet_mpc::psi;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::message::Message;
use super::{Alignment, Vertical};
use crate::Error;
use crate::data::{Cells, Names};
use crate::error::JournalFault;
use crate::party::{Agreement, Context, PartyId};
use crate::privacy::joint::Leak;
use crate::privacy::{Anchor, Certificate, Guarantee, Ledger, Neighbours, Private};
use crate::wire::{MOST_BYTES, Malformed, Reader, Wire, Writer};

/// What a feature holder shows when rows are matched; if there are `others`, these learn something, too.
pub(super) fn leaks_of_feature_holder(others: bool) -> Vec<Leak> {
    let whom = "which of the label holder's people it has rows of";
    let mut leaks = shown([whom, "how many rows it has"], "the label holder");
    if others {
        let whom = "which of their people all parties have rows of, it included";
        leaks.extend(shown([whom], "each other feature holder"));
    }
    leaks
}

/// What a label holder shows when rows are matched.
pub(super) fn leaks_of_label_holder() -> Vec<Leak> {
    let whom = "which of its people all parties have rows of";
    shown([whom, "how many rows it has"], "each feature holder")
}

/// What a label holder shows whose rows and labels are used as they are: when rows are matched, and if its model `asks` about columns.
pub(super) fn leaks_of_open_label_holder(vertical: &Vertical, asks: bool) -> Vec<Leak> {
    let mut leaks = match vertical.alignment {
        Alignment::Private => leaks_of_label_holder(),
        Alignment::Given => Vec::new(),
    };
    if asks {
        let what = "what the model asks about that one's columns, which follows from labels";
        leaks.push(Leak::new(
            what,
            "each feature holder",
            Anchor::new("alignment#questions"),
        ));
    }
    leaks
}

fn shown<const N: usize>(what: [&'static str; N], to: &'static str) -> Vec<Leak> {
    what.map(|what| Leak::new(what, to, Anchor::new("alignment#intersection")))
        .into()
}

/// Writes down what is disclosed, and gives the ids out for a private set intersection.
pub(super) fn disclose<N: Neighbours>(
    ledger: &mut Ledger<N>,
    leaks: &[Leak],
    ids: Private<Names>,
) -> Result<Names, Error> {
    let Some((first, others)) = leaks.split_first() else {
        return Err(Error::internal("nothing is disclosed without saying what"));
    };
    for leak in others {
        ledger.disclose(leak, Private::new(()), 1)?;
    }
    Ok(ledger.disclose(first, ids, 1)?.into_inner())
}

// Whatever number of ids is agreed on, an answer about them fits into a message.
const _: () = assert!(psi::MOST_IDS * 48 + (1 << 20) <= MOST_BYTES);

/// The meeting with one feature holder, under a name that is nobody else's and no other run's, with as many ids as were agreed on.
pub(super) fn run(agreement: &Agreement, feature_holder: PartyId, vertical: &Vertical) -> psi::Run {
    let hash = Sha256::new_with_prefix(b"privet vertical meeting 1")
        .chain_update(agreement.run().0)
        .chain_update(feature_holder.0.to_le_bytes());
    // Without a number nobody may bring any: parameters were checked for it.
    let most = vertical.most_ids.unwrap_or(0);
    let most = most.min(agreement.terms().limits.most_ids.unwrap_or(most));
    psi::Run::new(hash.finalize().into()).with_at_most(usize::try_from(most).unwrap_or(usize::MAX))
}

/// A key of one's own, kept so that an interrupted run says the same again.
pub(super) fn key(what: &str, context: &mut Context<'_, Message>) -> Result<psi::Key, Error> {
    let KeptKey(key) = context.once(what, || {
        let key = psi::Key::from_os().map_err(|e| match e {
            privet_mpc::Error::Randomness(why) => Error::Randomness(why),
            other => Error::internal(format!(
                "drawing a key fails for want of randomness only ({other})"
            )),
        })?;
        Ok(KeptKey(key))
    })?;
    Ok(key)
}

/// A key on its way into the record and out of it: no copy stays in memory.
struct KeptKey(psi::Key);

impl Wire for KeptKey {
    fn write(&self, to: &mut Writer) {
        to.fixed(self.0.expose());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let key = Zeroizing::new(from.array()?);
        Ok(Self(psi::Key::new(&key)))
    }
}

/// What this party says about its ids in a run: the same whenever the run is taken up again. Another table would say something
/// else, under a disclosure that was written down for the first.
///
/// # Errors
/// [`Error::Data`] if it is not what was said before.
pub(super) fn same(what: &str, said: &[u8], context: &mut Context<'_, Message>) -> Result<(), Error> {
    let digest: [u8; 32] = Sha256::digest(said).into();
    if context.once(what, || Ok(digest))? == digest {
        return Ok(());
    }
    Err(other_ids())
}

/// The error for a run that is taken up with other ids.
pub(super) fn other_ids() -> Error {
    Error::data(
        "this run was begun with other ids: go on with the table it was begun with, or begin a new run",
    )
}

/// A digest of ids in their order.
pub(super) fn digest(ids: &Names) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"privet ids 1");
    for id in ids.iter() {
        hash.update((id.len() as u64).to_le_bytes());
        hash.update(id);
    }
    hash.finalize().into()
}

/// The ids of all rows.
pub(super) fn ids(cells: &Cells) -> Names {
    cells.ids().cloned().unwrap_or_default()
}

/// Ids that can be matched: one for each row, none twice.
pub(super) fn checked(ids: &Names) -> Result<psi::Ids, Error> {
    if ids.is_empty() {
        return Err(Error::data(
            "there are no ids to match rows by: the table is empty, or was read without them",
        ));
    }
    psi::Ids::new(ids.iter()).map_err(|e| unmatched(&e))
}

/// That one's own rows cannot be matched.
pub(super) fn unmatched(why: &privet_mpc::Error) -> Error {
    Error::data(format!("rows cannot be matched: {why}"))
}

/// The same for columns that a feature holder has released. What earlier runs showed to others is not said to this run's parties.
pub(super) fn certified_columns(
    mut promised: Certificate,
    ledger: Ledger,
    context: &mut Context<'_, Message>,
) -> Result<Certificate, Error> {
    promised
        .claims
        .retain(|claim| !matches!(claim.guarantee, Guarantee::Simulated { .. }));
    certified(promised, ledger, context)
}

/// What was promised when values were released, and what this run showed besides.
pub(super) fn certified(
    promised: Certificate,
    ledger: Ledger,
    context: &mut Context<'_, Message>,
) -> Result<Certificate, Error> {
    let closed = || Ok(ledger.close_after(&promised.runs).to_json().into_bytes());
    let said = context.once("the certificate", closed)?;
    let said = std::str::from_utf8(&said).ok().and_then(Certificate::from_json);
    let said =
        said.ok_or_else(|| Error::journal(JournalFault::Damaged, "the record's certificate is damaged"))?;
    // A total that does not count what was released before is none.
    Ok(promised.and(said))
}
