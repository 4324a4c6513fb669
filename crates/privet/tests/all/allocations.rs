//! What this thread allocates: how much at a time, and whether freed memory still holds a secret.
#![allow(unsafe_code, reason = "an allocator is unsafe by its interface")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
    /// What freed memory is searched for, and how often it was found.
    static SECRET: Cell<Option<[u8; 32]>> = const { Cell::new(None) };
    static FOUND: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// Safety: all memory comes from the system's allocator and goes back to it, with the layouts that were asked for.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.get().saturating_add(layout.size());
        HELD.set(held);
        MOST.set(MOST.get().max(held));
        // Safety: the caller's promise, handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.set(HELD.get().saturating_sub(layout.size()));
        if let Some(secret) = SECRET.get() {
            // Safety: the block is still ours, and as long as its layout says.
            let holds = (0..layout.size().saturating_sub(31))
                .any(|start| (0..32).all(|i| unsafe { at.add(start + i).read_volatile() } == secret[i]));
            FOUND.set(FOUND.get() + usize::from(holds));
        }
        // Safety: the caller's promise, handed on.
        unsafe { System.dealloc(at, layout) }
    }
}

/// The most bytes that `run` held at a time, beyond those that were held before.
pub(crate) fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    MOST.set(before);
    let done = run();
    (done, MOST.get() - before)
}

/// In how many blocks that `run` freed the secret still stood.
pub(crate) fn unwiped<T>(secret: [u8; 32], run: impl FnOnce() -> T) -> (T, usize) {
    FOUND.set(0);
    SECRET.set(Some(secret));
    let done = run();
    SECRET.set(None);
    (done, FOUND.get())
}

#[test]
fn what_is_held_and_what_is_left_in_freed_memory_is_seen() {
    let (_, most) = peak(|| drop(vec![0_u8; 1 << 20]));
    assert!((1 << 20..1 << 21).contains(&most), "{most}");
    let secret: [u8; 32] = std::array::from_fn(|i| 77 + i as u8);
    assert_eq!(
        unwiped(secret, || drop([[0; 5].as_slice(), &secret].concat())).1,
        1
    );
    assert_eq!(
        unwiped(secret, || drop(zeroize::Zeroizing::new(secret.to_vec()))).1,
        0
    );
}
