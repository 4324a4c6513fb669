//! Tables in files: what is read, and what is refused with which words.
#![allow(clippy::unwrap_used, reason = "a test")]

mod tables {
    pub mod malformed;
    pub mod reference;
    pub mod schemas;
}
