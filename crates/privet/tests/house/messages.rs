//! No code reads the words of an error: what it has to know is data.
//!
//! Within each function the rule follows errors (what `Err(…)` or `Error::…(…)` binds, what `map_err` is given, parameters whose
//! type is an error) and their words (`to_string()`, `message`, `format!` of an error), through bindings, and through calls into
//! functions of the same file or of a named module. Searching such words, or comparing them, is a fault. Laying them out again
//! (`lines`, `replace`) is not: it decides nothing.

use std::collections::BTreeSet;

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ExprMatch, Pat, Token};

use crate::scopes::{Kind, Scopes, is_error_type};

/// Files that may, each with its reason.
pub(crate) const ALLOWED: &[(&str, &str)] = &[(
    "crates/privet/src/data/document/syntax.rs",
    "the toml crate says what is wrong in words only",
)];

/// Methods that look for something in a text.
const SEARCHES: &[&str] = &[
    "contains",
    "ends_with",
    "eq",
    "eq_ignore_ascii_case",
    "find",
    "match_indices",
    "matches",
    "rfind",
    "rsplit_once",
    "split",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
    "trim_end_matches",
    "trim_start_matches",
];

/// Methods whose closure is given an error.
const GIVEN_ERRORS: &[&str] = &[
    "inspect_err",
    "is_err_and",
    "map_err",
    "map_or_else",
    "or_else",
    "unwrap_or_else",
];

/// A parameter that somebody gives the words of an error: the module that was named, the function, and the parameter's place.
type Given = (Option<String>, String, usize);

/// Every place in these files, by path and text, that reads the words of an error.
pub(crate) fn faults(files: &[(String, String)]) -> Vec<String> {
    let parsed: Vec<(&str, syn::File)> = files
        .iter()
        .map(|(file, text)| {
            let parsed = syn::parse_file(text).unwrap_or_else(|e| panic!("{file}: {e}"));
            (file.as_str(), parsed)
        })
        .collect();
    let mut given: BTreeSet<(String, Given)> = BTreeSet::new();
    loop {
        let (mut faults, mut more) = (Vec::new(), given.clone());
        for (file, parsed) in &parsed {
            let mut reader = Reader {
                given: given
                    .iter()
                    .filter(|(from, (module, ..))| reaches(from, module.as_deref(), file))
                    .map(|(_, (_, name, place))| (name.clone(), *place))
                    .collect(),
                ..Reader::default()
            };
            reader.visit_file(parsed);
            more.extend(reader.gives.into_iter().map(|give| ((*file).to_owned(), give)));
            let lines = reader.found.into_iter();
            faults.extend(lines.map(|(line, what)| format!("{file}:{line}: {what}")));
        }
        if more == given {
            return faults;
        }
        given = more;
    }
}

/// Whether a function that `from` calls, through `module` if it names one, may be one of `file`.
fn reaches(from: &str, module: Option<&str>, file: &str) -> bool {
    match module {
        None | Some("Self" | "self") => from == file,
        Some(module) => {
            let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
            path.rsplit('/').next() == Some(module)
        }
    }
}

#[derive(Default)]
struct Reader {
    /// Parameters that are given words: the function and the parameter's place.
    given: BTreeSet<(String, usize)>,
    scopes: Scopes,
    gives: Vec<Given>,
    found: Vec<(usize, String)>,
}

impl Reader {
    fn scoped(&mut self, inside: impl FnOnce(&mut Self)) {
        self.scopes.enter();
        inside(self);
        self.scopes.leave();
    }

    fn fault(&mut self, at: &impl Spanned, what: impl Into<String>) {
        self.found.push((at.span().start().line, what.into()));
    }

