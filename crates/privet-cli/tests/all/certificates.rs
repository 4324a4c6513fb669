//! Certificates against the ledger they speak of: every field that is edited is found, and older files still open.

use std::fs;
use std::path::Path;

use crate::home::{Home, case, copy, told};
use privet::privacy::account::{Caps, MuSquared, Price};
use privet::privacy::journal::{Event, Journal};
use privet::privacy::signature::SigningKey;
use privet::privacy::{
    AddRemove, Book, Certificate, Delta, Epsilon, Ledger, Neighbours, Randomness, Replace, Unprotected,
};
use privet_node::ledger::Store;
use serde_json::{Value, json};

fn delta() -> Delta {
    "1e-6".parse().unwrap()
}

fn gaussian(epsilon: &str) -> MuSquared {
    MuSquared::for_budget(epsilon.parse().unwrap(), delta()).unwrap()
}

/// A ledger with two data sets, each with budgets of ε = 8 at δ = 0.009 for two kinds of change.
fn clinic() -> Home {
    let home = Home::new();
    let mut store = Store::open(&home.ledger()).unwrap();
    for dataset in ["clinic", "branch"] {
        for relation in [AddRemove::row().relation(), Replace::row().relation()] {
            let mu_squared = gaussian("8");
            store
                .record(Event::Limit {
                    dataset: dataset.into(),
                    relation,
                    caps: Caps {
                        mu_squared,
                        ..Caps::ZERO
                    },
                    delta: "0.009".parse().unwrap(),
                })
                .unwrap();
        }
    }
    home
}

fn open(home: &Home) -> Ledger<AddRemove> {
    let store = Store::open(&home.ledger()).unwrap();
    Ledger::open("clinic", AddRemove::row(), store, Randomness::from_os().unwrap()).unwrap()
}

/// A run that promises this ε at δ = 1e-6 and pays it in two halves.
fn run(home: &Home, epsilon: &str) -> Certificate {
    let mut ledger = open(home);
    let price = Price::Gaussian(gaussian(epsilon));
    ledger.promise(price, delta()).unwrap();
    for what in ["the first half", "the second half"] {
        ledger.reserve(what, price.part(1, 2).unwrap(), 3).unwrap();
    }
    ledger.close()
}

/// Saves, verifies, and gives the exit code and the words.
fn verify(home: &Home, certificate: &Value) -> (i32, String) {
    fs::write(home.path("certificate.json"), certificate.to_string()).unwrap();
    home.verify("certificate.json")
}

fn caps_of(epsilon: &str, delta: &str) -> Value {
    let mu_squared = gaussian(epsilon);
    let caps = Caps {
        mu_squared,
        ..Caps::ZERO
    };
    let delta: Delta = delta.parse().unwrap();
    json!({"approximate": {"epsilon": caps.epsilon(delta), "delta": delta, "caps": caps}})
}

/// What is edited, why it is refused, and how.
type Edit<'a> = (&'a str, &'a str, &'a dyn Fn(&mut Value));

