//! A first look at files without a schema.

use privet_node::table::{FilePreview, peek};

fn look(name: &str, bytes: &[u8]) -> Result<FilePreview, privet::Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    peek(&path)
}

#[test]
fn delimiter_and_names_are_guessed() {
    for (text, delimiter, header, names) in [
        ("a,b\n1,2\n3,4\n", b',', true, ["a", "b"]),
        ("\"a\";b\n1,5;2\n3,7;4\n", b';', true, ["a", "b"]),
        ("1\tx\n2\ty\n", b'\t', false, ["column_1", "column_2"]),
        ("a|b\n1|2\n", b'|', true, ["a", "b"]),
        ("name,name\nx,y\n", b',', false, ["column_1", "column_2"]),
    ] {
        let look = look("t.csv", text.as_bytes()).unwrap();
        let found: Vec<&str> = look.columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(found, names, "{text:?}");
        assert_eq!(
            (look.layout.delimiter, look.layout.header),
            (delimiter, header),
            "{text:?}"
        );
        assert_eq!(
            look.columns[0].1.len(),
            text.lines().count() - usize::from(header)
        );
    }
    let one = look("t.csv", b"age\n5\n6\n").unwrap();
    assert_eq!(one.columns, [("age".into(), vec![b"5".to_vec(), b"6".to_vec()])]);
}

#[test]
fn an_empty_file_has_nothing_to_look_at() {
    let error = look("t.csv", b"\n\n").unwrap_err().to_string();
    assert!(
        error.ends_with("t.csv: the file is empty; there is nothing to look at"),
        "{error}"
    );
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_shows_its_cells_as_text() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/table/zstd.parquet");
    let look = peek(&file).unwrap();
    let text = |cells: &[&str]| {
        cells
            .iter()
            .map(|cell| cell.as_bytes().to_vec())
            .collect::<Vec<_>>()
    };
    let expected = [
        ("who".to_owned(), text(&["1", "2", "1"])),
        ("age".to_owned(), text(&["1.5", "2", "200"])),
        ("blood".to_owned(), text(&["A", "B", "C"])),
        ("outcome".to_owned(), text(&["no", "yes", "no", "no"])),
    ];
    assert_eq!(look.columns, expected);
}
