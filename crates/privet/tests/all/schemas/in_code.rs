//! Schemas in code: they say what their text says, and what is wrong is said in the same words.

#![allow(clippy::reversed_empty_ranges, reason = "what is refused")]

use privet::data::Schema;
use privet::data::schema::{
    Column, ColumnSpec, Layout, SchemaBuilder, Spacing, Transform, category, date, flag, id, label, number,
    ordinal, skip,
};

#[test]
fn everything_that_text_declares_is_declared_in_code() {
    let schema = Schema::builder("adult")
        .unit("person")
        .rows_per_unit(3)
        .missing(["", "?", "NA"])
        .layout(Layout {
            header: false,
            delimiter: b';',
            quote: b'\'',
            comment: Some(b'|'),
            decimal: b'.',
        })
        .columns([
            number("age", 17..=90).measure("years"),
            number("bmi", 10.0..=80.0).bins(64).private(false),
            number("income", 1.0..=1e6).transform(Transform::Log).fill(1),
            number("dose", 0.0..=100.0).cuts([1.0, 5.0, 20.1]),
            number("weight", 0.0..=100_000.0),
            number("balance", -5000.0..=100_000.0)
                .transform(Transform::Log1p(None))
                .scale(1000.0),
            ordinal("grade", ["low", "mid", "high"]),
            category("sex", ["F", "M"]).fill("F"),
            flag("smoker"),
            id("person"),
            skip("notes"),
            label("outcome", ["alive", "dead"]),
        ])
        .build()
        .unwrap();
    assert_eq!(
        schema,
        Schema::from_toml("schema.toml", super::EVERYTHING).unwrap()
    );
}

#[test]
fn what_else_text_can_say_can_be_said_in_code() {
    let toml = "dataset = \"d\"\n[file]\ndecimal = \",\"\n[columns]\nday = { type = \"date\", min = 2020-02-29, max = \"2024-12-31 12:00\" }\nx = { type = \"integer\", min = -5, max = 300, spacing = \"mixed\" }\n\
                yes = { type = \"flag\", values = [\"n\", \"y\"], fill = \"n\" }\nprice = { type = \"label\", min = 0, max = 9.5 }\n";
    let schema = Schema::builder("d")
        .layout(Layout {
            decimal: b',',
            ..Layout::default()
        })
        .columns([date("day", ["2020-02-29", "2024-12-31 12:00"])])
        .columns([number("x", -5i64..=300).spacing(Spacing::Mixed)])
        .columns([
            flag("yes").values(["n", "y"]).fill("n"),
            label("price", 0.0..=9.5),
        ]);
    let schema = schema.build().unwrap();
    assert_eq!(schema, Schema::from_toml("schema.toml", toml).unwrap());
    assert_eq!(
        schema,
        Schema::from_toml("again.toml", &schema.to_toml()).unwrap()
    );
}

/// One column in code, and what stands between the braces in text.
fn columns() -> Vec<(ColumnSpec, &'static str)> {
    let number_of = |min, max| number("x", min..=max);
    vec![
        (number("x", 3..=1), "type = \"integer\", min = 3, max = 1"),
        (number_of(0.0, 1e300), "type = \"number\", min = 0, max = 1e300"),
        (
            number("x", 0..=9).fill(10),
            "type = \"integer\", min = 0, max = 9, fill = 10",
        ),
        (
            number("x", 0..=9).fill("a"),
            "type = \"integer\", min = 0, max = 9, fill = \"a\"",
        ),
        (
            number_of(0.0, 1.0).bins(0),
            "type = \"number\", min = 0, max = 1, bins = 0",
        ),
        (
            number_of(0.0, 1.0).bins(3).cuts([0.5]),
            "type = \"number\", min = 0, max = 1, bins = 3, cuts = [0.5]",
        ),
        (
            number_of(0.0, 1.0).cuts([2.0]),
            "type = \"number\", min = 0, max = 1, cuts = [2]",
        ),
        (
            number_of(0.0, 1.0).transform(Transform::Log),
            "type = \"number\", min = 0, max = 1, transform = \"log\"",
        ),
        (
            number_of(0.0, 1.0).scale(3.0),
            "type = \"number\", min = 0, max = 1, scale = 3",
        ),
        (
            number_of(0.0, 1.0).transform(Transform::Asinh(None)).scale(0.0),
            "type = \"number\", min = 0, max = 1, transform = \"asinh\", scale = 0",
        ),
        (
            number("x", 0..=9).values(["a", "b"]),
            "type = \"integer\", min = 0, max = 9, values = [\"a\", \"b\"]",
        ),
        (category("x", ["a"]), "type = \"category\", values = [\"a\"]"),
        (
            category("x", ["a", "a"]),
            "type = \"category\", values = [\"a\", \"a\"]",
        ),
        (
            category("x", ["a", " b"]),
            "type = \"category\", values = [\"a\", \" b\"]",
        ),
        (
            category("x", ["a", "b"]).fill("c"),
            "type = \"category\", values = [\"a\", \"b\"], fill = \"c\"",
        ),
        (
            category("x", ["a", "b"]).bins(3),
            "type = \"category\", values = [\"a\", \"b\"], bins = 3",
        ),
        (
            flag("x").values(["a", "b", "c"]),
            "type = \"flag\", values = [\"a\", \"b\", \"c\"]",
        ),
        (id("x").private(true), "type = \"id\", private = true"),
        (id("x").fill(3), "type = \"id\", fill = 3"),
        (
            label("x", 0.0..=1.0).fill(0.5),
            "type = \"label\", min = 0, max = 1, fill = 0.5",
        ),
        (label("x", 1.0..=0.0), "type = \"label\", min = 1, max = 0"),
        (
            flag("x").measure("\u{7}"),
            "type = \"flag\", measure = \"\\u0007\"",
        ),
    ]
}

