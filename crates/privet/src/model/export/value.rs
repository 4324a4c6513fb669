//! A document as XGBoost writes it.

/// A value. Lists of numbers are apart: in binary they have a type of their own.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Whole(i64),
    List(Vec<Value>),
    Map(Vec<(&'static str, Value)>),
    Floats(Vec<f32>),
    Ints(Vec<i32>),
    Longs(Vec<i64>),
    Bytes(Vec<u8>),
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A map of texts.
    pub(super) fn texts<const N: usize>(pairs: [(&'static str, &str); N]) -> Self {
        Self::Map(pairs.map(|(key, text)| (key, Self::text(text))).into())
    }

    pub(super) fn wholes(wholes: impl IntoIterator<Item = usize>) -> Self {
        let wholes = wholes.into_iter().map(|whole| Self::Whole(whole as i64));
        Self::List(wholes.collect())
    }

    /// As JSON, in one line. Floats have as many digits as tell them apart.
    pub(super) fn to_json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => quoted(out, text),
            Self::Whole(whole) => out.push_str(&whole.to_string()),
            Self::List(values) => list(out, values, |out, value| value.write(out)),
            Self::Floats(values) => list(out, values, |out, value| out.push_str(&format!("{value:?}"))),
            Self::Ints(values) => list(out, values, |out, value| out.push_str(&value.to_string())),
            Self::Longs(values) => list(out, values, |out, value| out.push_str(&value.to_string())),
            Self::Bytes(values) => list(out, values, |out, value| out.push_str(&value.to_string())),
            Self::Map(pairs) => {
                out.push('{');
                for (place, (key, value)) in pairs.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    quoted(out, key);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn list<T>(out: &mut String, values: &[T], write: impl Fn(&mut String, &T)) {
    out.push('[');
    for (place, value) in values.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write(out, value);
    }
    out.push(']');
}

fn quoted(out: &mut String, text: &str) {
    // A text becomes a JSON string whatever it holds.
    out.push_str(&serde_json::Value::from(text).to_string());
}
