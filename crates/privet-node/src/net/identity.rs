//! The key of a party: it is known by it in agreements and on connections, and certifies with it the key that signs its certificates.

use std::fs;
use std::path::{Path, PathBuf};

use privet::Error;
use privet::error::JournalFault;
use privet::privacy::signature::{PublicKey, Purpose, Signature, SigningKey};
use zeroize::Zeroizing;

use crate::ledger::{secret_create, secret_load};

const NAME: &str = "the key that this party is known by";

/// The key of this party. No `Debug`, on purpose.
pub struct Identity {
    seed: Zeroizing<[u8; 32]>,
}

impl Identity {
    /// The file of the key in a folder.
    pub fn file(folder: &Path) -> PathBuf {
        folder.join("identity")
    }

    /// Draws a key and writes it into a folder, which is made if it is not there. Its owner alone can read it.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is a key already, or the folder cannot be written.
    pub fn create(folder: &Path) -> Result<Self, Error> {
        let file = Self::file(folder);
        if fs::symlink_metadata(&file).is_ok() {
            let why = format!("there is a key already: {}", file.display());
            return Err(Error::journal(JournalFault::Occupied, why));
        }
        make_folder(folder).map_err(|e| {
            let why = format!("the folder {} cannot be made: {e}", folder.display());
            Error::journal(JournalFault::Storage, why)
        })?;
        let seed = Zeroizing::new(secret_create(&file, NAME)?);
        Ok(Self { seed })
    }

    /// Reads the key of a folder.
    ///
    /// # Errors
    /// [`Error::Journal`] if it is missing, damaged, or can be read by others.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let file = Self::file(folder);
        if fs::symlink_metadata(&file).is_err() {
            let why = format!(
                "there is no key {} yet: run `privet keys init`, and tell the other parties its fingerprint",
                file.display()
            );
            return Err(Error::journal(JournalFault::Key, why));
        }
        let seed = Zeroizing::new(secret_load(&file, NAME)?);
        Ok(Self { seed })
    }

    /// The key of these bytes.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self {
            seed: Zeroizing::new(seed),
        }
    }

    /// The public key.
    pub fn public(&self) -> PublicKey {
        self.key().public()
    }

    /// The key, for a role that signs with it.
    pub fn key(&self) -> SigningKey {
        SigningKey::from_bytes(&self.seed)
    }

    /// The bytes of the key.
    pub(super) fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// That the holder of this identity signs certificates with this key.
    pub fn certify(&self, certificates: &PublicKey) -> Signature {
        self.key().sign(Purpose::CertificateKey, &certificates.to_bytes())
    }
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}