fn said(schema: SchemaBuilder) -> String {
    schema.build().unwrap_err().to_string()
}

#[test]
fn what_is_wrong_is_said_in_the_words_of_the_text() {
    for (column, body) in columns() {
        let text = format!("dataset = \"d\"\n[columns]\nx = {{ {body} }}\ny = {{ type = \"flag\" }}\n");
        let expected = Schema::from_toml("s", &text).unwrap_err().to_string();
        let (_, expected) = expected.split_once(": ").unwrap();
        let schema = Schema::builder("d").columns([column, flag("y")]);
        assert_eq!(said(schema), expected, "{body}");
    }
    let whole = || Schema::builder("d").columns([flag("x"), id("who")]);
    let root = [
        (
            Schema::builder(" d").columns([flag("x")]),
            "dataset = \" d\"",
            "x = { type = \"flag\" }",
        ),
        (
            whole().unit("x"),
            "dataset = \"d\"\nunit = \"x\"",
            "x = { type = \"flag\" }",
        ),
        (
            whole().unit("y"),
            "dataset = \"d\"\nunit = \"y\"",
            "x = { type = \"flag\" }",
        ),
        (
            whole().rows_per_unit(2),
            "dataset = \"d\"\nrows_per_unit = 2",
            "x = { type = \"flag\" }",
        ),
        (
            whole().unit("who").rows_per_unit(0),
            "dataset = \"d\"\nunit = \"who\"\nrows_per_unit = 0",
            "x = { type = \"flag\" }\nwho = { type = \"id\" }",
        ),
        (
            whole().missing([" "]),
            "dataset = \"d\"\nmissing = [\" \"]",
            "x = { type = \"flag\" }",
        ),
        (
            Schema::builder("d").columns([label("x", 0..=1), label("y", 0..=1)]),
            "dataset = \"d\"",
            "x = { type = \"label\", min = 0, max = 1 }\ny = { type = \"label\", min = 0, max = 1 }",
        ),
        (
            Schema::builder("d").columns([id("who")]),
            "dataset = \"d\"",
            "who = { type = \"id\" }",
        ),
    ];
    for (schema, head, columns) in root {
        let text = format!("{head}\n[columns]\n{columns}\n");
        let expected = Schema::from_toml("s", &text).unwrap_err().to_string();
        let (_, expected) = expected.split_once(": ").unwrap();
        assert_eq!(said(schema), expected, "{text}");
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let schema = Schema::builder("").columns([
        number("x", 3..=1),
        category("x", ["a"]).bins(2),
        flag("y"),
        flag("y"),
    ]);
    assert_eq!(
        said(schema.unit("gone")),
        "the schema has 4 errors:\n  column 'x': min = 3 must be below max = 1\n  bins is for columns of type number, integer, date; column \
         'x' is of type category: remove it, or change the type\n  \"\" cannot be the name of a data set: it must have 1 to 100 \
         characters\n  column 'y' is declared twice"
    );
    let wide = Schema::builder("d").columns([number("x", 0.0..=1.0).bins(65_000)]);
    let wide = wide.build().unwrap().columns()[0].clone();
    let many = (0..400).map(|i| Column {
        name: format!("x{i}"),
        ..wide.clone()
    });
    let many = said(Schema::builder("d").columns(many));
    assert_eq!(
        many,
        "the columns so far have 16835259 bins and values, and 16777216 are possible: declare fewer bins"
    );
}
