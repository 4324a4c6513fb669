//! The files of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder that holds the workspace.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the crate lies in a workspace")
}

/// Every file below a folder with the given extension (all, if empty), build output and hidden folders left out.
pub(crate) fn files(below: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(below) else {
        return found;
    };
    for path in entries.map(|entry| entry.expect("a readable folder").path()) {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            found.extend(files(&path, extension));
        } else if path.is_file() && (extension.is_empty() || path.extension().is_some_and(|e| e == extension))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A file's text, and its path from the workspace with forward slashes.
pub(crate) fn read(path: &Path) -> (String, String) {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let shown = path
        .strip_prefix(root())
        .unwrap_or(path)
        .to_string_lossy()
        .replace('\\', "/");
    (shown, text)
}
