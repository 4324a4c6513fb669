//! Payments for joint sums, as `privet ledger show` and `verify` say them.

use std::fs;

use privet::privacy::account::Price;
use privet::privacy::{AddRemove, Ledger, Randomness, Sharing};
use privet_node::ledger::Store;
use serde_json::{Value, json};

use crate::home::{Home, limit, told};

const PROVIDED: &str = "rovided that the cryptography of the joint sums is not broken, at most 2 of the 20 owners collude (one that looks at the \
                        results alone counts as one), and at most 3 are absent from a sum";

#[test]
fn what_is_assumed_of_owners_is_shown_and_verified() {
    let home = Home::new();
    let mut store = Store::open(&home.ledger()).unwrap();
    limit(&mut store, "clinic", "1");
    let mut ledger = Ledger::open("clinic", AddRemove::row(), store, Randomness::from_os().unwrap()).unwrap();
    let each = Price::Pure("0.01".parse().unwrap());
    let sharing = Sharing::new(20, 3, 2).unwrap();
    ledger.share_allowance("trees", each, 30, sharing).unwrap();
    let certificate = ledger.close();
    home.save("certificate.json", &certificate);
    let (exit, text) = home.verify("certificate.json");
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains("follows from the entries of its run"), "{text}");
    assert!(
        text.contains(&format!("Some of its prices hold p{PROVIDED}.")),
        "{text}"
    );
    let (exit, text) = told(home.privet(&["ledger", "show", "clinic"]));
    assert_eq!(exit, 0, "{text}");
    assert!(text.contains(&format!("p{PROVIDED}")), "{text}");
    assert!(
        text.contains("trees (30 joint sums of 20 owners, under an assumption)"),
        "{text}"
    );
    assert!(certificate.to_string().contains(PROVIDED), "{certificate}");
    // Whatever is edited of the assumption is found.
    let whole = json!(certificate);
    let edits: [(&str, &dyn Fn(&mut Value)); 5] = [
        ("from whom", &|c| c["claims"][0]["from"] = "anyone".into()),
        ("from whom", &|c| {
            c["claims"][0]["from"]["provided"][0]["colluding"] = 4.into()
        }),
        ("is not in this ledger", &|c| {
            c["payments"][0].as_object_mut().unwrap().remove("sharing");
        }),
        ("is not in this ledger", &|c| {
            c["payments"][0]["sharing"]["owners"] = 30.into()
        }),
        ("its total", &|c| {
            c["total"].as_object_mut().unwrap().remove("sharing");
        }),
    ];
    for (because, edit) in edits {
        let mut edited = whole.clone();
        edit(&mut edited);
        assert_ne!(edited, whole);
        fs::write(home.path("edited.json"), edited.to_string()).unwrap();
        let (exit, text) = home.verify("edited.json");
        assert_eq!(exit, 4, "{text}");
        assert!(text.contains(because), "{because}: {text}");
    }
}
