//! Schemas as text: what is refused, in which words, and that nothing changes between writing and reading.

mod in_code;
mod made;
mod malformed;

use privet::data::Schema;
use privet::data::schema::{Kind, Label};

const EVERYTHING: &str = r#"
dataset = "adult"
unit = "person"
rows_per_unit = 3
missing = ["", "?", "NA"]

[file]
header = false
delimiter = ";"
quote = "'"
comment = "|"

[columns]
age = { type = "integer", min = 17, max = 90, measure = "years" }
bmi = { type = "number", min = 10, max = 80, bins = 64, private = false }
income = { type = "number", min = 1, max = 1000000, transform = "log", fill = 1 }
dose = { type = "number", min = 0, max = 100, cuts = [1, 5, 20.1] }
weight = { type = "number", min = 0, max = 100000 }
balance = { type = "number", min = -5000, max = 100000, transform = "log1p", scale = 1000 }
grade = { type = "ordinal", values = ["low", "mid", "high"] }
sex = { type = "category", values = ["F", "M"], fill = "F" }
smoker = { type = "flag" }
person = { type = "id" }
notes = { type = "skip" }
outcome = { type = "label", values = ["alive", "dead"] }
"#;

#[test]
fn everything_that_can_be_declared_is_read() {
    let schema = Schema::from_toml("schema.toml", EVERYTHING).unwrap();
    let names: Vec<&str> = schema
        .columns()
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    let expected = "age bmi income dose weight balance grade sex smoker person notes outcome";
    assert_eq!(names.join(" "), expected, "in the order of the file");
    let private: Vec<bool> = schema.columns().iter().map(|column| column.private).collect();
    assert_eq!(
        private,
        [
            true, false, true, true, true, true, true, true, true, false, false, true
        ]
    );
    assert_eq!(schema.dataset(), "adult");
    assert_eq!(schema.unit().column.as_deref(), Some("person"));
    assert_eq!(schema.unit().rows.get(), 3);
    assert_eq!(schema.missing(), ["", "?", "NA"]);
    let layout = schema.layout();
    assert!(!layout.header);
    assert_eq!(
        (layout.delimiter, layout.quote, layout.comment),
        (b';', b'\'', Some(b'|'))
    );
    assert_eq!(schema.columns()[0].measure.as_deref(), Some("years"));
    let slots: Vec<usize> = schema
        .columns()
        .iter()
        .map(|column| column.kind.slots())
        .collect();
    assert_eq!(slots, [75, 65, 129, 5, 129, 129, 5, 4, 4, 0, 0, 0]);
    assert!(matches!(schema.label().unwrap().1, Label::Classes(it) if it.values().len() == 2));
}

#[test]
fn what_is_not_said_has_its_default() {
    let schema = Schema::from_toml("s", "dataset = 'd'\ncolumns.a.type = 'flag'\n").unwrap();
    assert_eq!(schema.missing(), Schema::MISSING);
    assert_eq!(schema.layout(), Default::default());
    assert_eq!(schema.unit(), &Default::default());
    assert!(schema.label().is_none());
    let Kind::Flag(declared) = &schema.columns()[0].kind else {
        panic!("a flag");
    };
    assert_eq!(declared.values(), ["false", "true"]);
}

#[test]
fn tables_and_braces_mean_the_same() {
    let braces =
        "dataset = 'd'\n[columns]\na = { type = 'integer', min = 0, max = 9 }\nb = { type = 'flag' }\n";
    let tables = "\u{feff}dataset = 'd'\r\n[columns.a]\r\ntype = 'integer'\r\nmin = 0\r\nmax = 9.0\r\n[columns.b]\r\ntype = 'flag'\r\n";
    assert_eq!(
        Schema::from_toml("s", braces).unwrap(),
        Schema::from_toml("s", tables).unwrap()
    );
}

#[test]
fn malformed_schemas_say_everything_at_once() {
    for (text, message) in malformed::SCHEMAS {
        let error = Schema::from_toml("schema.toml", text).expect_err(text);
        assert_eq!(&error.to_string(), message, "for:\n{text}");
    }
}

#[test]
fn what_is_written_is_read_the_same() {
    let schema = Schema::from_toml("s", EVERYTHING).unwrap();
    let written = schema.to_toml();
    assert_eq!(Schema::from_toml("s", &written).unwrap(), schema, "{written}");
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..3000 {
        let schema = made::schema(seed);
        let written = schema.to_toml();
        let read = Schema::from_toml("s", &written).unwrap_or_else(|e| panic!("{seed}: {e}\n{written}"));
        assert_eq!(read, schema, "{seed}:\n{written}");
        assert_eq!(read.to_toml(), written, "{seed}");
        assert!(schema.explain().contains("Columns\n"));
        kinds.extend(schema.columns().iter().map(|column| column.kind.name()));
    }
    assert_eq!(kinds.len(), 10, "all kinds were tried: {kinds:?}");
}

