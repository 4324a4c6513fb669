//! Universal Binary JSON, as XGBoost writes it: lists of numbers that belong to nodes have a type, all others a count.

use super::value::Value;

/// A document in bytes.
pub(super) fn encode(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out, value);
    out
}

fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Text(text) => {
            out.push(b'S');
            length(out, text.len());
            out.extend_from_slice(text.as_bytes());
        }
        Value::Whole(whole) => {
            out.push(b'L');
            out.extend_from_slice(&whole.to_be_bytes());
        }
        Value::List(values) => {
            out.extend_from_slice(b"[#");
            length(out, values.len());
            values.iter().for_each(|value| write(out, value));
        }
        Value::Map(pairs) => {
            out.push(b'{');
            for (key, value) in pairs {
                length(out, key.len());
                out.extend_from_slice(key.as_bytes());
                write(out, value);
            }
            out.push(b'}');
        }
        Value::Floats(values) => typed(out, b'd', values.iter().map(|x| x.to_be_bytes())),
        Value::Ints(values) => typed(out, b'l', values.iter().map(|x| x.to_be_bytes())),
        Value::Longs(values) => typed(out, b'L', values.iter().map(|x| x.to_be_bytes())),
        Value::Bytes(values) => typed(out, b'U', values.iter().map(|x| x.to_be_bytes())),
    }
}

fn typed<const N: usize>(out: &mut Vec<u8>, kind: u8, values: impl ExactSizeIterator<Item = [u8; N]>) {
    out.extend_from_slice(&[b'[', b'$', kind, b'#']);
    length(out, values.len());
    values.for_each(|value| out.extend_from_slice(&value));
}

/// XGBoost counts in eight bytes always.
fn length(out: &mut Vec<u8>, length: usize) {
    out.push(b'L');
    out.extend_from_slice(&(length as u64).to_be_bytes());
}
