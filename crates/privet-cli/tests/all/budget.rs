//! What was spent stays spent: overdrafts, void marks, lost ledgers, and tables under another name.

use std::fs;
use std::sync::Arc;

use crate::home::{Home, limit, told};
use privet::Error;
use privet::data::Schema;
use privet::privacy::{AddRemove, Ledger, Randomness};
use privet_node::job::Source;
use privet_node::ledger::Store;
use serde_json::Value;

#[test]
fn an_overdraft_is_refused_and_leaves_no_entry() {
    let home = Home::new();
    home.spend("0.7").unwrap();
    let refusal = home.spend("0.4").unwrap_err();
    assert!(
        matches!(&refusal, Error::Budget(text) if text.to_string().contains("there remains pure ε of 0.3")),
        "{refusal}"
    );
    assert_eq!(Store::read_only(&home.ledger()).unwrap().rows().unwrap().len(), 3);
    let (exit, text) = told(home.privet(&["ledger", "limit", "patients", "--epsilon", "0.5"]));
    assert_eq!(exit, 3, "{text}");
}

#[test]
fn a_fresh_budget_is_never_an_accident() {
    let home = Home::new();
    assert!(Store::create(&home.ledger()).is_err(), "never written over");
    fs::remove_file(home.ledger()).unwrap();
    let (exit, text) = told(home.privet(&["ledger", "limit", "patients", "--epsilon", "1"]));
    assert!(exit == 4 && text.contains("there was a ledger at"), "{text}");
    fs::remove_file(home.path("ledger.db.key")).unwrap();
    assert_eq!(
        told(home.privet(&["ledger", "limit", "patients", "--epsilon", "1"])).0,
        0
    );
    let left: Vec<_> = fs::read_dir(home.folder.path())
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_copy_under_another_name_meets_the_old_budget() {
    let home = Home::new();
    let mut store = Store::open(&home.ledger()).unwrap();
    let table = &home.table("north,yes\nsouth,yes\nsouth,no\n");
    let grown = &home.table("north,yes\nsouth,yes\nsouth,no\nnorth,no\n");
    let other = &home.table("south,no\nnorth,no\nnorth,yes\n");
    store.recognise(&[("patients", table)]).unwrap();
    store.recognise(&[("patients", table)]).unwrap();
    store.recognise(&[("patients", grown)]).unwrap();
    for copy in [table, grown] {
        let refusal = store.recognise(&[("copy", copy)]).unwrap_err();
        let text = refusal.to_string();
        assert!(matches!(refusal, Error::Budget(_)));
        assert!(text.contains("already known as 'patients'"), "{text}");
        assert!(text.contains("privet ledger adopt copy --of patients"), "{text}");
    }
    store.recognise(&[("staff", other)]).unwrap();
    limit(&mut store, "fresh", "1");
    let refusal = store.recognise(&[("fresh", table)]).unwrap_err().to_string();
    assert!(refusal.contains("a budget of its own"), "{refusal}");
    assert!(
        store.recognise(&[("staff", table)]).is_err(),
        "a known name is no way round"
    );

    drop(store);
    assert_eq!(
        told(home.privet(&["ledger", "adopt", "copy", "--of", "patients"])).0,
        0
    );
    let mut store = Store::open(&home.ledger()).unwrap();
    store.recognise(&[("copy", table)]).unwrap();
    drop(store);

    let (_, exported) = told(home.privet(&["ledger", "export"]));
    let connection = rusqlite::Connection::open(home.ledger()).unwrap();
    let tags: Vec<String> = connection
        .prepare("SELECT tag FROM fingerprints UNION SELECT tag FROM key_check")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        tags.len(),
        7,
        "columns and bytes of three tables, and the key's own"
    );
    assert!(tags.iter().all(|tag| !exported.contains(tag)));
}

#[test]
fn the_key_is_kept_and_checked() {
    let home = Home::new();
    let key = home.path("ledger.db.key");
    let rows = &home.table("north,yes\n");
    assert_eq!(fs::read(&key).unwrap().len(), 32);
    Store::open(&home.ledger())
        .unwrap()
        .recognise(&[("patients", rows)])
        .unwrap();
    let attempt = || {
        let mut store = Store::open(&home.ledger()).unwrap();
        store.recognise(&[("patients", rows)]).map_err(|e| e.to_string())
    };
    let whole = fs::read(&key).unwrap();
    fs::write(&key, [7; 32]).unwrap();
    assert!(attempt().unwrap_err().contains("belongs to another ledger"));
    fs::write(&key, [7; 31]).unwrap();
    assert!(attempt().unwrap_err().contains("not 32 bytes"));
    fs::remove_file(&key).unwrap();
    assert!(attempt().unwrap_err().contains("is missing"));
    fs::write(&key, whole).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(attempt().unwrap_err().contains("chmod 600"));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    }
    attempt().unwrap();
}