/// Every edit is refused, for the reason it is named with.
fn refused(home: &Home, whole: &Value, edits: &[Edit<'_>]) {
    let (exit, text) = verify(home, whole);
    assert_eq!(exit, 0, "{text}");
    for (name, because, edit) in edits {
        let mut edited = whole.clone();
        edit(&mut edited);
        assert_ne!(&edited, whole, "{name}");
        let (exit, text) = verify(home, &edited);
        assert_eq!(exit, 4, "{name}: {text}");
        assert!(text.contains(because), "{name}: {text}");
    }
}

#[test]
fn every_field_that_is_edited_is_found() {
    let home = clinic();
    let small = json!(run(&home, "0.01"));
    let whole = json!(run(&home, "1"));
    let (exit, text) = verify(&home, &whole);
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains("follows from the entries of its run"), "{text}");
    let pasted = |c: &mut Value| c["claims"][0]["guarantee"] = small["claims"][0]["guarantee"].clone();
    let guarantee = |c: &mut Value, value: Value| c["claims"][0]["guarantee"] = value;
    refused(
        &home,
        &whole,
        &[
            ("a pasted guarantee", "what it may spend", &pasted),
            ("another δ, and the ε of it", "in δ", &|c| {
                guarantee(c, caps_of("1", "0.009"))
            }),
            ("smaller caps", "what it may spend", &|c| {
                guarantee(c, caps_of("0.9", "1e-6"))
            }),
            ("a smaller ε", "in ε", &|c| {
                c["claims"][0]["guarantee"]["approximate"]["epsilon"] = "0.1".into()
            }),
            ("a pure ε", "the guarantee", &|c| {
                guarantee(c, json!({"pure": {"epsilon": "1"}}))
            }),
            ("no claims", "omits the claim", &|c| c["claims"] = json!([])),
            ("no claims and no payments", "omits the payment", &|c| {
                (c["claims"], c["payments"]) = (json!([]), json!([]))
            }),
            (
                "one payment fewer, and its share of the claim",
                "omits the payment",
                &|c| {
                    c["payments"].as_array_mut().unwrap().pop();
                    guarantee(c, caps_of("0.7", "1e-6"));
                },
            ),
            ("a cheaper payment", "is not in this ledger", &|c| {
                c["payments"][0]["price"] = json!({"gaussian": "0.001"})
            }),
            ("a payment for something else", "is not in this ledger", &|c| {
                c["payments"][0]["what"] = "a count".into()
            }),
            ("fewer draws", "is not in this ledger", &|c| {
                c["payments"][0]["draws"] = 1.into()
            }),
            ("an assumption that was not made", "is not in this ledger", &|c| {
                c["payments"][0]["assuming"] = json!(["all is well"])
            }),
            ("a claim more", "does not follow from its run", &|c| {
                let claim = c["claims"][0].clone();
                c["claims"].as_array_mut().unwrap().push(claim);
            }),
            ("another change", "whom it protects", &|c| {
                c["claims"][0]["protects"]["change"] = "replace".into()
            }),
            ("units of two rows", "whom it protects", &|c| {
                c["claims"][0]["protects"]["rows"] = 2.into()
            }),
            ("another observer", "from whom", &|c| {
                c["claims"][0]["from"] = json!({"party": "a friend"})
            }),
            ("another data set", "no entries of its run", &|c| {
                c["dataset"] = "branch".into()
            }),
            ("a data set that is not there", "no entries of its run", &|c| {
                c["dataset"] = "nobody".into()
            }),
            ("no total", "its total", &|c| c["total"] = Value::Null),
            ("a smaller total", "its total", &|c| {
                c["total"]["guarantee"] = caps_of("1", "0.009")
            }),
            ("a total with an uncovered payment", "its total", &|c| {
                c["total"]["uncovered"] = 1.into()
            }),
            ("a total of fewer changes", "its total", &|c| {
                c["total"]["changed"] = 7.into()
            }),
            ("another run's name", "is not in this ledger", &|c| {
                c["runs"] = small["runs"].clone()
            }),
            ("a name that is not there", "no entries of its run", &|c| {
                c["runs"] = json!(["00000000000000000000000000000000"])
            }),
            ("no name", "and it names none", &|c| {
                c.as_object_mut().unwrap().remove("runs");
            }),
            (
                "no name, and local privacy from a party",
                "and it names none",
                &|c| {
                    c.as_object_mut().unwrap().remove("runs");
                    c["payments"] = json!([]);
                    c["claims"][0]["from"] = json!({"party": "a friend"});
                    guarantee(c, json!({"local": {"epsilon": "0.001"}}));
                },
            ),
            ("void", "the guarantee", &|c| {
                guarantee(c, json!({"void": {"because": "of modesty"}}))
            }),
            ("not recorded", "made without a ledger", &|c| {
                c["recorded"] = false.into()
            }),
            ("an earlier place", "omits the payment", &|c| {
                c["ledger"] = small["ledger"].clone();
                c["payments"].as_array_mut().unwrap().clear();
                c["claims"].as_array_mut().unwrap().clear();
                c["runs"] = small["runs"].clone();
            }),
        ],
    );
}

