//! Regression trees on slots, grown from histograms.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `shape` | a finished tree: rules and leaf values, and nothing else that was computed from rows |
//! | `matrix` | a table laid out for growing: rows of bytes in panels that fit the nearest cache |
//! | `lane` | what is summed: gradients and hessians, as small integers or as floats |
//! | `histogram`, `kernel` | sums by slot, for the nodes of a level |
//! | `rows` | which rows are in which node |
//! | `level` | nodes that may still be split |
//! | `greedy`, `gain` | the best split, first or second order |
//! | `grow`, `unfinished` | level by level, or best leaf first |
//! | `walk`, `full`, `answers`, `source` | scores of many rows by many trees |
//!
//! With integers every sum is exact: the model has the same bytes whatever the number of threads or the order of rows.
//! Nothing here is private by itself: it works on plain cells, inside a closure on private ones.

mod answers;
mod full;
mod gain;
mod greedy;
mod grow;
mod histogram;
mod kernel;
mod lane;
mod level;
mod matrix;
mod rows;
mod shape;
mod source;
mod tables;
mod unfinished;
mod walk;

pub use gain::Order;
pub use greedy::{Categories, Greedy, Missing};
pub use grow::{Engine, Growth, Plan};
pub use lane::{Grid, Lane, Packed, Pair};
pub use matrix::{Column, Matrix};
pub use shape::{Child, Node, Rule, Side, Tree};
pub use source::SlotSource;
pub use walk::Walker;
