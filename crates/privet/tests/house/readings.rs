//! Ways to read the words of an error, each of which must be caught.

use crate::messages::faults;

fn count(code: &str) -> usize {
    faults(&[("a.rs".into(), code.into())]).len()
}

#[track_caller]
fn caught(body: &str) {
    let code = format!("fn f(e: &privet::Error, r: Result<u8, String>) {{ {body} }}");
    assert_eq!(count(&code), 1, "{body}");
}

#[track_caller]
fn allowed(body: &str) {
    let code = format!("fn f(e: &privet::Error, r: Result<u8, String>) {{ {body} }}");
    assert_eq!(count(&code), 0, "{body}");
}

/// Each of these stood in this house once, or could.
#[test]
fn the_words_of_an_error_are_not_searched() {
    caught("if e.to_string().contains(\"no such table\") {}");
    caught("let why = e.to_string(); let about = |key: &&str| why.starts_with(&format!(\"{key} \"));");
    caught(
        "let text = e.to_string(); let why = text.split_once(\": \").map_or(text.as_str(), |(_, why)| why);",
    );
    caught("match r { Err(why) if why.starts_with(\"the record\") => {} _ => {} }");
    caught(
        "match g() { Err(Error::Budget(why)) if why.to_string().contains(\"has left already\") => {} _ => {} }",
    );
    caught("let why = failure.message.trim_start_matches(\"refused: \");");
    caught("let text = format!(\"{e}\"); text.strip_prefix(\"refused: \");");
    caught("let text = format!(\"at {}: {}\", 3, e); text.find(\"refused\");");
    caught("r.map_err(|why| if why == \"full\" { 1 } else { 2 });");
    caught("if e.to_string() != LAST {}");
    caught("if let Err(why) = &r && why.ends_with('.') {}");
    caught("let Err(why) = r else { return }; why.matches(\"a\");");
    caught("match e.to_string().as_str() { \"full\" => {} _ => {} }");
    caught("match r { Err(why) => match &*why { \"full\" | \"busy\" => {} _ => {} }, _ => {} }");
    caught("matches!(&r, Err(why) if why.contains(\"busy\"));");
    caught("matches!(e.to_string().as_str(), \"busy\" | \"full\");");
    caught("if KNOWN.contains(&e.to_string()) {}");
    caught("let e = g().unwrap_err(); e.to_string().rsplit_once(' ');");
    caught("for error in all { error.message().split_once(\", expected \"); }");
    caught("return Err(format!(\"{}\", e.to_string().split(' ').next()));");
}

#[test]
fn words_are_followed_into_functions() {
    let asks = "fn f(e: &Error) { key_of(&e.to_string()); }";
    assert_eq!(
        count(&format!(
            "{asks} fn key_of(why: &str) -> bool {{ why.starts_with('a') }}"
        )),
        1
    );
    assert_eq!(
        count(&format!(
            "{asks} fn key_of(why: &str) -> bool {{ about(why) }} fn about(text: &str) -> bool {{ text.contains('a') }}"
        )),
        1
    );
    assert_eq!(
        count(&format!(
            "{asks} fn key_of(why: &str) -> String {{ why.to_owned() }}"
        )),
        0
    );
    let file = |name: &str, code: &str| (name.to_owned(), code.to_owned());
    let searching = "fn key_of(why: &str) -> bool { why.contains('a') }";
    let apart = |file_name: &str| {
        faults(&[
            file(
                "job/sides.rs",
                "fn f(e: &Error) { privacy::key_of(&e.to_string()); }",
            ),
            file(file_name, searching),
        ])
        .len()
    };
    assert_eq!(
        (
            apart("job/privacy.rs"),
            apart("job/privacy/mod.rs"),
            apart("job/other.rs")
        ),
        (1, 1, 0)
    );
}

#[test]
fn what_decides_by_data_or_only_shows_words_is_fine() {
    allowed("match e { Error::Parameter(e) => e.key() == Some(\"bins\"), _ => false };");
    allowed("r.map_err(|e| Error::data(format!(\"it cannot be read: {e}\")));");
    allowed("if e.kind() == ErrorKind::NotFound {}");
    allowed("let text = e.to_string(); text.lines().next().unwrap_or_default().to_owned();");
    allowed("let shown = failure.message.replace(&path, \"\");");
    allowed("let e = 3; names.iter().filter(|why| why.starts_with('a'));");
    allowed("match e { Error::Journal(e) if e.fault() == JournalFault::Busy => {} _ => {} }");
    allowed("let why = e.to_string(); { let why = \"other\"; why.contains('o'); }");
    let test = "#[cfg(test)] mod tests { fn f(e: Error) { e.to_string().contains(\"a\"); } }";
    assert_eq!(count(test), 0);
}

#[test]
fn a_fault_names_file_and_line() {
    let code = "fn f(e: &Error) {\n    e.to_string()\n        .contains(\"a\");\n}\n";
    assert_eq!(
        faults(&[("a.rs".into(), code.into())]),
        ["a.rs:3: `contains` on the words of an error"]
    );
}
