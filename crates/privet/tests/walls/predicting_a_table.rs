//! E0277: predictions are free for rows in the clear only, and a table's are not.
use privet::data::Table;
use privet::model::Model;

fn rows(model: &Model, table: &Table) {
    let _ = model.predict(table);
}

fn main() {
    let _ = rows;
}
