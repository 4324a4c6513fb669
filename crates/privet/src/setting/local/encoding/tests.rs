//! Rows as vectors, by hand.

use super::*;
use crate::data::Frame;
use crate::data::schema::{category, flag, label, number, ordinal};

fn schema() -> Schema {
    Schema::builder("steps")
        .columns([
            number("age", 0..=100).into(),
            category("job", ["nurse", "clerk", "cook"]).into(),
            ordinal("size", ["s", "m", "l"]).into(),
            flag("smokes").into(),
            label("ill", ["no", "yes"]).into(),
        ] as [crate::data::schema::AnyColumn; 5])
        .build()
        .expect("a schema")
}
