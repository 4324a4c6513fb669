//! Weak learners: each is fitted to weighted rows and votes.
//!
//! They draw no noise and keep no budget: what depends on rows is chosen by policies that a setting can replace.

pub mod tree;