#[test]
fn a_void_run_stays_void_and_a_crashed_one_is_counted() {
    let home = clinic();
    let mut crashed = open(&home);
    crashed
        .reserve("a run that crashes", Price::Gaussian(gaussian("1")), 1)
        .map(drop)
        .unwrap();
    drop(crashed);
    let after = json!(run(&home, "0.5"));
    assert_eq!(verify(&home, &after).0, 0);

    let mut void = open(&home);
    void.promise(Price::Gaussian(gaussian("0.5")), delta()).unwrap();
    void.reserve("a run", Price::Gaussian(gaussian("0.5")), 1)
        .map(drop)
        .unwrap();
    void.void("the noise came from a friend").unwrap();
    let void = json!(void.close());
    refused(
        &home,
        &void,
        &[
            ("not void", "the guarantee", &|c| {
                c["claims"][0]["guarantee"] = after["claims"][0]["guarantee"].clone()
            }),
            ("another reason", "the guarantee", &|c| {
                c["claims"][0]["guarantee"]["void"]["because"] = "of modesty".into()
            }),
            ("a total that is not", "its total", &|c| {
                c["total"] = after["total"].clone()
            }),
            ("no claims", "omits the claim", &|c| c["claims"] = json!([])),
        ],
    );

    // Cut off before the entry that voids it, the run looks whole.
    let entries = Store::read_only(&home.ledger()).unwrap().read(0).unwrap();
    let paid = &entries[entries.len() - 2];
    let mut cut = void.clone();
    cut["ledger"] = json!(paid.head());
    let then = Book::of(&entries[..entries.len() - 1]).unwrap();
    let runs: Vec<String> = serde_json::from_value(void["runs"].clone()).unwrap();
    let expected = then
        .certificate("clinic", &runs, &AddRemove::row().relation())
        .unwrap();
    cut["claims"] = json!(expected.claims);
    cut["total"] = json!(expected.total);
    let (exit, text) = verify(&home, &cut);
    assert_eq!(exit, 4, "{text}");
    assert!(text.contains("its run went on after entry"), "{text}");

    let mut store = Store::open(&home.ledger()).unwrap();
    let relation = AddRemove::row().relation();
    let leave = Unprotected::recorded("clinic", &relation, "an owner looked", &mut store).unwrap();
    drop(store);
    let unprotected = json!(leave.certificate());
    refused(
        &home,
        &unprotected,
        &[
            ("no claims", "omits the claim", &|c| c["claims"] = json!([])),
            ("a promise", "the guarantee", &|c| {
                c["claims"][0]["guarantee"] = after["claims"][0]["guarantee"].clone()
            }),
        ],
    );
}

/// A ledger, two models and two certificates as the version before wrote them.
fn before() -> Home {
    let home = Home {
        folder: tempfile::tempdir().unwrap(),
    };
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/before");
    copy(&kept, home.folder.path());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let owner = fs::Permissions::from_mode(0o600);
        fs::set_permissions(home.path("ledger.db.key"), owner).unwrap();
    }
    home
}

fn certificate_in(home: &Home, file: &str) -> Value {
    let value: Value = serde_json::from_slice(&fs::read(home.path(file)).unwrap()).unwrap();
    match (value.get("body"), value.get("certificate")) {
        (Some(body), _) => body["certificate"].clone(),
        (_, Some(certificate)) => certificate.clone(),
        _ => value,
    }
}

#[test]
fn older_certificates_are_checked_as_far_as_they_can_be() {
    let home = before();
    for file in [
        "gaussian.privet",
        "pure.privet",
        "evaluated.json",
        "changed.csv.certificate.json",
    ] {
        let (exit, text) = home.verify(file);
        assert_eq!(exit, 0, "{file}: {text}");
        assert!(text.contains("before runs had names"), "{file}: {text}");
        assert!(text.contains("not signed"), "{file}: {text}");
    }
    let approximate = |epsilon: &str, delta: &str| {
        let mu_squared = gaussian(epsilon);
        let caps = Caps {
            mu_squared,
            ..Caps::ZERO
        };
        let delta: Delta = delta.parse().unwrap();
        json!({"approximate": {"epsilon": caps.epsilon(delta), "delta": delta, "caps": caps}})
    };
    let guarantee = |c: &mut Value, value: Value| c["claims"][0]["guarantee"] = value;
    refused(
        &home,
        &certificate_in(&home, "gaussian.privet"),
        &[
            ("smaller caps", "more than it says", &|c| {
                guarantee(c, approximate("0.01", "0.009"))
            }),
            ("another δ", "its δ is not", &|c| {
                guarantee(c, approximate("0.5", "1e-6"))
            }),
            ("a smaller ε", "does not follow from its caps", &|c| {
                c["claims"][0]["guarantee"]["approximate"]["epsilon"] = "0.1".into()
            }),
            ("no claims", "claims nothing", &|c| c["claims"] = json!([])),
            ("no claims and no payments", "claims nothing", &|c| {
                (c["claims"], c["payments"]) = (json!([]), json!([]))
            }),
            ("no payments", "omits the payment", &|c| c["payments"] = json!([])),
            ("another change", "total", &|c| {
                c["claims"][0]["protects"]["change"] = "replace".into()
            }),
            ("a smaller total", "total", &|c| {
                c["total"]["guarantee"] = approximate("1", "0.009")
            }),
        ],
    );
    refused(
        &home,
        &certificate_in(&home, "evaluated.json"),
        &[
            ("a smaller ε", "not the sum of its payments", &|c| {
                c["claims"][0]["guarantee"]["pure"]["epsilon"] = "0.01".into()
            }),
            ("a cheaper payment and claim", "omits the payment", &|c| {
                c["claims"][0]["guarantee"]["pure"]["epsilon"] = "0.01".into();
                c["payments"][0]["price"]["pure"] = "0.01".into();
            }),
        ],
    );
}