    /// The parts of a macro whose grammar is known: what `matches!` matches, and expressions with commas.
    fn visit_tokens(&mut self, mac: &syn::Macro) {
        let tokens = mac.tokens.clone();
        if mac.path.is_ident("matches") {
            let parts = |input: syn::parse::ParseStream<'_>| {
                let value: Expr = input.parse()?;
                input.parse::<Token![,]>()?;
                let pattern = Pat::parse_multi_with_leading_vert(input)?;
                let guard = input
                    .parse::<Option<Token![if]>>()?
                    .map(|_| input.parse::<Expr>())
                    .transpose()?;
                input.parse::<Option<Token![,]>>()?;
                Ok((value, pattern, guard))
            };
            if let Ok((value, pattern, guard)) = parts.parse2(tokens) {
                self.visit_expr(&value);
                self.compared(&value, &pattern);
                self.scoped(|reader| {
                    let kind = reader.scopes.kind(&value);
                    reader.scopes.bind_pattern(&pattern, kind);
                    guard.iter().for_each(|guard| reader.visit_expr(guard));
                });
            }
            return;
        }
        if let Ok(parts) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens) {
            parts.iter().for_each(|part| self.visit_expr(part));
        }
    }

    /// A match of words against a text.
    fn compared(&mut self, value: &Expr, pattern: &Pat) {
        if self.scopes.kind(value) != Kind::Other && names_text(pattern) {
            self.fault(pattern, "matches the words of an error");
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.scoped(|reader| visit::visit_block(reader, block));
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let kind = local.init.as_ref().map_or(Kind::Other, |init| {
            self.visit_expr(&init.expr);
            if let Some((_, otherwise)) = &init.diverge {
                self.visit_expr(otherwise);
            }
            self.scopes.kind(&init.expr)
        });
        self.scopes.bind_pattern(&local.pat, kind);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.scoped(|reader| {
            reader.visit_expr(&branch.cond);
            reader.visit_block(&branch.then_branch);
        });
        if let Some((_, otherwise)) = &branch.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, repeated: &'ast syn::ExprWhile) {
        self.scoped(|reader| visit::visit_expr_while(reader, repeated));
    }

    fn visit_expr_for_loop(&mut self, repeated: &'ast syn::ExprForLoop) {
        self.visit_expr(&repeated.expr);
        self.scoped(|reader| {
            reader.scopes.bind_pattern(&repeated.pat, Kind::Other);
            reader.visit_block(&repeated.body);
        });
    }

    fn visit_expr_let(&mut self, bound: &'ast syn::ExprLet) {
        self.visit_expr(&bound.expr);
        self.compared(&bound.expr, &bound.pat);
        let kind = self.scopes.kind(&bound.expr);
        self.scopes.bind_pattern(&bound.pat, kind);
    }

    fn visit_expr_match(&mut self, matched: &'ast ExprMatch) {
        self.visit_expr(&matched.expr);
        let kind = self.scopes.kind(&matched.expr);
        for arm in &matched.arms {
            self.compared(&matched.expr, &arm.pat);
            self.scoped(|reader| {
                reader.scopes.bind_pattern(&arm.pat, kind);
                if let Pat::Guard(guarded) = &arm.pat {
                    reader.visit_expr(&guarded.guard);
                }
                reader.visit_expr(&arm.body);
            });
        }
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.closure(closure, Kind::Other);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func {
            let mut names = path
                .path
                .segments
                .iter()
                .rev()
                .map(|segment| segment.ident.to_string());
            if let Some(name) = names.next() {
                let module = names.next();
                for (place, given) in call.args.iter().enumerate() {
                    if self.scopes.kind(given) == Kind::Words {
                        self.gives.push((module.clone(), name.clone(), place));
                    }
                }
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        self.visit_expr(&call.receiver);
        for argument in &call.args {
            match argument {
                Expr::Closure(closure) if GIVEN_ERRORS.contains(&method.as_str()) => {
                    self.closure(closure, Kind::Error);
                }
                other => self.visit_expr(other),
            }
        }
        let read = self.scopes.kind(&call.receiver) != Kind::Other
            || call
                .args
                .iter()
                .any(|argument| self.scopes.kind(argument) == Kind::Words);
        if SEARCHES.contains(&method.as_str()) && read {
            self.fault(&call.method, format!("`{method}` on the words of an error"));
        }
    }

    fn visit_expr_binary(&mut self, pair: &'ast syn::ExprBinary) {
        let sides = [&pair.left, &pair.right].map(|side| (self.scopes.kind(side), is_text(side)));
        let words = |(kind, _): (Kind, bool)| kind == Kind::Words;
        let read = match sides {
            [left, right] if words(left) || words(right) => true,
            [(Kind::Error, _), (_, true)] | [(_, true), (Kind::Error, _)] => true,
            _ => false,
        };
        if matches!(pair.op, BinOp::Eq(_) | BinOp::Ne(_)) && read {
            self.fault(pair, "compares the words of an error");
        }
        visit::visit_expr_binary(self, pair);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.visit_tokens(mac);
    }
}

impl Reader {
    fn function(&mut self, signature: &syn::Signature, block: &Block) {
        let name = signature.ident.to_string();
        // A method is called without its receiver.
        let inputs = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(typed),
            syn::FnArg::Receiver(_) => None,
        });
        self.scoped(|reader| {
            for (place, input) in inputs.enumerate() {
                let words = reader.given.contains(&(name.clone(), place));
                let kind = match is_error_type(&input.ty) {
                    true => Kind::Error,
                    false if words => Kind::Words,
                    false => Kind::Other,
                };
                reader.scopes.bind_pattern(&input.pat, kind);
            }
            reader.visit_block(block);
        });
    }

    fn closure(&mut self, closure: &syn::ExprClosure, kind: Kind) {
        self.scoped(|reader| {
            for input in &closure.inputs {
                reader.scopes.bind_pattern(input, kind);
            }
            reader.visit_expr(&closure.body);
        });
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let test = |attribute: &syn::Attribute| {
        let path = attribute.path();
        path.is_ident("test")
            || path.is_ident("cfg")
                && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    };
    attributes.iter().any(test)
}

fn is_text(expression: &Expr) -> bool {
    matches!(expression, Expr::Lit(literal) if matches!(literal.lit, syn::Lit::Str(_)))
}

/// Whether a pattern holds a text of its own.
fn names_text(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(literal) => matches!(literal.lit, syn::Lit::Str(_)),
        Pat::Or(cases) => cases.cases.iter().any(names_text),
        Pat::Paren(inner) => names_text(&inner.pat),
        Pat::Guard(guarded) => names_text(&guarded.pat),
        Pat::Reference(inner) => names_text(&inner.pat),
        _ => false,
    }
}
