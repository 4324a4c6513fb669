//! A certificate in a file: alone, beside something else, or in a model.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use privet::model::Model;
use privet::privacy::Certificate;
use privet::privacy::signature::PublicKey;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::verb::exit::Failure;

/// What a file says about itself.
pub(in crate::verb) struct Stated {
    pub(in crate::verb) certificate: Certificate,
    /// Whose key signed it.
    pub(in crate::verb) signer: Option<PublicKey>,
    /// Whether something stands beside the certificate that the signature does not cover, as the report of an evaluation does.
    pub(in crate::verb) beside: bool,
}

impl Stated {
    /// # Errors
    /// A file that cannot be read, is not JSON, has a key twice, or has no certificate or a bad signature.
    pub(in crate::verb) fn read(file: &Path) -> Result<Self, Failure> {
        let bad = |why: String| Failure::input(format!("{}: {why}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|e| bad(format!("it cannot be read: {e}")))?;
        let mut value: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| bad(format!("it is not JSON: {e}")))?;
        if value.get("privet-model").is_some() {
            let (model, origin) = Model::from_file(text.as_bytes()).map_err(|e| bad(e.to_string()))?;
            return Ok(Self {
                certificate: model.certificate().clone(),
                signer: origin.signer,
                beside: false,
            });
        }
        serde_json::from_str::<UniqueKeys>(&text).map_err(|e| bad(format!("it is ambiguous: {e}")))?;
        let beside = match value.get_mut("certificate") {
            Some(inner) => {
                value = inner.take();
                true
            }
            None => false,
        };
        let (certificate, signer) = Certificate::from_file(value).map_err(|e| bad(e.to_string()))?;
        Ok(Self {
            certificate,
            signer,
            beside,
        })
    }
}

/// JSON in which no object has a key twice: readers differ in which of the two they take.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Keys)
    }
}

struct Keys;

/// Whatever has no keys.
macro_rules! scalars {
    ($($visit:ident($($type:ty)?))*) => {$(
        fn $visit<E>(self $(, _: $type)?) -> Result<UniqueKeys, E> {
            Ok(UniqueKeys)
        }
    )*};
}

impl<'de> Visitor<'de> for Keys {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueKeys, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let UniqueKeys = map.next_value()?;
            if let Some(twice) = keys.replace(key) {
                return Err(A::Error::custom(format!("it says \"{twice}\" twice")));
            }
        }
        Ok(UniqueKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueKeys, A::Error> {
        while items.next_element::<UniqueKeys>()?.is_some() {}
        Ok(UniqueKeys)
    }

    scalars!(visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) visit_unit());
}