/// Entries keep their bytes, and new ones follow them.
#[test]
fn an_older_ledger_goes_on() {
    let home = before();
    let store = Store::open(&home.ledger()).unwrap();
    let rows = store.rows().unwrap();
    let mut ledger = Ledger::open("clinic", AddRemove::row(), store, Randomness::from_os().unwrap()).unwrap();
    let epsilon: Epsilon = "0.1".parse().unwrap();
    ledger.promise(Price::Pure(epsilon), Delta::ZERO).unwrap();
    ledger
        .reserve("a run", Price::Pure(epsilon), 1)
        .map(drop)
        .unwrap();
    let certificate = json!(ledger.close());
    assert_eq!(verify(&home, &certificate).0, 0);
    let now = Store::read_only(&home.ledger()).unwrap().rows().unwrap();
    assert_eq!(now[..rows.len()], rows);
    assert_eq!(now.len(), rows.len() + 1);
    let (exit, text) = home.verify("gaussian.privet");
    assert_eq!(exit, 0, "{text}");
    let (exit, text) = told(home.privet(&["inspect", "gaussian.privet"]));
    assert_eq!(exit, 0, "{text}");
    assert!(
        text.contains("signed     no: the file is older than signatures"),
        "{text}"
    );
}

/// Parties on one machine share a ledger, so what each says of its part is checked, too; where a certificate joins two runs (labels
/// that were kept, and the run they are used in), both.
#[test]
fn what_parties_say_is_checked_where_their_ledger_is() {
    let home = Home::new();
    copy(&case("vertical"), home.folder.path());
    let ok = |arguments: &[&str]| {
        let (exit, text) = told(home.privet(arguments));
        assert_eq!(exit, 0, "{arguments:?}: {text}");
        text
    };
    ok(&["ledger", "limit", "shop", "--epsilon", "0", "--change", "replace"]);
    let register = ["ledger", "limit", "register", "--epsilon", "0", "--change"];
    ok(&[&register[..], &["replace-private", "--columns", "loan"]].concat());
    ok(&["train", "job.toml", "--not-protected", "--out", "open.privet"]);
    ok(&["train", "noisy.toml", "--out", "noisy.privet"]);
    ok(&["train", "noisy.toml", "--out", "again.privet"]);
    for file in ["open.privet", "noisy.privet", "again.privet"] {
        let text = ok(&["ledger", "verify", "--against", file]);
        assert!(text.contains("follows from the entries of its run"), "{text}");
        assert!(!text.contains("only its own ledger can show"), "{text}");
    }
    let whole = certificate_in(&home, "again.privet");
    assert_eq!(whole["runs"].as_array().unwrap().len(), 2, "{whole}");
    let shop = "in the part of shop";
    refused(
        &home,
        &whole,
        &[
            ("a party's claims", shop, &|c| {
                c["parties"][0]["certificate"]["claims"] = json!([])
            }),
            ("a party's columns", shop, &|c| {
                let claims = &mut c["parties"][0]["certificate"]["claims"];
                claims[0]["guarantee"]["distance"]["record"]["bounded"] = "0.01".into();
            }),
            ("a party's data set", shop, &|c| {
                c["parties"][0]["certificate"]["dataset"] = "register".into()
            }),
            ("its own columns", "it omits the claim", &|c| {
                c["claims"].as_array_mut().unwrap().pop();
            }),
        ],
    );
    let mut elsewhere = whole;
    let party = &mut elsewhere["parties"][0]["certificate"];
    party["ledger"] = json!({"entries": 1, "hash": "00"});
    let (exit, text) = verify(&home, &elsewhere);
    assert_eq!(exit, 4, "its run is in this ledger: {text}");
    let party = &mut elsewhere["parties"][0]["certificate"];
    party["runs"] = json!(["00000000000000000000000000000000"]);
    let (exit, text) = verify(&home, &elsewhere);
    assert_eq!(exit, 0, "{text}");
    assert!(
        text.contains("the part of shop can be checked only against its own ledger"),
        "{text}"
    );
}

