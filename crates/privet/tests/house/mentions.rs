//! Names that pages mention exist: `Type::function`, and the name of a test or function with `_` in it.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::paths::{punct, word};

/// The names in the sources.
#[derive(Default)]
pub(crate) struct KnownNames {
    /// Every identifier.
    all: BTreeSet<String>,
    /// What stands inside a type, trait, implementation or module, by its name.
    inside: BTreeMap<String, BTreeSet<String>>,
    /// The names in a macro, by its name.
    macros: BTreeMap<String, BTreeSet<String>>,
    /// The macros that were called for a type, as in `quantity!(Epsilon, …)`.
    made_by: BTreeMap<String, BTreeSet<String>>,
}

impl KnownNames {
    /// Adds the names of a file; `module` is what it is called.
    pub(crate) fn add(&mut self, module: &str, tokens: TokenStream) {
        let tokens = Vec::from_iter(tokens);
        let mut names = BTreeSet::new();
        collect(&tokens, &mut names);
        self.inside
            .entry(module.to_owned())
            .or_default()
            .extend(names.iter().cloned());
        self.all.extend(names);
        self.owners(&tokens);
        self.macros(&tokens);
    }

    fn macros(&mut self, tokens: &[TokenTree]) {
        for (at, token) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = token else { continue };
            let content = Vec::from_iter(group.stream());
            let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
            if word(before(3)).as_deref() == Some("macro_rules")
                && let Some(name) = word(before(1))
            {
                collect(&content, self.macros.entry(name).or_default());
            } else if punct(before(1)) == Some('!')
                && let (Some(name), Some(owner)) = (word(before(2)), word(content.first()))
            {
                self.made_by.entry(owner).or_default().insert(name);
            }
            self.macros(&content);
        }
    }

    /// Whether a macro that was called for `owner` writes `name`.
    fn is_made(&self, owner: &str, name: &str) -> bool {
        let macros = self.made_by.get(owner).into_iter().flatten();
        macros
            .filter_map(|called| self.macros.get(called))
            .any(|body| body.contains(name))
    }

    fn owners(&mut self, tokens: &[TokenTree]) {
        let mut header: Option<Vec<String>> = None;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    match (&mut header, name.as_str()) {
                        (None, "impl" | "trait" | "struct" | "enum" | "mod") => header = Some(Vec::new()),
                        (Some(names), _) => names.push(name),
                        _ => {}
                    }
                }
                TokenTree::Punct(mark) if mark.as_char() == ';' => header = None,
                TokenTree::Group(group) => {
                    let content = Vec::from_iter(group.stream());
                    if group.delimiter() == Delimiter::Brace
                        && let Some(names) = header.take()
                    {
                        let mut own = BTreeSet::new();
                        collect(&content, &mut own);
                        for name in names {
                            self.inside.entry(name).or_default().extend(own.iter().cloned());
                        }
                    }
                    self.owners(&content);
                }
                _ => {}
            }
        }
    }

    fn has(&self, mention: &str) -> bool {
        let parts: Vec<&str> = mention.split("::").collect();
        match parts[..] {
            [name] => self.all.contains(name),
            _ => parts.windows(2).all(|pair| {
                let own = self.inside.get(pair[0]);
                // A crate, or a folder whose parts are files of their own.
                own.map_or(self.all.contains(pair[0]) && self.all.contains(pair[1]), |own| {
                    own.contains(pair[1])
                        || self.is_made(pair[0], pair[1])
                        || self.inside.contains_key(pair[1]) && own.contains("mod")
                })
            }),
        }
    }
}

/// Every identifier, keywords included.
fn collect(tokens: &[TokenTree], names: &mut BTreeSet<String>) {
    for token in tokens {
        names.extend(word(Some(token)));
        if let TokenTree::Group(group) = token {
            collect(&Vec::from_iter(group.stream()), names);
        }
    }
}

/// What a page says in backquotes that can only be a name of the sources.
pub(crate) fn mentions(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_name = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !text.starts_with(|c: char| c.is_ascii_digit())
    };
    page.lines().enumerate().flat_map(move |(line, text)| {
        let spans = text.split('`').skip(1).step_by(2);
        spans
            .map(|span| span.trim_end_matches("()"))
            .filter(move |span| {
                let is_path = span.contains("::") && span.split("::").all(is_name);
                is_path || is_name(span) && span.contains('_')
            })
            .map(move |span| (line + 1, span))
    })
}

/// The mentions of a page that lead nowhere.
pub(crate) fn faults(file: &str, page: &str, known: &KnownNames) -> Vec<String> {
    let lost = mentions(page).filter(|(_, mention)| !known.has(mention));
    lost.map(|(line, mention)| format!("{file}:{line}: `{mention}` is not in the sources"))
        .collect()
}

#[cfg(test)]
mod self_tests {
    use super::*;

    fn known() -> KnownNames {
        let mut known = KnownNames::default();
        let tokens = "pub struct Grid { bound: u32 } impl Grid { pub fn most(&self) {} } enum Law { Wide } fn a_test_of_it() {}\n\
            macro_rules! quantity { ($name:ident) => { impl $name { pub const MAX: u32 = 1; } } } struct Size { units: u32 } quantity!(Size);";
        known.add("grid", tokens.parse().expect("tokens"));
        known
    }

    #[test]
    fn a_name_that_is_gone_is_found() {
        let known = known();
        for fine in [
            "`Grid::most`",
            "`Law::Wide`",
            "`Size::MAX`",
            "`a_test_of_it`",
            "`grid::Grid::most()`",
            "`ln`",
            "a_word",
            "`x + y_z`",
        ] {
            assert_eq!(faults("p", fine, &known), [""; 0], "{fine}");
        }
        for lost in [
            "`Grid::least`",
            "`Law::most`",
            "`Grid::MAX`",
            "`a_test_of_that`",
            "`Gird::most`",
            "`grid::Law::Narrow`",
        ] {
            assert_eq!(faults("p", &format!("x\n{lost}"), &known).len(), 1, "{lost}");
        }
        assert_eq!(
            faults("p", "x\n`Grid::least`", &known),
            ["p:2: `Grid::least` is not in the sources"]
        );
    }
}