#[test]
fn a_seeded_run_marks_the_data_set_for_ever() {
    let home = Home::new();
    let store = Store::open(&home.ledger()).unwrap();
    let ledger = Ledger::open("patients", AddRemove::row(), store, Randomness::seeded(1)).unwrap();
    drop(ledger);
    home.spend("0.1").unwrap();
    assert_eq!(
        told(home.privet(&["ledger", "limit", "patients", "--epsilon", "2"])).0,
        0
    );
    let (exit, text) = told(home.privet(&["ledger", "show", "patients"]));
    assert!(
        exit == 0 && text.contains("VOID") && text.contains("seed"),
        "{text}"
    );
    let json: Value = serde_json::from_slice(
        &home
            .privet(&["ledger", "show", "--json"])
            .output()
            .unwrap()
            .stdout,
    )
    .unwrap();
    assert!(json["datasets"][0]["void"].as_str().unwrap().contains("seed"));
}

/// A ledger written before tables were recognised by their columns remembers bytes: they count, and from then on the columns do.
#[test]
fn what_was_remembered_of_bytes_still_counts() {
    let home = Home::new();
    let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for (from, to) in [
        ("before/ledger.db", "old.db"),
        ("before/ledger.db.key", "old.db.key"),
        ("cases/trees/clinic.csv", "clinic.csv"),
        ("cases/trees/schema.toml", "schema.toml"),
    ] {
        fs::copy(tests.join(from), home.path(to)).unwrap();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(home.path("old.db.key"), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let schema = fs::read_to_string(home.path("schema.toml")).unwrap();
    let source = |file: &str| Source {
        schema: Arc::new(Schema::from_toml("schema.toml", &schema).unwrap()),
        data: home.path(file),
    };
    let text = fs::read_to_string(home.path("clinic.csv")).unwrap();
    fs::write(home.path("other-ends.csv"), text.replace('\n', "\r\n")).unwrap();
    let (clinic, other_ends) = (source("clinic.csv"), source("other-ends.csv"));
    let mut store = Store::open(&home.path("old.db")).unwrap();
    assert_eq!(store.known_as(&clinic).unwrap().as_deref(), Some("clinic"));
    assert_eq!(store.known_as(&other_ends).unwrap(), None, "its bytes are others");
    assert!(matches!(
        store.recognise(&[("copy", &clinic)]),
        Err(Error::Budget(_))
    ));
    store.recognise(&[("clinic", &clinic)]).unwrap();
    assert_eq!(store.known_as(&other_ends).unwrap().as_deref(), Some("clinic"));
    assert!(matches!(
        store.recognise(&[("copy", &other_ends)]),
        Err(Error::Budget(_))
    ));
}

/// Neither another form, nor other names of columns, nor columns left out make a new table.
#[test]
fn a_copy_in_another_form_meets_the_old_budget() {
    let home = Home::new();
    let rows: String = (0..50)
        .map(|i| {
            format!(
                "{},{},{}\n",
                ["north", "south"][i * i % 7 % 2],
                i * 37 % 101,
                ["no", "yes"][i % 3 % 2]
            )
        })
        .collect();
    let schema = |columns: &str| {
        let text = format!(
            "dataset = \"d\"\n[columns]\n{columns}\nlabel = {{ type = \"label\", values = [\"no\", \"yes\"] }}\n"
        );
        Arc::new(Schema::from_toml("schema.toml", &text).unwrap())
    };
    let region = "region = { type = \"category\", values = [\"north\", \"south\"] }";
    let whole = schema(&format!(
        "{region}\nage = {{ type = \"integer\", min = 0, max = 120 }}"
    ));
    let source = |name: &str, bytes: &[u8], schema: &Arc<Schema>| {
        let data = home.path(name);
        fs::write(&data, bytes).unwrap();
        Source {
            schema: Arc::clone(schema),
            data,
        }
    };
    let text = format!("region,age,label\n{rows}");
    let mut store = Store::open(&home.ledger()).unwrap();
    store
        .recognise(&[("patients", &source("table.csv", text.as_bytes(), &whole))])
        .unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    let renamed = schema(
        "x = { type = \"number\", min = -5, max = 9 }\nwhere = { type = \"category\", values = [\"north\", \"east\"] }",
    );
    let without = schema(region);
    let reordered: String = rows
        .lines()
        .map(|line| line.split(',').rev().collect::<Vec<_>>().join(",") + "\n")
        .collect();
    let copies = [
        source("table.csv.gz", &packed.finish().unwrap(), &whole),
        source(
            "points.csv",
            text.replace(',', " ,").replace(" ,label", ",label").as_bytes(),
            &whole,
        ),
        source(
            "renamed.csv",
            format!("label,x,where\n{reordered}").as_bytes(),
            &renamed,
        ),
        source(
            "fewer.csv",
            text.lines()
                .map(|line| {
                    let cells: Vec<&str> = line.split(',').collect();
                    format!("{},{}\n", cells[0], cells[2])
                })
                .collect::<String>()
                .as_bytes(),
            &without,
        ),
    ];
    for copy in &copies {
        let refused = store.recognise(&[("copy", copy)]);
        assert!(
            matches!(refused, Err(Error::Budget(_))),
            "{}: {refused:?}",
            copy.data.display()
        );
    }
    let changed = source(
        "changed.csv",
        text.replacen("north", "south", 1)
            .replacen(",0,", ",1,", 1)
            .replacen("yes", "no", 1)
            .as_bytes(),
        &whole,
    );
    store.recognise(&[("others", &changed)]).unwrap();
}

/// A name that knows a harmless part of a table does not pay for the rest of it; nor does another choice of columns, or another layout,
/// make a new table of the same file.
#[test]
fn a_name_that_knows_a_part_does_not_pay_for_the_rest() {
    let home = Home::new();
    let rows: Vec<[String; 4]> = (0..40)
        .map(|i| [i * 37 % 101, i * i % 13, i * 7 % 11, i % 3].map(|x| x.to_string()))
        .collect();
    let schema = |names: &[&str], file: &str| {
        let column = |name: &&str| match name.strip_prefix('-') {
            Some(skipped) => format!("{skipped} = {{ type = \"skip\" }}\n"),
            None => format!("{name} = {{ type = \"number\", min = 0, max = 200 }}\n"),
        };
        let columns: String = names.iter().map(column).collect();
        let text = format!("dataset = \"d\"\n{file}[columns]\n{columns}");
        Arc::new(Schema::from_toml("schema.toml", &text).unwrap())
    };
    let source = |name: &str, places: &[usize], schema: Arc<Schema>| {
        let data = home.path(name);
        let names = ["a", "b", "c", "d"];
        let line = |cells: &dyn Fn(usize) -> String| {
            let cells: Vec<String> = places.iter().map(|&place| cells(place)).collect();
            cells.join(",") + "\n"
        };
        let head = line(&|place| names[place].to_owned());
        let body: String = rows.iter().map(|row| line(&|place| row[place].clone())).collect();
        fs::write(&data, head + &body).unwrap();
        Source { schema, data }
    };
    let mut store = Store::open(&home.ledger()).unwrap();
    let exhausted = source("exhausted.csv", &[2, 3], schema(&["c", "d"], ""));
    store.recognise(&[("patients", &exhausted)]).unwrap();
    limit(&mut store, "dummy", "1");
    let dummy = source("dummy.csv", &[0, 1], schema(&["a", "b"], ""));
    store.recognise(&[("dummy", &dummy)]).unwrap();
    let both = source("both.csv", &[0, 1, 2, 3], schema(&["a", "b", "c", "d"], ""));
    for name in ["dummy", "patients", "fresh"] {
        assert!(
            matches!(store.recognise(&[(name, &both)]), Err(Error::Budget(_))),
            "{name}"
        );
    }
    // The same file under another schema.
    let file = source("file.csv", &[1, 2, 0], schema(&["b", "c", "-a"], ""));
    let mut store = {
        drop(store);
        let home = home.path("other.db");
        Store::create(&home).unwrap()
    };
    store.recognise(&[("patients", &file)]).unwrap();
    for schema in [
        schema(&["-b", "c", "a"], ""),
        schema(&["b", "c", "a"], "[file]\nheader = false\n"),
    ] {
        let other = Source {
            schema,
            data: file.data.clone(),
        };
        assert!(matches!(
            store.recognise(&[("fresh", &other)]),
            Err(Error::Budget(_))
        ));
    }
    // Tables without rows are strangers to each other.
    for name in ["one", "two"] {
        let data = home.path(&format!("{name}.csv"));
        fs::write(
            &data,
            format!("b,c{}\n", " ".repeat(name.len() % 2 + usize::from(name == "two"))),
        )
        .unwrap();
        let empty = Source {
            schema: schema(&["b", "c"], ""),
            data,
        };
        store.recognise(&[(name, &empty)]).unwrap();
    }
}