/// What a party says of its part commits to a place in its ledger: whoever has ledger and key finds it, also in a model that another ledger
/// signed.
#[test]
fn what_a_party_commits_to_is_found_by_its_owner_alone() {
    let home = Home::new();
    copy(&case("vertical"), home.folder.path());
    let ok = |arguments: &[&str]| {
        let (exit, text) = told(home.privet(arguments));
        assert_eq!(exit, 0, "{arguments:?}: {text}");
        text
    };
    ok(&["ledger", "limit", "shop", "--epsilon", "0", "--change", "replace"]);
    ok(&["train", "job.toml", "--not-protected", "--out", "open.privet"]);
    ok(&[
        "train",
        "second.toml",
        "--not-protected",
        "--out",
        "second.privet",
    ]);
    let entries = Store::read_only(&home.ledger()).unwrap().rows().unwrap().len();
    let text = ok(&["ledger", "verify", "--against", "second.privet"]);
    let made = format!("the part of shop was made at entry {entries}, and what it says follows");
    assert!(text.contains(&made), "{text}");
    let whole = certificate_in(&home, "second.privet");
    let party = whole["parties"][0]["certificate"].clone();
    assert_eq!(party["ledger"], json!({"entries": 0, "hash": ""}));
    assert_eq!(party["total"], Value::Null);
    let shop = "in the part of shop";
    let total = json!({"guarantee": {"pure": {"epsilon": "0"}}, "uncovered": 0, "leaks": 0, "changed": 0});
    let first = certificate_in(&home, "open.privet");
    refused(
        &home,
        &whole,
        &[
            ("another commitment", shop, &|c| {
                c["parties"][0]["certificate"]["commitment"] = "00".into()
            }),
            ("the commitment of another run", shop, &|c| {
                c["parties"][0]["certificate"]["commitment"] =
                    first["parties"][0]["certificate"]["commitment"].clone()
            }),
            ("what its run showed", shop, &|c| {
                c["parties"][0]["certificate"]["claims"]
                    .as_array_mut()
                    .unwrap()
                    .pop();
            }),
            ("a smaller loss", shop, &|c| {
                let claims = &mut c["parties"][0]["certificate"]["claims"];
                claims[0]["guarantee"]["distance"]["columns"][0]["whole"]["bounded"] = "0.1".into();
            }),
            ("a total", shop, &|c| {
                c["parties"][0]["certificate"]["total"] = total.clone()
            }),
            ("not recorded", shop, &|c| {
                c["parties"][0]["certificate"]["recorded"] = false.into()
            }),
            ("a party of a party", shop, &|c| {
                c["parties"][0]["certificate"]["parties"] = first["parties"].clone()
            }),
            ("something more that was shown", shop, &|c| {
                let claims = c["parties"][0]["certificate"]["claims"].as_array_mut().unwrap();
                claims.push(claims.last().unwrap().clone());
            }),
            ("no commitment, and nothing shown", shop, &|c| {
                let party = c["parties"][0]["certificate"].as_object_mut().unwrap();
                party.remove("commitment").unwrap();
                party["claims"].as_array_mut().unwrap().pop();
            }),
            ("its own run left out, with its claim", shop, &|c| {
                let party = &mut c["parties"][0]["certificate"];
                party["runs"].as_array_mut().unwrap().pop().unwrap();
                party["claims"].as_array_mut().unwrap().pop().unwrap();
            }),
            ("the columns' run left out, with its claim", shop, &|c| {
                let party = &mut c["parties"][0]["certificate"];
                party["runs"].as_array_mut().unwrap().remove(0);
                party["claims"].as_array_mut().unwrap().remove(0);
            }),
        ],
    );
    assert_eq!(party["runs"].as_array().unwrap().len(), 2, "{party}");

    // A bank with a ledger of its own: its part is not here, the shop's is.
    let mut elsewhere: Certificate = serde_json::from_value(whole.clone()).unwrap();
    elsewhere.runs = vec!["00000000000000000000000000000000".into()];
    elsewhere.ledger.hash = "00".into();
    let theirs = SigningKey::from_bytes(&[7; 32]);
    fs::write(home.path("bank.json"), elsewhere.to_signed_json(&theirs)).unwrap();
    let (exit, text) = home.verify("bank.json");
    assert_eq!(exit, 0, "{text}");
    assert!(
        text.contains("made with another ledger") && text.contains(&made),
        "{text}"
    );
    fs::write(home.path("bank.json"), elsewhere.to_json()).unwrap();
    let (exit, text) = home.verify("bank.json");
    assert_eq!(
        exit, 4,
        "nobody signed it, so it may be of this ledger before it was rolled back: {text}"
    );
    elsewhere.parties[0].certificate.payments = run_of_nobody();
    fs::write(home.path("bank.json"), elsewhere.to_signed_json(&theirs)).unwrap();
    assert_eq!(
        home.verify("bank.json").0,
        4,
        "a payment that the shop never made"
    );

    // An auditor without the key checks what the entries show.
    fs::rename(home.path("ledger.db.key"), home.path("key")).unwrap();
    let text = ok(&["ledger", "verify", "--against", "second.privet"]);
    assert!(text.contains("can be told only with the ledger's key"), "{text}");
    refused(
        &home,
        &whole,
        &[
            ("a total", shop, &|c| {
                c["parties"][0]["certificate"]["total"] = total.clone()
            }),
            ("something more that was shown", shop, &|c| {
                let claims = c["parties"][0]["certificate"]["claims"].as_array_mut().unwrap();
                claims.push(claims.last().unwrap().clone());
            }),
            ("what its run showed", shop, &|c| {
                let claims = &mut c["parties"][0]["certificate"]["claims"];
                claims.as_array_mut().unwrap().pop();
            }),
        ],
    );
}

