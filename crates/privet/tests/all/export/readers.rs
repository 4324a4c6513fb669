//! Small readers of binary formats.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Universal Binary JSON as XGBoost writes it.
pub(crate) fn ubj(bytes: &[u8]) -> Value {
    let mut reader = Reader(bytes);
    let value = reader.value();
    assert!(reader.0.is_empty(), "{} bytes behind the end", reader.0.len());
    value
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (head, tail) = self.0.split_at(count);
        self.0 = tail;
        head
    }

    fn byte(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn length(&mut self) -> usize {
        assert_eq!(self.byte(), b'L');
        i64::from_be_bytes(self.take(8).try_into().unwrap()) as usize
    }

    fn text(&mut self) -> String {
        let length = self.length();
        String::from_utf8(self.take(length).to_vec()).unwrap()
    }

    fn number(&mut self, kind: u8) -> Value {
        match kind {
            b'U' => json!(self.byte()),
            b'l' => json!(i32::from_be_bytes(self.take(4).try_into().unwrap())),
            b'L' => json!(i64::from_be_bytes(self.take(8).try_into().unwrap())),
            b'd' => {
                // By the way of text, so that it is the same double as in the JSON file.
                let single = f32::from_be_bytes(self.take(4).try_into().unwrap());
                json!(format!("{single:?}").parse::<f64>().unwrap())
            }
            other => panic!("no such number: {other}"),
        }
    }

    fn value(&mut self) -> Value {
        match self.byte() {
            b'S' => json!(self.text()),
            b'{' => {
                let mut map = Map::new();
                while self.0[0] != b'}' {
                    let key = self.text();
                    map.insert(key, self.value());
                }
                self.byte();
                Value::Object(map)
            }
            b'[' => {
                let kind = (self.0[0] == b'$').then(|| self.take(2)[1]);
                assert_eq!(self.byte(), b'#');
                let length = self.length();
                let values = (0..length).map(|_| match kind {
                    Some(kind) => self.number(kind),
                    None => self.value(),
                });
                Value::Array(values.collect())
            }
            kind => self.number(kind),
        }
    }
}

/// The fields of a message in Protocol Buffers' encoding, by number.
pub(crate) type Fields<'a> = BTreeMap<u64, Vec<Field<'a>>>;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Field<'a> {
    Whole(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    pub(crate) fn whole(self) -> u64 {
        match self {
            Self::Whole(whole) => whole,
            Self::Bytes(_) => panic!("bytes where a number was expected"),
        }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Whole(_) => panic!("a number where bytes were expected"),
        }
    }

    pub(crate) fn text(self) -> &'a str {
        std::str::from_utf8(self.bytes()).unwrap()
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}

pub(crate) fn message(mut bytes: &[u8]) -> Fields<'_> {
    let mut fields = Fields::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Whole(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (head, tail) = bytes.split_at(length);
                bytes = tail;
                Field::Bytes(head)
            }
            other => panic!("no such wire type: {other}"),
        };
        fields.entry(key >> 3).or_default().push(field);
    }
    fields
}

pub(crate) fn wholes(mut bytes: &[u8]) -> Vec<usize> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        all.push(varint(&mut bytes) as usize);
    }
    all
}

pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}