#[test]
fn many_columns_and_values_are_read() {
    let values: Vec<String> = (0..20_000).map(|i| format!("\"v{i}\"")).collect();
    let mut text = format!(
        "dataset = 'd'\n[columns]\nc = {{ type = 'category', values = [{}] }}\n",
        values.join(", ")
    );
    for i in 0..20_000 {
        text += &format!("f{i} = {{ type = \"flag\" }}\n");
    }
    let schema = Schema::from_toml("s", &text).unwrap();
    assert_eq!(schema.columns().len(), 20_001);
    let broken = text.replace("\"flag\"", "\"flg\"");
    let error = Schema::from_toml("s", &broken).unwrap_err().to_string();
    assert!(
        error.starts_with(
            "s has 20000 errors:\n  line 4: type = \"flg\" is not known; did you mean \"flag\"?"
        )
    );
    assert!(error.ends_with("\n  and 19980 more"));
}

#[test]
fn a_schema_is_explained() {
    let schema = Schema::from_toml("s", EVERYTHING).unwrap();
    assert_eq!(schema.explain(), include_str!("explained.txt"));
}

/// What a schema says of bins that it leaves open is what the model says that was trained by it, without privacy and by trees with it.
#[test]
fn bins_that_are_left_open_are_explained_as_they_are_read() {
    let open = Schema::from_toml("s", EVERYTHING).unwrap();
    let said = open.explain();
    let line_of = |text: &str, name: &str| {
        let mut lines = text.lines();
        let found = lines.find(|line| line.trim_start().starts_with(&format!("{name} ")));
        found.unwrap().to_owned()
    };
    let bins = |schema: &Schema, name: &str| {
        let line = line_of(&schema.explain_as_read(), name);
        line.split("; ").nth(1).unwrap().to_owned()
    };
    let mut differing = 0;
    for column in open
        .features()
        .filter(|column| matches!(column.kind, Kind::Number(_)))
    {
        let line = line_of(&said, &column.name);
        let [plain, trees] = [&open, &open.spread()].map(|read| bins(read, &column.name));
        assert!(
            line.contains(&plain) && line.contains(&trees),
            "{line}\n{plain}\n{trees}"
        );
        differing += usize::from(plain != trees);
    }
    assert_eq!(differing, 3);
}

/// Bins that a schema leaves open are a model's to choose; what it does say must be the model's.
#[test]
fn a_model_s_bins_are_taken_where_none_are_declared() {
    let with = |x: &str| {
        let text = format!(
            "dataset = 'd'\n[columns]\nx = {{ type = 'number', min = 0, max = 9{x} }}\ny = {{ type = 'label', values = ['a', 'b'] }}\n"
        );
        Schema::from_toml("s", &text).unwrap()
    };
    let open = with("");
    for model in [
        open.spread(),
        open.coarse(10),
        open.clone(),
        with(", cuts = [1, 5]"),
    ] {
        assert_eq!(open.with_bins_of(&model).differs(&model), None);
        assert_eq!(open.with_bins_of(&model), model);
    }
    let trees = open.spread();
    for other in [
        ", bins = 7",
        ", cuts = [1, 5]",
        ", transform = 'log1p'",
        ", fill = 1",
        ".5",
    ] {
        let other = with(other);
        assert!(other.with_bins_of(&trees).differs(&trees).is_some(), "{other:?}");
    }
}

#[test]
fn remarks_follow_from_the_schema() {
    for (columns, remark) in [
        ("a = { type = 'flag' }", "No column is of type \"label\""),
        (
            "a = { type = 'flag' }\ny = { type = 'label', min = 0, max = 1, private = false }",
            "'y', which is to be predicted, is public",
        ),
        (
            "a = { type = 'flag' }\ni = { type = 'id' }",
            "'i' is an id that nothing uses",
        ),
        (
            "a = { type = 'number', min = 1, max = 1e6 }",
            "transform = \"log\" would tell them apart",
        ),
    ] {
        let text = format!("dataset = 'd'\n[columns]\n{columns}\n");
        let words = Schema::from_toml("s", &text).unwrap().explain();
        assert!(words.contains(remark), "{words}");
    }
    let calm =
        "dataset = 'd'\n[columns]\na = { type = 'flag' }\ny = { type = 'label', values = ['0', '1'] }\n";
    let words = Schema::from_toml("s", calm).unwrap().explain();
    assert!(!words.contains("second thought"), "{words}");
}