fn run_of_nobody() -> Vec<privet::privacy::Payment> {
    vec![privet::privacy::Payment {
        what: "nothing".into(),
        price: Price::Pure(Epsilon::ZERO),
        draws: 1,
        assuming: Vec::new(),
        sharing: None,
    }]
}

/// Models of the version before show the head of a party's ledger: they open and verify as they did.
#[test]
fn a_partys_head_in_an_older_model_is_still_compared() {
    let home = Home {
        folder: tempfile::tempdir().unwrap(),
    };
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/before-parties");
    copy(&kept, home.folder.path());
    let (exit, text) = home.verify("model.privet");
    assert_eq!(exit, 0, "{text}");
    assert!(
        text.contains("made at entry 6, and what it says follows"),
        "{text}"
    );
    let (exit, text) = told(home.privet(&["inspect", "model.privet"]));
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains("ledger     entry 8 ("), "{text}");
    let shop = "in the part of shop";
    let whole = certificate_in(&home, "model.privet");
    refused(
        &home,
        &whole,
        &[("a party's total", shop, &|c| {
            c["parties"][0]["certificate"]["total"]["leaks"] = 0.into()
        })],
    );
}

/// Readers differ in which of two keys they take: such a file is refused, signed or not.
#[test]
fn what_is_said_twice_is_refused() {
    let home = clinic();
    let whole = run(&home, "1").to_json();
    let (head, rest) = whole.split_once("\"claims\":").unwrap();
    let twice = format!("{head}\"claims\":[],\"claims\":{rest}");
    fs::write(home.path("twice.json"), twice).unwrap();
    let (exit, text) = home.verify("twice.json");
    assert_eq!(exit, 5, "{text}");
    assert!(text.contains("it says \"claims\" twice"), "{text}");
}
