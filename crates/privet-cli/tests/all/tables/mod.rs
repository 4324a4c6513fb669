//! Tables in files: what is read, and what is refused with which words.

mod malformed;
#[cfg(feature = "parquet")]
mod parquet;
mod peek;
mod reference;
mod schemas;
