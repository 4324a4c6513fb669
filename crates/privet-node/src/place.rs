//! Whether two paths name one file, also where there is no file yet.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::ledger::folder_of;

/// How many symbolic links lead from one to the next before a path is taken as it is.
const MOST_LINKS: usize = 40;

/// Whether both paths name the same file: by device and number where both exist (so that hard links are one file), otherwise by
/// their folders and names once all symbolic links have been followed. Names that differ by upper and lower case are the same
/// where the file system says so.
pub fn same_file(a: &Path, b: &Path) -> bool {
    match (identity(a), identity(b)) {
        (Some(a), Some(b)) => a == b,
        // Asked for a name in another case, a file system that ignores it finds the file.
        (Some(_), None) | (None, Some(_)) => false,
        (None, None) => same_place(&place(a), &place(b)),
    }
}

/// What tells an existing file from all others.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// The same where the standard library gives no numbers of files: hard links are not recognised.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// Where a file would be made: a folder that exists, by its real name, and what follows it.
#[derive(Debug)]
struct FuturePlace {
    folder: PathBuf,
    rest: PathBuf,
}

fn place(path: &Path) -> FuturePlace {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => break,
        }
    }
    let path = std::path::absolute(&path).unwrap_or(path);
    for folder in path.ancestors().skip(1) {
        if let Ok(real) = fs::canonicalize(folder) {
            let rest = path.strip_prefix(folder).unwrap_or(&path);
            return FuturePlace {
                folder: real,
                rest: plain(rest),
            };
        }
    }
    FuturePlace {
        folder: PathBuf::new(),
        rest: path,
    }
}

/// A path without `.` and `..`. Its folders do not exist, so there are no links in it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

fn same_place(a: &FuturePlace, b: &FuturePlace) -> bool {
    if a.folder != b.folder {
        return false;
    }
    let lower = |path: &PathBuf| path.to_string_lossy().to_lowercase();
    a.rest == b.rest || lower(&a.rest) == lower(&b.rest) && ignores_case(&a.folder)
}

/// Whether a folder takes names in upper and lower case for the same. Where that cannot be found out, yes.
fn ignores_case(folder: &Path) -> bool {
    let Ok(file) = tempfile::Builder::new()
        .prefix("privet-case-")
        .tempfile_in(folder)
    else {
        return true;
    };
    let name = file.path().file_name().and_then(OsStr::to_str);
    name.is_none_or(|name| fs::symlink_metadata(folder.join(name.to_uppercase())).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_where_they_would_be_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).expect("a folder");
        for (a, b) in [
            ("x", "./x"),
            ("x", "sub/../x"),
            ("new/x", "new/./y/../x"),
            ("sub/x", "sub/./x"),
        ] {
            assert!(same_file(&path(a), &path(b)), "{a} {b}");
        }
        for (a, b) in [("x", "y"), ("x", "sub/x"), ("new/x", "x"), ("sub", "sub/x")] {
            assert!(!same_file(&path(a), &path(b)), "{a} {b}");
        }
    }

    /// Also on a file system that tells cases apart: it is asked, not assumed.
    #[test]
    fn case_counts_as_the_file_system_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let [small, large] = ["x.csv", "X.csv"].map(|name| folder.path().join(name));
        let before = same_file(&small, &large);
        fs::write(&small, "1").expect("a file");
        assert_eq!(before, large.exists());
        assert_eq!(before, same_file(&small, &large));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_one_file() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).expect("a folder");
        symlink("sub", path("other")).expect("a link");
        symlink("other/x", path("dangling")).expect("a link");
        symlink("loop", path("loop")).expect("a link");
        assert!(same_file(&path("other/x"), &path("sub/x")));
        assert!(same_file(&path("dangling"), &path("sub/x")));
        assert!(!same_file(&path("dangling"), &path("x")));
        assert!(!same_file(&path("loop"), &path("x")));
        fs::write(path("sub/x"), "1").expect("a file");
        fs::hard_link(path("sub/x"), path("hard")).expect("a link");
        assert!(same_file(&path("hard"), &path("dangling")));
        assert!(!same_file(&path("hard"), &path("x")));
    }
}
