//! Downward only: a room imports floors below it, never above, and of its own floor only itself. Settings are one room, and no
//! setting imports another.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::paths::{self, What};

/// The rooms, by floor from the ground.
const FLOORS: &[&[&str]] = &[
    &["privacy"],
    &["data"],
    &["learner"],
    &["parameters"],
    &["boost"],
    &["model", "wire"],
    &["party", "noisy"],
    &["setting"],
];

/// Rooms of one floor that may import each other all the same: (who, whom). None so far.
const NEIGHBOURLY: &[(&str, &str)] = &[];

/// The room of which each module is a setting.
const SETTINGS: &str = "setting";

/// Used by every room. It uses only the ground floor: a refused payment says its price, and what is left, in the ledger's own types.
const FOUNDATION: &str = "error";

/// One file of the library.
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) module: Vec<String>,
    pub(crate) text: String,
}

impl Source {
    /// The file at a path below `src`.
    pub(crate) fn new(file: &str, text: &str) -> Self {
        let mut module: Vec<String> = file
            .trim_end_matches(".rs")
            .split('/')
            .map(String::from)
            .collect();
        if module.last().is_some_and(|last| last == "mod") || file == "lib.rs" {
            module.pop();
        }
        Self {
            file: file.into(),
            module,
            text: text.into(),
        }
    }
}

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&room))
}

fn is_room(name: &str) -> bool {
    name == FOUNDATION || floor(name).is_some()
}

/// Whether code in one room may name another.
fn may(from: &str, to: &str) -> bool {
    from == to
        || to == FOUNDATION
        || from == FOUNDATION && floor(to) == Some(0)
        || from != FOUNDATION && (floor(from) > floor(to) || NEIGHBOURLY.contains(&(from, to)))
}

/// What the crate root lends under names of its own: re-exports, and exported macros, with the room they come from (`None`
/// for another crate).
#[derive(Default)]
struct Root {
    names: BTreeMap<String, Option<String>>,
    globs: Vec<String>,
}

impl Root {
    /// The room a name at the root belongs to.
    fn room(&self, name: &str) -> Result<Option<String>, String> {
        if is_room(name) {
            return Ok(Some(name.into()));
        }
        if let Some(room) = self.names.get(name) {
            return Ok(room.clone());
        }
        // Not named: then some glob lends it, and the highest one is assumed.
        let highest = self.globs.iter().max_by_key(|room| floor(room)).cloned();
        highest
            .map(Some)
            .ok_or_else(|| format!("the root has no `{name}`"))
    }
}

/// Every breach of the house rules in the library.
pub(crate) fn breaches(sources: &[Source]) -> Vec<String> {
    let mut breaches = Vec::new();
    let mut root = Root::default();
    let mut parsed = Vec::new();
    for source in sources {
        match source.text.parse::<TokenStream>() {
            Ok(tokens) => parsed.push((source, tokens)),
            Err(e) => breaches.push(format!("{}: {e}", source.file)),
        }
    }
    for (source, tokens) in &parsed {
        match source.module.first() {
            Some(room) => exported_macros(&Vec::from_iter(tokens.clone()), &mut |name| {
                root.names.insert(name, Some(room.clone()));
            }),
            None => breaches.extend(read_root(source, &mut root)),
        }
    }
    for (source, tokens) in parsed {
        let Some(room) = source.module.first() else {
            continue;
        };
        if !is_room(room) {
            breaches.push(format!("{}: `{room}` is no room of the house", source.file));
            continue;
        }
        for found in paths::paths(tokens, &source.module) {
            if let Err(why) = judge(&source.module, &found.what, &root) {
                breaches.push(format!("{}:{}: {why}", source.file, found.line));
            }
        }
    }
    breaches
}

fn judge(module: &[String], what: &What, root: &Root) -> Result<(), String> {
    let room = module[0].as_str();
    let (path, shown) = match what {
        What::Hidden(why) => return Err(why.clone()),
        What::Path(path) => (path, format!("crate::{}", path.join("::"))),
        What::Glob(path) => (path, format!("crate::{}::*", path.join("::"))),
    };
    let Some(first) = path.first() else {
        return Err("the crate root itself is imported, and with it every room".into());
    };
    match root.room(first).map_err(|why| format!("{shown}: {why}"))? {
        Some(target) if !may(room, &target) => Err(format!("{shown}: `{room}` may not use `{target}`")),
        Some(target) if target == SETTINGS && !is_own_setting(module, path) => Err(format!(
            "{shown}: a setting imports no other, by its own path or another: what settings share lives below"
        )),
        _ => Ok(()),
    }
}

