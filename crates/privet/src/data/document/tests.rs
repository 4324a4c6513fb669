//! Documents by hand.

use super::*;

fn findings(text: &str, read: impl Fn(Section<'_>)) -> String {
    match Document::parse("it", text) {
        Err(error) => error.to_string(),
        Ok(document) => {
            read(document.root());
            document
                .finish()
                .err()
                .map_or_else(String::new, |error| error.to_string())
        }
    }
}

/// The three cells of a row of a table.
fn cells(row: &str) -> [&str; 3] {
    let cells: Vec<&str> = row.trim().split(" | ").collect();
    cells.try_into().expect("three cells")
}

#[test]
fn values_come_with_their_lines() {
    let text = "a = 'x'\n\nb = 2.5\nc = 0x10\n[d]\ne = true\nf = [\n 1,\n 2.5]\ng = ['p']\n";
    let document = Document::parse("it", text).expect("parses");
    let root = document.root();
    assert_eq!(
        root.text("a"),
        Some(Found {
            value: "x".into(),
            line: 1
        })
    );
    assert_eq!(root.number("b").expect("there").line, 3);
    assert_eq!(root.integer("c").expect("there").value, 16);
    assert_eq!(root.number("c").expect("there").value, 16.0);
    let d = root.section("d").expect("there");
    assert_eq!((d.name(), d.line()), ("d", 5));
    assert!(d.flag("e").expect("there").value);
    assert_eq!(d.numbers("f").expect("there").value, [1.0, 2.5]);
    assert_eq!(d.texts("g").expect("there").value, ["p"]);
    assert_eq!((d.line_of("g"), d.line_of("nothing")), (10, 5));
    assert_eq!(d.keys().collect::<Vec<_>>(), ["e", "f", "g"]);
    document.finish().expect("all was asked for");
}

#[test]
fn wrong_types_say_what_to_write() {
    let table = r#"
        "17" | number | is a text ("17"); write a number, such as k = 17
        "1,5" | number | is a text ("1,5"); write a number, such as k = 1.5
        nan | number | is not a finite number (nan); write a number, such as k = 10
        -inf | number | is not a finite number (-inf); write a number, such as k = 10
        1e999 | number | is not a finite number (1e999); write a number, such as k = 10
        2020-01-01 | number | is a date (2020-01-01); write a number, such as k = 10
        1.6 | integer | is a number (1.6); write a whole number, such as k = 2
        99999999999999999999 | integer | is a number (99999999999999999999) that is out of range; write a whole number, such as k = 1000000000
        5 | text | is a number (5); write a text, such as k = "5"
        true | text | is true; write a text, such as k = "true"
        "no" | flag | is a text ("no"); write true or false, such as k = false
        1 | flag | is a number (1); write true or false, such as k = true
        "a" | texts | is a text ("a"); write a list of texts, such as k = ["a"]
        ["a", 1] | texts | lists a number (1); write texts: k = ["a", "1"]
        [1, "2"] | numbers | lists a text ("2"); write numbers: k = [1, 2]
        [[1]] | numbers | lists a list; write numbers: k = [10]
        3 | section | is a number (3); write a section: k = { … }, or a line [k]
        3 | list | is a number (3); write one or more sections, each below a line [[k]]
    "#;
    for row in table.trim().lines() {
        let [value, wanted, expected] = cells(row);
        let got = findings(&format!("\nk = {value}"), |root| match wanted {
            "number" => assert!(root.number("k").is_none()),
            "integer" => assert!(root.integer("k").is_none()),
            "text" => assert!(root.text("k").is_none()),
            "flag" => assert!(root.flag("k").is_none()),
            "texts" => assert!(root.texts("k").is_none()),
            "numbers" => assert!(root.numbers("k").is_none()),
            "section" => assert!(root.section("k").is_none()),
            _ => assert!(root.list("k").is_empty()),
        });
        assert_eq!(got, format!("it, line 2: k {expected}"));
    }
}

#[test]
fn unknown_keys_are_found_at_every_depth_that_was_read() {
    let text = "[[p]]\nname = 'x'\nnane = 1\n[q]\nr = { s = 1, zzz = 2 }\n[t]\nu = 1\n";
    let got = findings(text, |root| {
        for part in root.list("p") {
            part.text("name");
        }
        let r = root.section("q").and_then(|q| q.section("r")).expect("there");
        r.integer("s");
    });
    assert_eq!(
        got,
        "it has 3 errors:\n  line 3: nane is not known here; did you mean name?\n  \
         line 5: zzz is not known here; there can be: s\n  line 6: t is not known here; there can be: p, q"
    );
}

#[test]
fn what_is_missing_shows_the_line_to_add() {
    let got = findings("x = 'yes'\n[s]\n", |root| {
        root.required_text("dataset", "\"adult\"");
        root.required_choice("x", &[("no", 0), ("yes", 1)]);
        root.section("s")
            .expect("there")
            .required_number("epsilon", "1.0");
        root.required_section("columns", "a = {}\nb = {}");
    });
    assert_eq!(
        got,
        "it has 3 errors:\n  line 1: dataset is missing; add: dataset = \"adult\"\n  line 1: [columns] is missing; add \
         lines such as:\n      [columns]\n      a = {}\n      b = {}\n  line 2: epsilon is missing in s; add: epsilon = 1.0"
    );
}

#[test]
fn what_is_no_toml_has_line_and_column() {
    let several = findings("a = \nb = 1\nc = x", |_| {});
    assert_eq!(
        several,
        "it has 2 errors:\n  line 1, column 5: there is no value after the =\n  \
         line 3, column 5: x needs quotes if it is a text: \"x\""
    );
    let table = r#"
        ab = 1, ab = 2 | 7 | there is more after the value; the next entry begins on a new line
        a = [1 2] | 6 | "1 2" needs quotes if it is one text, or a comma if it is two values
        a = { b = 1, c } | 16 | there is a name without a value; write NAME = VALUE
        a = { b = 1 c = 2 } | 15 | a comma is missing between two entries of { … }
        a = { min = , max = 1 } | 13 | there is a comma where a value should be
        a = { b = 1 | 12 | a { is not closed; a } is missing
        a = [1 | 7 | a list is not closed; a ] is missing
        [a | 3 | a heading is not closed; a ] is missing
        a = "x | 7 | a text is not closed; a " is missing
        a = 'x | 7 | a text is not closed; a ' is missing
        a = 007 | 5 | a number cannot begin with 0; a text needs quotes
        a = 12abc | 5 | "12abc" is not a number; a text needs quotes
        größe = 1 | 3 | the name "größe" needs quotes
        a = { größe = 1 } | 9 | the name "größe" needs quotes
        just words | 6 | there is a name without a value; write NAME = VALUE
        = 1 | 1 | there is no name before the =
        a = { t = integer } | 11 | integer needs quotes if it is a text: "integer"
        a = 2020-13-01 | 5 | this is not TOML: invalid date; wanted: month between 01 and 12
    "#;
    for row in table.trim().lines() {
        let [text, column, expected] = cells(row);
        let got = findings(text, |_| {});
        assert_eq!(
            got,
            format!("it, line 1, column {column}: {expected}"),
            "{text:?}"
        );
    }
    let zero = findings("a\u{0}b = 1", |_| {});
    assert_eq!(zero, "it, line 1, column 2: the name \"a\\u0000b\" needs quotes");
    let twice = findings("\u{feff}é = 1\n\n\"é\" = 2\n", |_| {});
    assert!(twice.contains("the name \"é\" needs quotes"), "{twice}");
    let twice = findings("[a]\r\nb = 1\r\n[a]\r\n", |_| {});
    assert_eq!(twice, "it, line 3, column 2: a is written twice; keep one");
}

#[test]
fn hostile_nesting_and_size_are_refused() {
    let names = |n: usize| vec!["a"; n].join(".");
    let deep = (0..78).fold("1".to_owned(), |inner, _| format!("{{{} = {inner}}}", names(78)));
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}1{}", "[".repeat(30), "]".repeat(30)),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("{} = 1", names(79)),
        format!("{} = 1", names(100_000)),
        format!("[{}]", names(100_000)),
        format!("[{}]\n{} = {deep}", names(78), names(78)),
        "=".repeat(10_000),
        "\n=".repeat(100_000),
        "\"".repeat(10_000),
    ] {
        let error = Document::parse("it", &text).expect_err("refused").to_string();
        assert!(error.starts_with("it"), "{error}");
        assert!(error.len() < 20_000, "{}", error.len());
    }
    let long = " ".repeat(Document::LONGEST + 1);
    assert!(Document::parse("it", &long).is_err());
}

#[test]
fn texts_and_numbers_are_written_so_that_they_read_the_same() {
    for text in [
        "",
        "a b",
        "\"",
        "\\",
        "é\u{7f}\u{0}\t\n\r\u{85}",
        "'",
        "#",
        "日本",
        "\u{feff}",
    ] {
        let written = format!("{} = {}", key(text), quoted(text));
        let document = Document::parse("it", &written).expect("parses");
        assert_eq!(document.root().text(text).expect("there").value, text);
    }
    for x in [
        0.0,
        -0.0,
        17.0,
        -1.5,
        0.1,
        1e300,
        5e-324,
        1e15,
        123_456_789_012_345_680.0,
        f64::MAX,
        1e-7,
    ] {
        let document = Document::parse("it", &format!("x = {}", number(x))).expect("parses");
        assert_eq!(document.root().number("x").expect("there").value, x);
    }
}
