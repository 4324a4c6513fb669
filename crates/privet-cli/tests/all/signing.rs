//! Models and certificates are signed with a key of their ledger, and opened only as they were signed.

use std::fs;

use crate::home::{Home, case, told};
use privet_node::ledger::{Store, belongs_to};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A clinic with a budget of ε = 4 at δ = 0.009, and a job that asks for ε = 0.5 at δ = 1e-6.
pub(crate) fn clinic() -> Home {
    let home = Home::new();
    for (folder, file) in [
        ("trees", "clinic.csv"),
        ("trees", "schema.toml"),
        ("desensitise", "shop.csv"),
        ("desensitise", "shop.toml"),
    ] {
        fs::copy(case(folder).join(file), home.path(file)).unwrap();
    }
    let job = "setting = \"central\"\nschema = \"schema.toml\"\ndata = \"clinic.csv\"\noutput = \"model.privet\"\n\n\
               [algorithm]\nname = \"trees\"\ntrees = 2\n\n[privacy]\nepsilon = 0.5\ndelta = 1e-6\nrows_about = 400\n";
    fs::write(home.path("job.toml"), job).unwrap();
    let limit = ["ledger", "limit", "clinic", "--epsilon", "4", "--delta", "0.009"];
    assert_eq!(told(home.privet(&limit)).0, 0);
    home
}

