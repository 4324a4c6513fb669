//! Every path of a source file that starts at a known module, made absolute.
//!
//! Works on tokens rather than on the syntax tree: what stands in a macro, in an attribute, in a nested function or in a
//! `use` group is then found by the same few lines, and there is no node that somebody forgot to visit.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// What was found, at a line.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) line: usize,
    pub(crate) what: What,
}

#[derive(Debug, PartialEq)]
pub(crate) enum What {
    /// A path from the crate root; empty for the root itself.
    Path(Vec<String>),
    /// Everything in the module at this path.
    Glob(Vec<String>),
    /// Something that hides where a path leads.
    Hidden(String),
}

/// The paths in a file that is the given module.
pub(crate) fn paths(tokens: TokenStream, module: &[String]) -> Vec<Found> {
    let mut reader = Reader {
        module: module.to_vec(),
        found: Vec::new(),
    };
    reader.walk(&Vec::from_iter(tokens), false);
    reader.found
}

struct Reader {
    module: Vec<String>,
    found: Vec<Found>,
}

pub(crate) fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string().trim_start_matches("r#").to_string()),
        _ => None,
    }
}

pub(crate) fn punct(token: Option<&TokenTree>) -> Option<char> {
    match token {
        Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
        _ => None,
    }
}

pub(crate) fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<Vec<TokenTree>> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => {
            Some(Vec::from_iter(group.stream()))
        }
        _ => None,
    }
}

/// The content of the attribute that starts here, and how many tokens it takes.
pub(crate) fn attribute(tokens: &[TokenTree]) -> Option<(Vec<TokenTree>, usize)> {
    let inner = usize::from(punct(tokens.get(1)) == Some('!'));
    let content = group(tokens.get(1 + inner), Delimiter::Bracket)?;
    (punct(tokens.first()) == Some('#')).then_some((content, 2 + inner))
}

fn colons(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':' && p.spacing() == Spacing::Joint)
        && punct(tokens.get(at + 1)) == Some(':')
}

/// `(crate)`, `(self)`, `(super)`, `(in …)` after `pub`: says who may look in, imports nothing. But `pub (crate::T, u8)` is a
/// field with a tuple type.
fn is_visibility(content: &[TokenTree]) -> bool {
    let first = word(content.first());
    first.as_deref() == Some("in") || (content.len() == 1 && first.is_some())
}

impl Reader {
    fn walk(&mut self, tokens: &[TokenTree], in_attribute: bool) {
        let mut at = 0;
        while at < tokens.len() {
            at = self.step(tokens, at, in_attribute);
        }
    }

