//! One file under two names: nothing is written over what is read or kept, whatever it is called.

use std::fs;

use crate::home::{Home, told};
use privet::privacy::journal::{Event, Journal};
use privet_node::ledger::Store;

const SCHEMA: &str = "dataset = \"shop\"\n[columns]\nclient = { type = \"id\" }\nspent = { type = \"number\", min = 0, max = 100 }\n\
                      town = { type = \"category\", values = [\"a\", \"b\", \"c\"] }\n";

/// A folder with a table whose columns may be released.
pub(crate) fn shop() -> Home {
    let home = Home::new();
    let rows: String = (0..60)
        .map(|i| format!("p{i},{},{}\n", i * 37 % 100, ["a", "b", "c"][i % 3]))
        .collect();
    fs::write(home.path("shop.csv"), format!("client,spent,town\n{rows}")).unwrap();
    fs::write(home.path("shop.toml"), SCHEMA).unwrap();
    fs::create_dir(home.path("sub")).unwrap();
    let limit = ["ledger", "limit", "shop", "--epsilon", "0", "--change", "replace"];
    let (exit, text) = told(home.privet(&limit));
    assert_eq!(exit, 0, "{text}");
    home
}

/// Releases the shop's columns with these further arguments.
pub(crate) fn desensitise(home: &Home, more: &[&str]) -> (i32, String) {
    let command = [
        "desensitise",
        "shop.csv",
        "--schema",
        "shop.toml",
        "--epsilon",
        "1",
    ];
    told(home.privet(&[&command[..], more].concat()))
}

fn has_released(home: &Home) -> bool {
    let entries = Store::read_only(&home.ledger()).unwrap().read(0).unwrap();
    let mut events = entries.iter().map(|entry| entry.event());
    events.any(|event| matches!(event, Event::Desensitise { .. }))
}

fn refused(home: &Home, out: &str, kept: &str) {
    let (exit, text) = desensitise(home, &["--out", out, "--kept", kept]);
    assert_eq!(exit, 2, "--out {out} --kept {kept}: {text}");
    assert!(text.contains("would be overwritten"), "{text}");
    assert!(
        !has_released(home),
        "--out {out} --kept {kept}: nothing was drawn"
    );
}

#[test]
fn columns_are_never_kept_where_the_result_goes() {
    let home = shop();
    for (out, kept) in [
        ("./x.dat", "x.dat"),
        ("x.dat", "sub/../x.dat"),
        ("sub/../x.dat", "sub/.././x.dat"),
        ("x.dat", "./x.dat.certificate.json"),
        ("./shop.csv.labels", "x.dat"),
    ] {
        refused(&home, out, kept);
        assert!(!home.path("x.dat").exists());
    }
    let absolute = home.path("x.dat");
    refused(&home, absolute.to_str().unwrap(), "x.dat");
}

#[cfg(unix)]
#[test]
fn links_are_followed_before_names_are_compared() {
    use std::os::unix::fs::symlink;
    let home = shop();
    // A folder under two names, and a link to a file that is not there yet.
    symlink(home.path("sub"), home.path("other")).unwrap();
    symlink("sub/x.dat", home.path("planted.dat")).unwrap();
    symlink("planted.dat", home.path("twice.dat")).unwrap();
    refused(&home, "other/x.dat", "sub/x.dat");
    refused(&home, "planted.dat", "other/x.dat");
    refused(&home, "sub/x.dat", "twice.dat");
    // Two names of one file.
    fs::hard_link(home.path("shop.csv"), home.path("hard.csv")).unwrap();
    refused(&home, "hard.csv", "x.dat");
    refused(&home, "x.dat", "sub/../hard.csv");
}

#[test]
fn the_ledgers_own_files_are_known_under_every_name() {
    let home = shop();
    for name in [
        "sub/../ledger.db-wal",
        "sub/../ledger.db.signing",
        "./ledger.db-shm",
        "ledger.db-journal",
    ] {
        let (exit, text) = told(home.privet(&["ledger", "export", "--out", name]));
        assert_eq!(exit, 2, "{name}: {text}");
        let (exit, text) = desensitise(&home, &["--out", name]);
        assert_eq!(exit, 2, "{name}: {text}");
        let (exit, text) = told(home.privet(&["schema", "draft", "shop.csv", "--out", name]));
        assert_eq!(exit, 2, "{name}: {text}");
    }
    assert!(!home.path("ledger.db.signing").exists());
    assert!(!has_released(&home));
}

#[test]
fn a_model_never_goes_where_columns_are_kept() {
    let home = shop();
    fs::write(
        home.path("bank.toml"),
        "dataset = \"bank\"\n[columns]\nclient = { type = \"id\" }\npaid = { type = \"label\", values = [\"no\", \"yes\"], private = false }\n",
    )
    .unwrap();
    let rows: String = (0..60)
        .map(|i| format!("p{i},{}\n", ["no", "yes"][i % 2]))
        .collect();
    fs::write(home.path("bank.csv"), format!("client,paid\n{rows}")).unwrap();
    let job = |output: &str, bank: &str, shop: &str| {
        let text = format!(
            "setting = \"vertical\"\noutput = \"{output}\"\nmost_ids = 1000\n[privacy]\nepsilon = 1.0\n[algorithm]\nname = \"trees\"\n[label_holder]\n\
             schema = \"bank.toml\"\ndata = \"bank.csv\"\nid = \"client\"\nkept = \"{bank}\"\n[feature_holder.shop]\n\
             schema = \"shop.toml\"\ndata = \"shop.csv\"\nid = \"client\"\nkept = \"{shop}\"\n"
        );
        fs::write(home.path("job.toml"), text).unwrap();
        told(home.privet(&["plan", "job.toml"]))
    };
    for (output, bank, shop) in [
        ("./shop.columns", "bank.labels", "shop.columns"),
        ("model.privet", "sub/../all.kept", "all.kept"),
        ("model.privet", "./shop.toml", "shop.columns"),
    ] {
        let (exit, text) = job(output, bank, shop);
        assert_eq!(exit, 5, "{output} {bank} {shop}: {text}");
        assert!(
            text.contains("overwrite") || text.contains("is used by"),
            "{output} {bank} {shop}: {text}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_result_replaces_a_link_and_never_what_it_points_to() {
    use std::os::unix::fs::symlink;
    let home = shop();
    fs::write(home.path("letter.txt"), "dear").unwrap();
    symlink("letter.txt", home.path("out.csv")).unwrap();
    let (exit, text) = desensitise(&home, &["--out", "out.csv"]);
    assert_eq!(exit, 0, "{text}");
    assert_eq!(fs::read_to_string(home.path("letter.txt")).unwrap(), "dear");
    assert!(fs::symlink_metadata(home.path("out.csv")).unwrap().is_file());
}

/// What is not a file is never replaced by one: as the superuser, this would remove a device.
#[cfg(unix)]
#[test]
fn a_folder_or_a_device_is_not_replaced() {
    use std::os::unix::fs::symlink;
    let home = shop();
    symlink("/dev/null", home.path("nothing")).unwrap();
    for out in ["sub", "nothing"] {
        let (exit, text) = desensitise(&home, &["--out", out]);
        assert_eq!(exit, 2, "{out}: {text}");
        assert!(text.contains("not a file"), "{out}: {text}");
    }
    assert!(!has_released(&home));
}
