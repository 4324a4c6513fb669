//! What is public about a table, and its rows, held as private.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `schema` | what its owner declares: names, types, bounds, categories, what is private, who is one person |
//! | `cuts` | how a number finds its bin: by points that follow from the schema alone |
//! | `column`, `table` | rows as columns of small integers, behind [`Private`](crate::privacy::Private) |
//!
//! No bound, category or bin is ever taken from the rows. A cell that fits nothing has a slot of its own: out-of-range
//! numbers are clamped, undeclared categories and missing cells are kept apart, and how many there are is as private as
//! the rest.

mod column;
mod cuts;
mod finder;
pub mod schema;
mod split;
mod table;

pub use column::{Bins, ColumnBuilder, Feature, Target};
pub use cuts::Cuts;
pub use finder::Finder;
pub use schema::Schema;
pub use table::{Cells, Intake, Keep, Piece, Table};
