//! Which names stand for errors, and which for their words, where a piece of code stands.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;
use syn::{Expr, Member, Pat};

/// Fields and methods of an error that are its words.
const WORDS: &[&str] = &[
    "description",
    "message",
    "reason",
    "text",
    "to_string",
    "what",
    "why",
];

/// What a name or an expression stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Error,
    Words,
    Other,
}

/// The names that are known, from the outermost block to the innermost.
#[derive(Default)]
pub(crate) struct Scopes(Vec<BTreeMap<String, Kind>>);

impl Scopes {
    pub(crate) fn enter(&mut self) {
        self.0.push(BTreeMap::new());
    }

    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }

    fn bind(&mut self, name: String, kind: Kind) {
        // Whatever it comes from, what is called an error is one.
        let kind = match name.as_str() {
            "err" | "error" | "failure" if kind == Kind::Other => Kind::Error,
            _ => kind,
        };
        if let Some(scope) = self.0.last_mut() {
            scope.insert(name, kind);
        }
    }

    /// Binds what a pattern names; what stands inside of an error is one.
    pub(crate) fn bind_pattern(&mut self, pattern: &Pat, kind: Kind) {
        let inner = |path: &syn::Path| if is_error_path(path) { Kind::Error } else { kind };
        match pattern {
            Pat::Ident(name) => {
                self.bind(name.ident.to_string(), kind);
                if let Some((_, inside)) = &name.subpat {
                    self.bind_pattern(inside, kind);
                }
            }
            Pat::TupleStruct(tuple) => {
                let kind = inner(&tuple.path);
                tuple
                    .elems
                    .iter()
                    .for_each(|inside| self.bind_pattern(inside, kind));
            }
            Pat::Struct(fields) => {
                let kind = inner(&fields.path);
                for field in &fields.fields {
                    self.bind_pattern(&field.pat, kind);
                }
            }
            Pat::Tuple(tuple) => tuple
                .elems
                .iter()
                .for_each(|inside| self.bind_pattern(inside, kind)),
            Pat::Or(cases) => cases
                .cases
                .iter()
                .for_each(|inside| self.bind_pattern(inside, kind)),
            Pat::Slice(slice) => slice
                .elems
                .iter()
                .for_each(|inside| self.bind_pattern(inside, kind)),
            Pat::Reference(inside) => self.bind_pattern(&inside.pat, kind),
            Pat::Paren(inside) => self.bind_pattern(&inside.pat, kind),
            Pat::Guard(guarded) => self.bind_pattern(&guarded.pat, kind),
            Pat::Type(typed) if is_error_type(&typed.ty) => self.bind_pattern(&typed.pat, Kind::Error),
            Pat::Type(typed) => self.bind_pattern(&typed.pat, kind),
            _ => {}
        }
    }

    fn known(&self, name: &str) -> Kind {
        let scopes = self.0.iter().rev();
        scopes
            .filter_map(|scope| scope.get(name))
            .next()
            .copied()
            .unwrap_or(Kind::Other)
    }

    pub(crate) fn kind(&self, expression: &Expr) -> Kind {
        match expression {
            Expr::Path(path) => path
                .path
                .get_ident()
                .map_or(Kind::Other, |name| self.known(&name.to_string())),
            Expr::Reference(inner) => self.kind(&inner.expr),
            Expr::Paren(inner) => self.kind(&inner.expr),
            Expr::Unary(inner) => self.kind(&inner.expr),
            Expr::Field(field) => match (&field.member, self.kind(&field.base)) {
                (Member::Named(name), _) if name == "message" => Kind::Words,
                (Member::Named(name), Kind::Error) if WORDS.contains(&&*name.to_string()) => Kind::Words,
                (_, Kind::Error) => Kind::Error,
                _ => Kind::Other,
            },
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                match (self.kind(&call.receiver), method.as_str()) {
                    (_, "unwrap_err" | "expect_err") => Kind::Error,
                    (_, "len" | "is_empty") => Kind::Other,
                    (Kind::Error, method) if WORDS.contains(&method) => Kind::Words,
                    (Kind::Error, "as_ref" | "clone" | "to_owned" | "into") => Kind::Error,
                    (Kind::Words, _) => Kind::Words,
                    _ => Kind::Other,
                }
            }
            Expr::Macro(call) if call.mac.path.is_ident("format") => {
                let words = |token: TokenTree| match token {
                    TokenTree::Ident(name) => self.known(&name.to_string()) != Kind::Other,
                    TokenTree::Literal(text) => self.shows(&text.to_string()),
                    _ => false,
                };
                match call.mac.tokens.clone().into_iter().any(words) {
                    true => Kind::Words,
                    false => Kind::Other,
                }
            }
            _ => Kind::Other,
        }
    }

    /// Whether a format string names an error in braces.
    fn shows(&self, text: &str) -> bool {
        let names = text
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split(['}', ':']).next());
        names.into_iter().any(|name| self.known(name) != Kind::Other)
    }
}

fn is_error_name(name: &str) -> bool {
    name.ends_with("Error") || matches!(name, "Err" | "Failure" | "Refusal")
}

fn is_error_path(path: &syn::Path) -> bool {
    path.segments
        .iter()
        .any(|segment| is_error_name(&segment.ident.to_string()))
}

/// An error, or a reference to one. What merely holds an error (a result, a function) is none.
pub(crate) fn is_error_type(of: &syn::Type) -> bool {
    match of {
        syn::Type::Reference(inner) => is_error_type(&inner.elem),
        syn::Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| is_error_name(&last.ident.to_string()))
        }
        _ => false,
    }
}
