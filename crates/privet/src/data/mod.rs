//! What is public about a table, and its rows, held as private.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `document` | TOML files that people write: all errors at once, each with its line and what to write |
//! | `schema` | what its owner declares: names, types, bounds, categories, what is private, who is one person |
//! | `cuts` | how a number finds its bin: by points that follow from the schema alone |
//! | `column`, `lookup`, `numeral`, `date`, `finder` | how a cell finds its slot, and how many do at once |
//! | `tally` | how many cells fit the schema, for the owner alone |
//! | `frame`, `values`, `arrow`, `header` | rows in memory, and how columns are found by their names |
//! | `feature`, `table` | rows as columns of small integers, behind [`Private`](crate::privacy::Private) |
//! | `public` | the columns that are public under a neighbour relation |
//! | `fingerprint` | recognises a table in any file format |
//! | `split` | one table as several, for simulation |
//!
//! No bound, category or bin is ever taken from the rows. A cell that matches no declared value has a slot of its own: out-of-range
//! numbers are clamped, undeclared categories and missing cells are kept apart, and how many there are is as private as
//! the rest.

#[cfg(feature = "arrow")]
mod arrow;
mod column;
mod cuts;
mod date;
pub mod document;
mod feature;
mod finder;
mod fingerprint;
mod frame;
mod guard;
mod header;
mod held_out;
mod lookup;
mod numeral;
mod public;
mod rebinned;
pub mod schema;
mod split;
mod table;
mod tally;
mod values;

pub use column::{ColumnBuilder, decimal};
pub use cuts::Cuts;
pub(crate) use cuts::{Places, place};
pub use date::{date, days};
pub use document::{Document, Section};
pub use feature::{Bins, Feature, Names, Target};
pub use finder::Finder;
pub use fingerprint::{Fingerprint, Points};
pub use frame::{Frame, RawRows, column_texts};
pub use guard::{guarded, is_formula, unguarded};
pub use header::{TableForm, places};
pub(crate) use lookup::TRUTHS;
pub use numeral::{common_unit, has_thousands};
pub use public::Public;
pub use schema::Schema;
pub use table::{Cells, Intake, Keep, Piece, Table};
pub use tally::Tally;
pub use values::{Cell, ColumnValues, Dictionary, Holds, Value};
