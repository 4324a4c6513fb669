//! Frames that another implementation wrote, byte for byte (`vectors/wire`).

use std::path::Path;

use privet::party::{Agreement, Edges, Limits, Member, PartyId, Terms};
use privet::setting::vertical::{Meeting, Message, Question, Wanted};
use privet::wire::{Body, Frame, PART, RunId, Wire};
use serde_json::Value;
use sha2::Digest;

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn message(name: &str) -> Option<Message> {
    let hello = |wanted, meeting| {
        Some(Message::Hello {
            settings: vec![("epsilon".into(), "0.5".into()), ("bins".into(), "10".into())],
            wanted,
            meeting,
        })
    };
    match name {
        "hello, given" => hello(Wanted::Columns, Meeting::Given { rows: 293_600 }),
        "hello, offer" => hello(Wanted::Ordinals, Meeting::Offer(vec![7, 8, 9])),
        "hello, branches" => {
            let question = Question {
                column: "age".into(),
                declared: [5; 32],
                left: vec![0, 3],
            };
            hello(Wanted::Branches(vec![question]), Meeting::Given { rows: 2 })
        }
        "answer" => Some(Message::Answer(b"points".to_vec())),
        "common" => Some(Message::Common(Vec::new())),
        "splits" => Some(Message::Splits(vec![vec![1, 70_000], vec![]])),
        "thresholds" => Some(Message::Thresholds(vec![vec![[3, 65_535]]])),
        "aborted" | "acknowledged" | "greeting" => None,
        other => panic!("{other} is not known here"),
    }
}

#[test]
fn frames_are_what_another_implementation_makes_them() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/wire/frames.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let member = |name: &str, role: &str| Member {
        name: name.into(),
        role: role.into(),
        identity: None,
    };
    let terms = Terms {
        run: RunId(std::array::from_fn(|i| i as u8)),
        parties: vec![
            member("bank", "label holder"),
            member("shop", "feature holder"),
            member("club", ""),
        ],
        edges: Edges::Hub(PartyId(0)),
        limits: Limits {
            message_bytes: 1 << 31,
            most_ids: Some(5000),
        },
        job: [0x2a; 32],
    };
    assert_eq!(terms.to_bytes(), hex(&vectors["terms"]));
    let agreement = Agreement::of(terms).unwrap().digest();
    assert_eq!(agreement[..], hex(&vectors["agreement"]));
    let rows = vectors["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let number = |key: &str| row[key].as_u64().unwrap();
        let name = row["name"].as_str().unwrap();
        let message = message(name);
        let body = match (name, &message) {
            ("acknowledged", _) => Body::Acknowledged,
            ("greeting", _) => Body::Greeting,
            (_, None) => Body::Aborted,
            (_, Some(message)) => Body::message(message.to_bytes()),
        };
        let frame = Frame {
            agreement,
            from: number("from") as u16,
            to: number("to") as u16,
            number: number("number"),
            acknowledged: number("acknowledged"),
            body,
        };
        let bytes = hex(&row["frame"]);
        assert_eq!(frame.to_bytes(), bytes, "{name}");
        let Body::Part { bytes: read, .. } = Frame::from_bytes(bytes).unwrap().body else {
            continue;
        };
        assert_eq!(Message::from_bytes(&read).ok(), message);
    }
    // A message of more than one frame.
    let large = <sha2::Sha256 as Digest>::digest(b"large").repeat(40_000);
    let parts = large.chunks(PART).enumerate().map(|(place, part)| {
        let frame = Frame {
            agreement,
            from: 0,
            to: 1,
            number: 5 + place as u64,
            acknowledged: 2,
            body: Body::Part {
                total: large.len() as u64,
                at: (place * PART) as u64,
                bytes: part.to_vec(),
            },
        };
        sha2::Sha256::digest(frame.to_bytes()).to_vec()
    });
    let expected = vectors["large"].as_array().unwrap().iter().map(hex);
    assert!(parts.eq(expected));
}
