//! One file, with a version, a checksum and a signature.

use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::{Model, Settings};
use crate::Error;
use crate::boost::Ensemble;
use crate::data::Schema;
use crate::privacy::Certificate;
use crate::privacy::journal::hexadecimal;
use crate::privacy::signature::{PublicKey, Purpose, Signature, SigningKey};

/// The version of the format that is written; it changes when older readers would misread a file.
const VERSION: u64 = 2;

/// The version whose files are never signed.
const UNSIGNED: u64 = 1;

/// All that every version of the format has in common.
#[derive(Deserialize)]
struct Marked {
    #[serde(rename = "privet-model")]
    version: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    #[serde(rename = "privet-model")]
    version: u64,
    sha256: String,
    #[serde(default)]
    signature: Option<Signature>,
    #[serde(borrow)]
    body: &'a RawValue,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    /// As in a schema file.
    schema: String,
    ensemble: Ensemble,
    certificate: Certificate,
    settings: Settings,
}

/// The format version and the signer of a model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The version of its format.
    pub version: u64,
    /// The key that signed it; compare its fingerprint to know whose it is.
    pub signer: Option<PublicKey>,
}

impl Origin {
    /// Whether it was written before models were signed.
    pub fn is_older(&self) -> bool {
        self.version == UNSIGNED
    }
}

impl Model {
    /// The model as a file: one line of JSON. The checksum is over the exact bytes of its body.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = self.body();
        sealed(&body, None)
    }

    /// As [`to_bytes`](Self::to_bytes), with a signature over the exact bytes of its body.
    pub fn to_signed_bytes(&self, key: &SigningKey) -> Vec<u8> {
        let body = self.body();
        let signature = key.sign(Purpose::Model, body.as_bytes());
        sealed(&body, Some(signature))
    }

    fn body(&self) -> String {
        let body = Body {
            schema: self.schema().to_toml(),
            ensemble: self.ensemble().clone(),
            certificate: self.certificate().clone(),
            settings: self.settings().clone(),
        };
        // Unwrap safety: plain structs with text keys always serialise; a model's numbers are finite.
        serde_json::to_string(&body).expect("a body is plain data")
    }

    /// Reads a model's file.
    ///
    /// # Errors
    /// [`Error::Data`] for a file that is not a model, is cut off, was changed, is too new, is badly signed or inconsistent.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_file(bytes).map(|(model, _)| model)
    }

    /// Reads a model's file, and what it says of itself.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_file(bytes: &[u8]) -> Result<(Self, Origin), Error> {
        let bad = |why: String| Error::data(why);
        let marked: Marked = serde_json::from_slice(bytes).map_err(|e| bad(explain(bytes, &e)))?;
        match marked.version {
            Some(UNSIGNED..=VERSION) => {}
            Some(newer) if newer > VERSION => {
                return Err(bad(format!(
                    "the model was written by a newer privet (format {newer}; this one reads {VERSION}): update privet to read it"
                )));
            }
            _ => return Err(bad(NO_MODEL.into())),
        }
        let envelope: Envelope<'_> = serde_json::from_slice(bytes)
            .map_err(|e| bad(format!("this is not a model file written by privet: {e}")))?;
        let (version, body) = (envelope.version, envelope.body.get());
        if checksum(body.as_bytes()) != envelope.sha256 {
            return Err(bad(
                "the model was changed after it was written: its checksum does not match; use the file as privet wrote it"
                    .into(),
            ));
        }
        let signer = match envelope.signature {
            Some(_) if version == UNSIGNED => {
                return Err(bad(
                    "a model of format 1 has no signature: the file was changed".into()
                ));
            }
            Some(signature) => Some(signature.verify(Purpose::Model, body.as_bytes())?),
            None => None,
        };
        let body: Body =
            serde_json::from_str(body).map_err(|e| bad(format!("the model's body is invalid: {e}")))?;
        // Runs have had names for as long as models have been signed.
        if version == UNSIGNED && !body.certificate.runs.is_empty() {
            return Err(bad(
                "the file says that it is of format 1, and its certificate is newer: its signature was taken out".into(),
            ));
        }
        let schema = Schema::from_stored("the model's schema", &body.schema)?;
        let model = Self::new(schema, body.ensemble, body.certificate, body.settings)?;
        Ok((model, Origin { version, signer }))
    }
}

impl Model {
    /// Whether a file that begins with `bytes` is a model's, of this or another version, whole or not.
    pub fn is_begun(bytes: &[u8]) -> bool {
        bytes.starts_with(BEGINS)
    }
}

/// How every model's file begins.
const BEGINS: &[u8] = b"{\"privet-model\":";

fn sealed(body: &str, signature: Option<Signature>) -> Vec<u8> {
    let signature = signature.map_or_else(String::new, |signature| {
        // Unwrap safety: two texts always serialise.
        let signature = serde_json::to_string(&signature).expect("a signature is plain data");
        format!("\"signature\":{signature},")
    });
    format!(
        "{{\"privet-model\":{VERSION},\"sha256\":\"{}\",{signature}\"body\":{body}}}\n",
        checksum(body.as_bytes())
    )
    .into_bytes()
}

const NO_MODEL: &str = "this is not a model file: one begins with {\"privet-model\":";

fn explain(bytes: &[u8], error: &serde_json::Error) -> String {
    if bytes.is_empty() {
        return "the model's file is empty".into();
    }
    match error.classify() {
        Category::Eof => format!(
            "the model's file is cut off: it ends in the middle, after {} bytes; copy it again",
            bytes.len()
        ),
        _ if Model::is_begun(bytes) => {
            format!("the model was changed after it was written: {error}; use the file as privet wrote it")
        }
        _ => NO_MODEL.into(),
    }
}

fn checksum(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}
