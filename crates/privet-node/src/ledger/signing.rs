//! The key that certificates and models are signed with. It is not the key by which tables are recognised: that one never has to be
//! named to anybody, this one's fingerprint is made public.

use privet::Error;
use privet::privacy::signature::{PublicKey, SigningKey};
use rusqlite::OptionalExtension;

use super::schema::{beside, fault, has_table};
use super::{Store, secret};

const NAME: &str = "the key that models are signed with";

/// Ledgers that were made before models were signed have no such table.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS signing(public TEXT NOT NULL)";

/// The public half of the key, if the ledger has one.
pub(super) fn public(store: &Store) -> Result<Option<PublicKey>, Error> {
    let bad = |e: rusqlite::Error| fault(&store.path, &e);
    let connection = &store.connection;
    if !has_table(connection, "signing").map_err(bad)? {
        return Ok(None);
    }
    let public: Option<String> = connection
        .query_row("SELECT public FROM signing", [], |row| row.get(0))
        .optional()
        .map_err(bad)?;
    let damaged = |e: Error| super::schema::damaged(&store.path, &e.to_string());
    public.map(|text| text.parse().map_err(damaged)).transpose()
}

/// The key; made when it is needed for the first time.
pub(super) fn key(store: &Store) -> Result<SigningKey, Error> {
    if !store.writes {
        return Err(Error::misuse(
            "a ledger that is open for reading cannot make a key",
        ));
    }
    let bad = |e: rusqlite::Error| fault(&store.path, &e);
    let known = public(store)?;
    let path = beside(&store.path, ".signing");
    let bytes = if known.is_none() && !path.exists() {
        secret::create(&path, NAME)?
    } else {
        secret::load(&path, NAME)?
    };
    let key = SigningKey::from_bytes(&bytes);
    match known {
        Some(known) if known == key.public() => {}
        Some(known) => {
            return Err(journal!(
                Key,
                "{NAME}, {}, is damaged or belongs to another ledger: this ledger's key has the fingerprint {}. Put it back from a backup.",
                path.display(),
                known.fingerprint()
            ));
        }
        None => {
            store.connection.execute(TABLE, []).map_err(bad)?;
            // Another process may have been first: it has the same key then.
            let insert = "INSERT INTO signing(public) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM signing)";
            let text = key.public().to_string();
            store.connection.execute(insert, [&text]).map_err(bad)?;
            if public(store)? != Some(key.public()) {
                return Err(Error::internal("processes that make a key at once make one key"));
            }
        }
    }
    Ok(key)
}
