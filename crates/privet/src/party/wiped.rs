//! Bytes that may hold a secret, and are many.

use std::fmt;

use zeroize::{Zeroize, Zeroizing};

use crate::wire::{Shared, Wire, Writer};

/// The bytes of a state. They are wiped when they go, eight at a time; all but those that the role shares, which are no secret: they are neither
/// copied nor wiped, because a state is handed over after every tree and most of it is what all know.
#[derive(Clone)]
pub(super) struct Wiped {
    own: Vec<u8>,
    /// Bytes that stand before a place of the others.
    shared: Shared,
}

impl Wiped {
    /// What a role hands over.
    pub(super) fn of(state: &impl Wire) -> Self {
        let (own, shared) = Writer::sharing(state);
        Self { own, shared }
    }

    fn len(&self) -> usize {
        self.own.len() + self.shared.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
    }

    /// All bytes, part by part.
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self
            .shared
            .iter()
            .map(|(before, _)| *before)
            .chain([self.own.len()]);
        let mut from = 0;
        let own = ends.map(move |end| &self.own[std::mem::replace(&mut from, end)..end]);
        let shared = self.shared.iter().map(|(_, bytes)| &**bytes).chain([&[][..]]);
        own.zip(shared).flat_map(|(own, shared)| [own, shared])
    }

    /// All bytes in one place.
    pub(super) fn whole(&self) -> Zeroizing<Vec<u8>> {
        let mut whole = Zeroizing::new(Vec::with_capacity(self.len()));
        self.parts().for_each(|part| whole.extend_from_slice(part));
        whole
    }

    /// All bytes, after their length.
    pub(super) fn write(&self, to: &mut Writer) {
        to.long(self.len() as u64);
        self.parts().for_each(|part| to.fixed(part));
    }
}

impl From<Vec<u8>> for Wiped {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            own: bytes,
            shared: Vec::new(),
        }
    }
}

impl PartialEq for Wiped {
    fn eq(&self, other: &Self) -> bool {
        self.whole() == other.whole()
    }
}

impl Eq for Wiped {}

impl Drop for Wiped {
    fn drop(&mut self) {
        // What stood behind the end before is wiped as well.
        self.own.resize(self.own.capacity(), 0);
        wipe(&mut self.own);
    }
}

impl fmt::Debug for Wiped {
    /// Does not print the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wiped({} bytes)", self.len())
    }
}

/// Overwrites bytes with zeros, whatever becomes of them afterwards.
fn wipe(bytes: &mut [u8]) {
    let (first, words, last) = bytemuck::pod_align_to_mut::<u8, u64>(bytes);
    first.zeroize();
    words.zeroize();
    last.zeroize();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::wire::{Malformed, Reader};

    /// Numbers, some of which are shared.
    struct Parts([Arc<[u8]>; 3]);

    impl Wire for Parts {
        fn write(&self, to: &mut Writer) {
            to.shared(&self.0[0]);
            to.byte(1);
            to.shared(&self.0[1]);
            to.shared(&self.0[2]);
            to.byte(2);
        }

        fn read(_: &mut Reader<'_>) -> Result<Self, Malformed> {
            Err(Malformed::new("it is only written"))
        }
    }

    #[test]
    fn what_is_shared_stands_where_it_was_written() {
        let parts = Parts([&[9][..], &[], &[7, 8]].map(Arc::from));
        let state = Wiped::of(&parts);
        assert_eq!(*state.own, [1, 2]);
        let whole = vec![9, 1, 7, 8, 2];
        assert_eq!((&*state.whole(), parts.to_bytes()), (&whole, whole.clone()));
        assert_eq!((state.len(), &state), (5, &Wiped::from(whole.clone())));
        let (mut written, mut expected) = (Writer::default(), Writer::default());
        state.write(&mut written);
        expected.bytes(&whole);
        assert_eq!(written.into_bytes(), expected.into_bytes());
    }

    /// Wherever they begin and end, and nothing beside them.
    #[test]
    fn all_bytes_are_wiped_and_no_others() {
        for first in 0..17 {
            for end in first..40 {
                let mut bytes = [7; 40];
                wipe(&mut bytes[first..end]);
                let zeros = |(at, byte): (usize, &u8)| (*byte == 0) == (first..end).contains(&at);
                assert!(bytes.iter().enumerate().all(zeros), "{first} to {end}: {bytes:?}");
            }
        }
    }
}
