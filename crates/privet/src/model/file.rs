//! One file, with a version and a checksum.

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

/// The version of the format that is written; it changes when older readers would misread a file.
const VERSION: u64 = 2;

/// All that every version of the format has in common.
#[derive(Deserialize)]
struct Marked {
    #[serde(rename = "privet-model")]
    version: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    #[serde(rename = "privet-model")]
    version: u64,
    sha256: String,
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

impl Model {
    /// The model as a file: one line of JSON. The checksum is over the exact bytes of its body.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = Body {
            schema: self.schema().to_toml(),
            ensemble: self.ensemble().clone(),
            certificate: self.certificate().clone(),
            settings: self.settings().clone(),
        };
        // Unwrap safety: plain structs with text keys always serialise; a model's numbers are finite.
        let body = serde_json::to_string(&body).expect("a body is plain data");
        format!(
            "{{\"privet-model\":{VERSION},\"sha256\":\"{}\",\"body\":{body}}}\n",
            checksum(body.as_bytes())
        )
        .into_bytes()
    }

    /// Reads a model's file.
    ///
    /// # Errors
    /// [`Error::Data`] for a file that is no model, is cut off, was changed, is too new, or whose parts do not fit together.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bad = |why: String| Error::Data(why);
        let marked: Marked = serde_json::from_slice(bytes).map_err(|e| bad(explain(bytes, &e)))?;
        match marked.version {
            Some(1..=VERSION) => {}
            Some(newer) if newer > VERSION => {
                return Err(bad(format!(
                    "the model was written by a newer privet (format {newer}; this one reads {VERSION}): update privet to read it"
                )));
            }
            _ => return Err(bad(NO_MODEL.into())),
        }
        let envelope: Envelope<'_> = serde_json::from_slice(bytes)
            .map_err(|e| bad(format!("this is no model that privet wrote: {e}")))?;
        let body = envelope.body.get();
        if checksum(body.as_bytes()) != envelope.sha256 {
            return Err(bad(
                "the model was changed after it was written: its checksum does not match; use the file as privet wrote it"
                    .into(),
            ));
        }
        let body: Body =
            serde_json::from_str(body).map_err(|e| bad(format!("the model's body makes no sense: {e}")))?;
        let schema = Schema::from_toml("the model's schema", &body.schema)?;
        Self::new(schema, body.ensemble, body.certificate, body.settings)
    }
}

const NO_MODEL: &str = "this is no model: a model's file begins with {\"privet-model\":";

fn explain(bytes: &[u8], error: &serde_json::Error) -> String {
    if bytes.is_empty() {
        return "the model's file is empty".into();
    }
    match error.classify() {
        Category::Eof => format!(
            "the model's file is cut off: it ends in the middle, after {} bytes; copy it again",
            bytes.len()
        ),
        _ if bytes.starts_with(b"{\"privet-model\":") => {
            format!("the model was changed after it was written: {error}; use the file as privet wrote it")
        }
        _ => NO_MODEL.into(),
    }
}

fn checksum(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}
