//! A round as another implementation makes it.

use std::path::Path;

use privet_mpc::sealed::SealingKey;
use privet_mpc::sum::{Collecting, Seed, SumOwner, SumTerms};
use serde_json::Value;

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn array(text: &Value) -> [u8; 32] {
    hex(text).try_into().unwrap()
}

#[test]
fn rounds_are_what_another_implementation_makes_them() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/sum/rounds.json");
    let rounds: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let rounds = rounds["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 5);
    for round in rounds {
        let size = |name: &str| round[name].as_u64().unwrap() as usize;
        let numbers = |of: &Value| -> Vec<i64> {
            let of = of.as_array().unwrap().iter();
            of.map(|number| number.as_str().unwrap().parse().unwrap())
                .collect()
        };
        let terms = SumTerms::new(size("owners"), size("absent"), size("colluding"), size("length")).unwrap();
        assert_eq!(
            (terms.holders(), terms.pieces(), terms.required()),
            (size("holders"), size("pieces"), size("required"))
        );
        let parties = round["parties"].as_array().unwrap();
        let keys: Vec<SealingKey> = parties
            .iter()
            .map(|party| SealingKey::new(array(&party["secret"])))
            .collect();
        let publics: Vec<(u16, [u8; 32])> = parties
            .iter()
            .zip(&keys)
            .map(|(party, key)| (party["number"].as_u64().unwrap() as u16, key.public()))
            .collect();
        let number = size("round") as u32;
        let agreement = array(&round["agreement"]);
        let mut collecting = Collecting::new(&terms, number);
        let mut states = Vec::new();
        for (me, (party, key)) in (0..).zip(parties.iter().zip(&keys)) {
            let mut owner = SumOwner::new(&terms, me, key, &publics, &agreement, 0).unwrap();
            let seed = Seed::new(array(&party["seed"]));
            let (state, shares) = owner.share(number, &numbers(&party["numbers"]), seed).unwrap();
            assert_eq!(shares, hex(&party["shares"]));
            if !party["absent"].as_bool().unwrap() {
                collecting.receive(me, shares).unwrap();
            }
            states.push((owner, state));
        }
        let relaying = collecting.fix().map_err(|(_, why)| why).unwrap();
        let relayed: Vec<_> = (0..)
            .zip(parties)
            .map(|(to, _)| relaying.message(to).ok())
            .collect();
        let mut opening = relaying.sent();
        for (me, ((owner, state), relayed)) in (0..).zip(states.into_iter().zip(relayed)) {
            let party = &parties[usize::from(me)];
            // Owners that are absent, and those that hold no shares.
            let (Some(relayed), Some(state)) = (relayed, state) else {
                assert!(party["answer"].is_null());
                continue;
            };
            assert_eq!(relayed, hex(&party["relayed"]));
            let answer = state.answer(&owner, &relayed).unwrap().message;
            assert_eq!(answer, hex(&party["answer"]));
            opening.receive(me, &answer).unwrap();
        }
        assert_eq!(opening.open().unwrap().numbers, numbers(&round["sum"]));
    }
}