fn fingerprint(home: &Home) -> String {
    let output = home.privet(&["ledger", "key", "--json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    json["fingerprint"].as_str().unwrap().to_owned()
}

pub(crate) fn ok(home: &Home, arguments: &[&str]) -> String {
    let (exit, text) = told(home.privet(arguments));
    assert_eq!(exit, 0, "{arguments:?}: {text}");
    text
}

pub(crate) fn fails(home: &Home, exit: i32, arguments: &[&str]) -> String {
    let (found, text) = told(home.privet(arguments));
    assert_eq!(found, exit, "{arguments:?}: {text}");
    text
}

/// The file with its body edited, under the checksum that belongs to it.
fn edited(file: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(file.to_vec()).unwrap();
    let (head, body) = text.trim_end().split_once("\"body\":").unwrap();
    let body = body.strip_suffix('}').unwrap().replace("\"0.5\"", "\"0.1\"");
    let sum: String = Sha256::digest(&body).iter().map(|b| format!("{b:02x}")).collect();
    let (before, after) = head.split_once("\"sha256\":\"").unwrap();
    format!("{before}\"sha256\":\"{sum}{}\"body\":{body}}}\n", &after[64..]).into_bytes()
}

#[test]
fn a_model_is_signed_and_opens_only_as_it_was_signed() {
    let home = clinic();
    let trained = ok(&home, &["train", "job.toml"]);
    assert!(trained.contains("ε = 0.5 at δ = 0.000001"), "{trained}");
    let own = fingerprint(&home);
    assert_eq!(own, fingerprint(&home), "the key stays");
    assert!(ok(&home, &["ledger", "key"]).starts_with(&own));

    let text = ok(&home, &["inspect", "model.privet"]);
    assert!(
        text.contains(&format!("signed     by {own}, not compared")),
        "{text}"
    );
    let bare = own.replace('-', "");
    for given in [&own, &bare] {
        let text = ok(&home, &["inspect", "model.privet", "--signed-by", given]);
        assert!(text.contains(&format!("by {own}, as asked for")), "{text}");
    }
    let other = bare.chars().rev().collect::<String>();
    let text = fails(&home, 5, &["inspect", "model.privet", "--signed-by", &other]);
    assert!(text.contains(&format!("it is signed by {own}, not by")), "{text}");
    fails(&home, 2, &["inspect", "model.privet", "--signed-by", &own[..20]]);
    let text = ok(&home, &["ledger", "verify", "--against", "model.privet"]);
    assert!(text.contains("signed with this ledger's key"), "{text}");

    let whole = fs::read(home.path("model.privet")).unwrap();
    fs::write(home.path("edited.privet"), edited(&whole)).unwrap();
    for verb in [
        &["inspect", "edited.privet"][..],
        &["inspect", "edited.privet", "--signed-by", &own],
        &["predict", "edited.privet", "--data", "clinic.csv"],
        &["ledger", "verify", "--against", "edited.privet"],
    ] {
        let text = fails(&home, 5, verb);
        assert!(text.contains("signature is bad"), "{text}");
    }

    let mut file: Value = serde_json::from_slice(&whole).unwrap();
    let signature = file.as_object_mut().unwrap().remove("signature").unwrap();
    let shown = format!("\"signature\":{signature},");
    let text = String::from_utf8(whole.clone()).unwrap();
    let at = text.find("\"signature\"").unwrap();
    let end = text[at..].find('}').unwrap() + at + 2;
    assert_eq!(end - at, shown.len());
    let unsigned = format!("{}{}", &text[..at], &text[end..]);
    fs::write(home.path("unsigned.privet"), &unsigned).unwrap();
    let text = ok(&home, &["inspect", "unsigned.privet"]);
    assert!(text.contains("signed     NO: "), "{text}");
    let text = fails(&home, 5, &["inspect", "unsigned.privet", "--signed-by", &own]);
    assert!(text.contains("it is not signed"), "{text}");
    // A signature does not make a file of the older format.
    let older = String::from_utf8(whole)
        .unwrap()
        .replace("\"privet-model\":2", "\"privet-model\":1");
    fs::write(home.path("older.privet"), older).unwrap();
    fails(&home, 5, &["inspect", "older.privet"]);
}

#[test]
fn certificates_on_their_own_are_signed() {
    let home = clinic();
    ok(
        &home,
        &["ledger", "limit", "shop", "--epsilon", "0", "--change", "replace"],
    );
    let desensitise = [
        "desensitise",
        "shop.csv",
        "--schema",
        "shop.toml",
        "--epsilon",
        "3",
        "--out",
    ];
    ok(&home, &[&desensitise[..], &["changed.csv"]].concat());
    ok(&home, &["train", "job.toml"]);
    let evaluate = [
        "evaluate",
        "model.privet",
        "--data",
        "clinic.csv",
        "--spend",
        "0.1",
        "--out",
        "evaluated.json",
    ];
    let text = ok(&home, &evaluate);
    assert!(text.contains("Wrote evaluated.json"), "{text}");
    let own = fingerprint(&home);
    for file in ["changed.csv.certificate.json", "evaluated.json"] {
        let text = ok(&home, &["ledger", "verify", "--against", file]);
        assert!(text.contains("signed with this ledger's key"), "{text}");
        assert!(text.contains("follows from the entries of its run"), "{text}");
        let text = ok(&home, &["inspect", file, "--signed-by", &own]);
        assert!(text.contains("as asked for"), "{text}");
        let edited = fs::read_to_string(home.path(file)).unwrap();
        for (from, to) in [("\"clinic\"", "\"branch\""), ("\"shop\"", "\"stall\"")] {
            let edited = edited.replace(from, to);
            fs::write(home.path("edited.json"), &edited).unwrap();
            if !edited.contains(to) {
                continue;
            }
            for verb in [
                &["inspect", "edited.json"][..],
                &["ledger", "verify", "--against", "edited.json"],
            ] {
                let text = fails(&home, 5, verb);
                assert!(text.contains("signature is bad"), "{text}");
            }
        }
    }
}

#[test]
fn the_signing_key_is_kept_and_checked() {
    let home = clinic();
    let file = home.path("ledger.db.signing");
    assert!(!file.exists(), "made when it is needed");
    let attempt = || {
        Store::open(&home.ledger())
            .unwrap()
            .signing_key()
            .map(|key| key.public())
    };
    let public = attempt().unwrap();
    let whole = fs::read(&file).unwrap();
    assert_eq!(whole.len(), 32);
    assert_ne!(
        whole,
        fs::read(home.path("ledger.db.key")).unwrap(),
        "not the other key"
    );
    assert_eq!(attempt().unwrap(), public);
    assert!(Store::read_only(&home.ledger()).unwrap().signing_key().is_err());
    assert!(belongs_to(&home.ledger(), &file));
    fails(&home, 2, &["train", "job.toml", "--out", "ledger.db.signing"]);

    let before = Store::read_only(&home.ledger()).unwrap().rows().unwrap().len();
    let said = |expected: &str| {
        let error = attempt().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let text = fails(&home, 4, &["train", "job.toml"]);
        assert!(text.contains(expected), "{text}");
    };
    let mut flipped = whole.clone();
    flipped[7] ^= 1;
    fs::write(&file, flipped).unwrap();
    said("is damaged or belongs to another ledger");
    fs::write(&file, &whole[1..]).unwrap();
    said("is not 32 bytes");
    fs::remove_file(&file).unwrap();
    said("is missing");
    assert_eq!(
        fingerprint(&home),
        public.fingerprint().to_string(),
        "known all the same"
    );
    fs::write(&file, &whole).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        said("chmod 600");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(attempt().unwrap(), public);
    let now = Store::read_only(&home.ledger()).unwrap().rows().unwrap().len();
    assert_eq!(now, before, "nothing was paid without a key");

    fs::remove_file(home.ledger()).unwrap();
    fs::remove_file(home.path("ledger.db.key")).unwrap();
    let text = fails(&home, 4, &["ledger", "limit", "clinic", "--epsilon", "1"]);
    assert!(text.contains("there was a ledger"), "{text}");
}

/// The job's own ε and δ stand first wherever a run is spoken of; the ledger's line beside it is named as such.
#[test]
fn a_job_reads_its_own_promise_first() {
    let home = clinic();
    let plan = ok(&home, &["plan", "job.toml"]);
    assert!(plan.contains("WHAT ε = 0.5 at δ = 1e-6 MEANS"), "{plan}");
    let beside = "under this ledger's budget, which is stated at δ = 0.009, that counts as ε = 0.137276025";
    assert!(plan.contains(beside), "{plan}");
    let train = ok(&home, &["train", "job.toml"]);
    let inspect = ok(&home, &["inspect", "model.privet"]);
    for text in [&train, &inspect] {
        let own = text
            .find("differential privacy, ε = 0.5 at δ = 0.000001")
            .unwrap();
        let line = text.find("together   under this ledger's budget").unwrap();
        assert!(own < line, "{text}");
        assert_eq!(text.find("ε = "), text[..].find("ε = 0.5"), "{text}");
        assert!(text.contains("this run alone has ε = 0.137276025"), "{text}");
    }
    assert!(inspect.contains("WHAT ε = 0.5 at δ = 1e-6 MEANS"), "{inspect}");
    let output = home
        .privet(&["inspect", "model.privet", "--json"])
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["protection"]["epsilon"], "0.5");
    let stated = &json["certificate"]["claims"][0]["guarantee"]["approximate"];
    assert_eq!(
        (&stated["epsilon"], &stated["delta"]),
        (&"0.5".into(), &"0.000001".into())
    );
}
