//! Frames that another implementation wrote, byte for byte (`vectors/wire`).

use std::path::Path;

use privet::setting::vertical::{Meeting, Message, Question, Wanted};
use privet::wire::{Body, Frame, RunId, Wire};
use serde_json::Value;

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
        "aborted" => None,
        other => panic!("{other} is not known here"),
    }
}

#[test]
fn frames_are_what_another_implementation_makes_them() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/wire/frames.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let rows = vectors["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    for row in rows {
        let number = |key: &str| row[key].as_u64().unwrap();
        let message = message(row["name"].as_str().unwrap());
        let body = message
            .as_ref()
            .map_or(Body::Aborted, |m| Body::Message(m.to_bytes()));
        let frame = Frame {
            run: RunId(hex(&vectors["run"]).try_into().unwrap()),
            from: number("from") as u16,
            to: number("to") as u16,
            number: number("number"),
            body,
        };
        let bytes = hex(&row["frame"]);
        assert_eq!(frame.to_bytes(), bytes, "{}", row["name"]);
        let Body::Message(read) = Frame::from_bytes(&bytes).unwrap().body else {
            continue;
        };
        assert_eq!(Message::from_bytes(&read).ok(), message);
    }
}
