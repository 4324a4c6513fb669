//! Tables in files: what is read, and what is refused with which words.

#[cfg(feature = "parquet")]
mod arrow;
mod malformed;
mod memory;
#[cfg(feature = "parquet")]
mod parquet;
mod peek;
mod reference;
mod schemas;
mod written;
