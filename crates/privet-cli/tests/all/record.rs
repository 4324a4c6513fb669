//! A record in a file: whatever a crash leaves of it, whole items stay and half ones go; damage is told from both.

use std::fs;
use std::path::Path;

use privet::Error;
use privet::party::{Item, PartyId, Record};
use privet_node::record::FileRecord;

fn items() -> Vec<Item> {
    vec![
        Item::Received {
            from: PartyId(1),
            message: vec![7; 3],
        },
        Item::Once {
            what: "the columns".into(),
            value: (0..50).collect(),
        },
        Item::Received {
            from: PartyId(0),
            message: Vec::new(),
        },
    ]
}

fn open(path: &Path) -> Result<FileRecord, Error> {
    FileRecord::open(path, "a table")
}

fn all(record: &mut FileRecord) -> Vec<Item> {
    (0..).map_while(|place| record.read(place).unwrap()).collect()
}

/// The bytes of a record with all items, and where each of them ends.
fn written(path: &Path) -> (Vec<u8>, Vec<usize>) {
    let mut record = open(path).unwrap();
    let mut ends = vec![fs::read(path).unwrap().len()];
    for item in items() {
        record.append(vec![item]).unwrap();
        ends.push(fs::read(path).unwrap().len());
    }
    drop(record);
    (fs::read(path).unwrap(), ends)
}

#[test]
fn what_was_appended_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    written(&path);
    let mut record = open(&path).unwrap();
    assert_eq!(all(&mut record), items());
    // One process at a time, and one opening at a time within it.
    let second = open(&path).unwrap_err();
    assert!(matches!(&second, Error::Journal(why) if why.to_string().contains("another process")));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_cut_at_any_byte_leaves_whole_items_and_room_for_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let (bytes, ends) = written(&path);
    for cut in 0..=bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        let whole = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
        let mut record = open(&path).unwrap();
        assert_eq!(all(&mut record), items()[..whole], "cut at {cut}");
        let more = Item::Once {
            what: "more".into(),
            value: vec![1],
        };
        record.append(vec![more.clone()]).unwrap();
        drop(record);
        let mut expected = items()[..whole].to_vec();
        expected.push(more);
        assert_eq!(all(&mut open(&path).unwrap()), expected, "cut at {cut}, and on");
    }
}

#[test]
fn a_changed_byte_is_damage_and_never_a_shorter_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let (bytes, ends) = written(&path);
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 1 << (at % 8);
        fs::write(&path, &other).unwrap();
        let Err(Error::Journal(why)) = open(&path) else {
            panic!("byte {at} was changed, and nobody saw it");
        };
        let item = ends.iter().filter(|end| **end <= at).max().copied().unwrap_or(0);
        assert!(
            why.to_string().contains(&format!("damaged at byte {item}")),
            "{why}"
        );
        assert!(why.to_string().contains(&path.display().to_string()), "{why}");
        assert_eq!(fs::read(&path).unwrap(), other, "nothing is mended in silence");
    }
}

#[test]
fn a_record_of_something_else_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    written(&path);
    let other = FileRecord::open(&path, "another table").unwrap_err();
    assert!(other.to_string().contains("has changed since"), "{other}");
    let empty = folder.path().join("empty");
    assert!(open(&empty).unwrap().is_empty().unwrap());
    let mut again = FileRecord::open(&empty, "another table").unwrap();
    again.append(vec![items()[0].clone()]).unwrap();
    drop(again);
    assert!(open(&empty).is_err());
    fs::write(&path, "id,age\n1,2\n3,4\n5,6\n7,8\n").unwrap();
    let table = open(&path).unwrap_err();
    assert!(table.to_string().contains("damaged at byte 0"), "{table}");
}