    /// Reads what starts at a token and returns where to go on.
    fn step(&mut self, tokens: &[TokenTree], at: usize, in_attribute: bool) -> usize {
        if let Some((content, length)) = attribute(&tokens[at..]) {
            self.attribute(&content);
            return at + length;
        }
        match &tokens[at] {
            TokenTree::Group(inner) => self.walk(&Vec::from_iter(inner.stream()), in_attribute),
            TokenTree::Ident(ident) => return self.ident(tokens, at, &ident.to_string(), in_attribute),
            TokenTree::Literal(literal) if in_attribute => {
                // serde and its like take paths as strings: #[serde(with = "super::codec")].
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string())
                    && let Ok(inner) = text.value().parse::<TokenStream>()
                {
                    let line = literal.span().start().line;
                    let known = self.found.len();
                    self.walk(&Vec::from_iter(inner), true);
                    self.found[known..].iter_mut().for_each(|found| found.line = line);
                }
            }
            _ => {}
        }
        at + 1
    }

    fn attribute(&mut self, content: &[TokenTree]) {
        let name = word(content.first()).unwrap_or_default();
        let line = content.first().map_or(0, |t| t.span().start().line);
        let says_path = content.iter().any(|t| t.to_string().contains("path ="));
        match name.as_str() {
            "doc" => {}
            "macro_use" => self.hidden(line, "#[macro_use] lends macros without a path"),
            "path" => self.hidden(line, "#[path] moves a module"),
            "cfg_attr" if says_path => self.hidden(line, "#[path] moves a module"),
            _ => self.walk(content, true),
        }
    }

    fn ident(&mut self, tokens: &[TokenTree], at: usize, name: &str, in_attribute: bool) -> usize {
        let line = tokens[at].span().start().line;
        let is_path = colons(tokens, at + 1);
        let (base, leading) = match name {
            "mod" => {
                let (inner, content) = (
                    word(tokens.get(at + 1)),
                    group(tokens.get(at + 2), Delimiter::Brace),
                );
                let (Some(inner), Some(content)) = (inner, content) else {
                    return at + 1;
                };
                self.module.push(inner);
                self.walk(&content, false);
                self.module.pop();
                return at + 3;
            }
            "pub" => {
                let content = group(tokens.get(at + 1), Delimiter::Parenthesis);
                return at
                    + if content.is_some_and(|c| is_visibility(&c)) {
                        2
                    } else {
                        1
                    };
            }
            "include" if punct(tokens.get(at + 1)) == Some('!') => {
                self.hidden(line, "include! brings in another file");
                return at + 1;
            }
            "crate" | "super" if !is_path => {
                // An alias of the root, or an argument from which a macro builds a path.
                if !in_attribute {
                    self.hidden(line, &format!("`{name}` alone"));
                }
                return at + 1;
            }
            "crate" => (Vec::new(), false),
            "privet" if is_path => (Vec::new(), false),
            "self" if is_path => (self.module.clone(), true),
            "super" => match self.module.split_last() {
                Some((_, parent)) => (parent.to_vec(), true),
                None => (Vec::new(), false),
            },
            _ => return at + 1,
        };
        self.follow(tokens, at + 1, base, leading)
    }

    /// Follows `::name`, `::{…}` and `::*`; `leading` while `super` still means one up.
    fn follow(
        &mut self,
        tokens: &[TokenTree],
        mut at: usize,
        mut base: Vec<String>,
        mut leading: bool,
    ) -> usize {
        let line = tokens[at - 1].span().start().line;
        while colons(tokens, at) {
            let next = tokens.get(at + 2);
            if let Some(content) = group(next, Delimiter::Brace) {
                for piece in content
                    .split(|t| punct(Some(t)) == Some(','))
                    .filter(|piece| !piece.is_empty())
                {
                    self.piece(piece, base.clone());
                }
                return at + 3;
            }
            match (punct(next), word(next).as_deref()) {
                (Some('*'), _) => {
                    self.push(line, What::Glob(base));
                    return at + 3;
                }
                (Some('$'), _) if base.is_empty() => {
                    self.hidden(line, "a macro chooses the room");
                    return at + 2;
                }
                (_, Some("super")) if leading => drop(base.pop()),
                (_, Some("self")) => {}
                (_, Some(name)) => {
                    base.push(name.to_string());
                    leading = false;
                }
                _ => break,
            }
            at += 3;
        }
        self.push(line, What::Path(base));
        at
    }

    /// One piece of a `use` group.
    fn piece(&mut self, piece: &[TokenTree], mut base: Vec<String>) {
        let line = piece[0].span().start().line;
        if let Some(content) = group(piece.first(), Delimiter::Brace) {
            content
                .split(|t| punct(Some(t)) == Some(','))
                .filter(|p| !p.is_empty())
                .for_each(|inner| {
                    self.piece(inner, base.clone());
                });
            return;
        }
        match (punct(piece.first()), word(piece.first()).as_deref()) {
            (Some('*'), _) => self.push(line, What::Glob(base)),
            (_, Some("self")) => self.push(line, What::Path(base)),
            // `super::{super::setting}` is allowed too.
            (_, Some("super")) => {
                base.pop();
                self.follow(piece, 1, base, true);
            }
            (_, Some(name)) => {
                base.push(name.to_string());
                self.follow(piece, 1, base, false);
            }
            _ => self.hidden(line, "a macro chooses what is imported"),
        }
    }

    fn push(&mut self, line: usize, what: What) {
        self.found.push(Found { line, what });
    }

    fn hidden(&mut self, line: usize, why: &str) {
        self.push(line, What::Hidden(why.to_string()));
    }
}