/// Whether a path to the room of settings stays in the setting of the file; what belongs to no setting may name all.
fn is_own_setting(module: &[String], path: &[String]) -> bool {
    match module {
        [room, own, ..] if room == SETTINGS => path.len() > 1 && path[0] == SETTINGS && path[1] == *own,
        _ => true,
    }
}

/// `lib.rs` is a map: modules and re-exports, no code.
fn read_root(source: &Source, root: &mut Root) -> Vec<String> {
    let mut breaches = Vec::new();
    let file = match syn::parse_file(&source.text) {
        Ok(file) => file,
        Err(e) => return vec![format!("{}: {e}", source.file)],
    };
    let mut uses = Vec::new();
    for item in &file.items {
        match item {
            syn::Item::Mod(module) if module.content.is_none() => {
                let name = module.ident.to_string();
                if !is_room(&name) {
                    breaches.push(format!("{}: `{name}` is no room of the house", source.file));
                }
                let moved = module.attrs.iter().any(|a| {
                    ["path", "macro_use", "cfg_attr"]
                        .iter()
                        .any(|forbidden| a.path().is_ident(forbidden))
                });
                if moved {
                    breaches.push(format!("{}: an attribute moves or opens `{name}`", source.file));
                }
            }
            syn::Item::Use(item) => leaves(&item.tree, Vec::new(), &mut uses),
            // A page of the documentation, compiled as doc tests.
            syn::Item::Struct(item) if item.attrs.iter().any(is_for_doc_tests) => {}
            other => {
                let line = syn::spanned::Spanned::span(other).start().line;
                breaches.push(format!(
                    "{}:{line}: the root holds modules and re-exports alone",
                    source.file
                ));
            }
        }
    }
    let from_root = |path: &[String]| -> Option<String> {
        path.iter()
            .find(|step| !["crate", "self", "privet"].contains(&step.as_str()))
            .cloned()
    };
    if uses.iter().any(|(path, _)| from_root(path).is_none()) {
        breaches.push(format!("{}: the root imports itself", source.file));
    }
    // An alias may stand on another, so go over them as often as there are any.
    for _ in 0..uses.len() {
        for (path, name) in &uses {
            let Some(first) = from_root(path) else { continue };
            let room = root
                .names
                .get(&first)
                .cloned()
                .unwrap_or(is_room(&first).then_some(first));
            match (name, room) {
                (Some(name), room) => drop(root.names.insert(name.clone(), room)),
                (None, Some(room)) => root.globs.push(room),
                (None, None) => {}
            }
        }
    }
    breaches
}

fn is_for_doc_tests(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute
            .meta
            .require_list()
            .is_ok_and(|list| list.tokens.to_string() == "doctest")
}

/// Flattens a `use` tree to (path, name it binds); no name for a glob.
fn leaves(tree: &syn::UseTree, mut path: Vec<String>, into: &mut Vec<(Vec<String>, Option<String>)>) {
    match tree {
        syn::UseTree::Path(step) => {
            path.push(step.ident.to_string());
            leaves(&step.tree, path, into);
        }
        syn::UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|item| leaves(item, path.clone(), into)),
        syn::UseTree::Glob(_) => into.push((path, None)),
        syn::UseTree::Name(leaf) if leaf.ident == "self" => {
            let name = path.last().cloned();
            into.push((path, name));
        }
        syn::UseTree::Name(leaf) => {
            path.push(leaf.ident.to_string());
            into.push((path, Some(leaf.ident.to_string())));
        }
        syn::UseTree::Rename(leaf) => {
            if leaf.ident != "self" {
                path.push(leaf.ident.to_string());
            }
            into.push((path, Some(leaf.rename.to_string())));
        }
    }
}

/// Names of macros that `#[macro_export]` lifts to the root.
fn exported_macros(tokens: &[TokenTree], found: &mut impl FnMut(String)) {
    let mut exported = false;
    for (at, token) in tokens.iter().enumerate() {
        if let Some((content, _)) = paths::attribute(&tokens[at..]) {
            exported |= content.iter().any(|t| t.to_string().contains("macro_export"));
        }
        if let TokenTree::Group(inner) = token
            && inner.delimiter() == Delimiter::Brace
        {
            exported_macros(&Vec::from_iter(inner.stream()), found);
        }
        if exported
            && paths::word(Some(token)).as_deref() == Some("macro_rules")
            && let Some(name) = paths::word(tokens.get(at + 2))
        {
            found(name);
            exported = false;
        }
    }
}
