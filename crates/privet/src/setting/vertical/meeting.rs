//! How rows of two parties meet without showing other ids: private set intersection, in this setting's words.

use privet_mpc::psi;
use sha2::{Digest, Sha256};

use super::message::Message;
use crate::Error;
use crate::data::{Cells, Names};
use crate::party::{Context, PartyId};
use crate::privacy::Anchor;
use crate::privacy::joint::Leak;
use crate::wire::RunId;

/// What a feature holder shows by meeting.
pub(super) fn leaks_of_feature_holder() -> Vec<Leak> {
    let whom = "which of the label holder's people it has rows of";
    shown([whom, "how many rows it has"], "the label holder")
}

/// What a label holder shows by meeting.
pub(super) fn leaks_of_label_holder() -> Vec<Leak> {
    let whom = "which of its people all parties have rows of";
    shown([whom, "how many rows it has"], "each feature holder")
}

fn shown(what: [&'static str; 2], to: &'static str) -> Vec<Leak> {
    what.map(|what| Leak::new(what, to, Anchor::new("alignment#intersection")))
        .into()
}

/// The name of the meeting with one feature holder: nobody else's, and no other run's.
pub(super) fn run(run: RunId, feature_holder: PartyId) -> psi::Run {
    let hash = Sha256::new_with_prefix(b"privet vertical meeting 1")
        .chain_update(run.0)
        .chain_update(feature_holder.0.to_le_bytes());
    psi::Run::new(hash.finalize().into())
}

/// A key of one's own, kept so that an interrupted run says the same again.
pub(super) fn key(what: &str, context: &mut Context<'_, Message>) -> Result<psi::Key, Error> {
    let key = context.once(what, || {
        let key = psi::Key::from_os().map_err(|e| Error::Randomness(e.to_string()))?;
        Ok(*key.expose())
    })?;
    Ok(psi::Key::new(key))
}

/// The ids of all rows.
pub(super) fn ids(cells: &Cells) -> Names {
    cells.ids().cloned().unwrap_or_default()
}

/// Ids that can meet: one each, none twice.
pub(super) fn checked(ids: &Names) -> Result<psi::Ids, Error> {
    if ids.is_empty() {
        return Err(Error::Data(
            "there are no ids to meet by: the table is empty, or was read without them".into(),
        ));
    }
    psi::Ids::new(ids.iter()).map_err(|e| Error::Data(format!("rows cannot meet: {e}")))
}
