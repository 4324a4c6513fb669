//! Writes messages in the encoding of Protocol Buffers: numbered fields, each a varint, four bytes or a run of bytes.

/// An output buffer for one message.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// The encoded message.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    /// A whole number.
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.key(field, 0);
        self.varint(value as u64);
        self
    }

    /// Bytes, or a text.
    pub(super) fn bytes(mut self, field: u32, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A message inside this one.
    pub(super) fn message(self, field: u32, inner: Self) -> Self {
        self.bytes(field, inner.0)
    }

    /// Whole numbers one after another.
    pub(super) fn ints(self, field: u32, values: impl IntoIterator<Item = i64>) -> Self {
        let mut packed = Self::default();
        values.into_iter().for_each(|value| packed.varint(value as u64));
        self.message(field, packed)
    }

    /// Single-precision numbers one after another.
    pub(super) fn floats(self, field: u32, values: &[f32]) -> Self {
        let packed: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.bytes(field, packed)
    }
}
