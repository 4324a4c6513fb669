//! Tables in files: what is read, and what is refused with which words.
#![allow(clippy::unwrap_used, reason = "a test")]

mod tables {
    #[cfg(all(feature = "arrow", feature = "parquet"))]
    pub(crate) mod arrow;
    pub(crate) mod malformed;
    pub(crate) mod memory;
    #[cfg(feature = "parquet")]
    pub(crate) mod parquet;
    pub(crate) mod peek;
    pub(crate) mod reference;
    pub(crate) mod schemas;
}
