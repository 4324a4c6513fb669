//! `privet inspect --report`: one page about a model, for whoever answers for the data. It needs no script, no font and no network.

use std::fmt::Write;
use std::path::Path;

use privet::data::Schema;
use privet::model::Model;
use privet::model::explain::{Explanation, Term, escaped, spans};
use privet::privacy::texts::shown;
use privet::privacy::{BudgetLine, Certificate, Guarantee};
use serde_json::json;

use super::exit::Failure;
use super::protection::Protection;
use super::request::LedgerFile;
use super::words::{self, Round};
use super::{Answer, output, written};
use crate::ledger::Store;

/// The most shapes, and the most pairs, that are drawn.
const SHAPES: usize = 40;
const PAIRS: usize = 12;

pub(super) fn run(
    model: &Model,
    (file, out, overwrite): (&Path, &Path, bool),
    signed: &str,
    ledger: &LedgerFile,
) -> Result<Answer, Failure> {
    if output::clash(&[out], &[file]).is_some() {
        return Err(Failure::usage(format!(
            "--report would overwrite {}, which is the model: choose another name. Nothing was written.",
            out.display()
        )));
    }
    output::check(ledger, out)?;
    output::check_new(out, overwrite)?;
    written(out, page(model, signed, ledger)?.as_bytes())?;
    let text = format!("Wrote {}: a page about {}\n", out.display(), file.display());
    Ok(Answer::new(text, json!({"report": out, "model": file})))
}

/// The page. `signed` says who signed the model.
///
/// # Errors
/// A [`Failure`] if there is a ledger that cannot be read.
pub fn page(model: &Model, signed: &str, ledger: &LedgerFile) -> Result<String, Failure> {
    let (schema, certificate) = (model.schema(), model.certificate());
    let title = format!("A model of '{}'", shown(schema.dataset()));
    let mut html = Page::new(&title);
    html.paragraph(&format!(
        "{}, made by privet {}. Signed: {signed}.",
        model.ensemble().summary(),
        model.settings().version()
    ));
    protection(&mut html, schema, certificate);
    budget(&mut html, certificate, ledger)?;
    revealed(&mut html, certificate);
    let noise = model.settings().job().iter().filter(|(name, _)| name == "noise");
    let noise: Vec<String> = noise.map(|(_, line)| line.clone()).collect();
    if !noise.is_empty() {
        html.heading("The noise");
        html.list(&noise);
    }
    html.heading("What it has learnt");
    match model.explain() {
        Ok(explanation) => learnt(&mut html, &explanation),
        Err(refused) => html.paragraph(&format!("{refused}.")),
    }
    html.heading("The certificate");
    html.verbatim(&certificate.to_string());
    Ok(html.end())
}

/// What each column does, in pictures: the same in a page and in a notebook.
pub fn drawings(explanation: &Explanation) -> String {
    let mut html = Page(String::new());
    learnt(&mut html, explanation);
    html.0
}

fn protection(html: &mut Page, schema: &Schema, certificate: &Certificate) {
    let void = certificate
        .claims
        .iter()
        .find_map(|claim| match &claim.guarantee {
            Guarantee::Void { because } => Some(because),
            _ => None,
        });
    html.heading("Who is protected");
    if let Some(because) = void {
        html.warning(&format!("Nobody is protected: {}.", shown(because)));
        return;
    }
    let Some(protection) = Protection::of(schema, certificate) else {
        let claims: Vec<String> = certificate
            .claims
            .iter()
            .map(|claim| format!("From {}: {}.", claim.from, claim.guarantee))
            .collect();
        html.list(&claims);
        return;
    };
    html.paragraph(&protection.who());
    html.heading(&format!(
        "What {} means",
        words::promise(protection.epsilon, protection.delta)
    ));
    html.list(&protection.meaning());
    let factor = protection.epsilon.to_f64().exp();
    let line = |before: f64| {
        let after = before * factor / (before * factor + 1.0 - before);
        let percent = |share: f64| (share * 1000.0).ceil() / 10.0;
        (
            format!("{} % sure", before * 100.0),
            [before, after],
            format!("≤ {} %", percent(after)),
        )
    };
    let lines = [0.01, 0.1, 0.5].map(line);
    let words: Vec<String> = lines
        .iter()
        .map(|(before, _, after)| format!("whoever is {before} before, {after} sure after"))
        .collect();
    html.figure(
        &spans(
            "Before and after the model is seen",
            &format!("How sure somebody can become: {}.", words.join("; ")),
            &lines,
        ),
        None,
    );
    html.heading("What is not protected");
    html.list(&protection.exceptions());
}

fn budget(html: &mut Page, certificate: &Certificate, ledger: &LedgerFile) -> Result<(), Failure> {
    html.heading("The budget");
    if !certificate.recorded {
        html.paragraph("This model's payments were recorded in no ledger that lasts.");
    }
    if let Some(total) = &certificate.total {
        html.paragraph(&format!(
            "When this model was made, all runs on the data set together guaranteed: {}.",
            total.guarantee
        ));
    }
    let Some(path) = ledger.path().ok().filter(|path| path.exists()) else {
        html.paragraph("There is no ledger on this machine, so what remains of the budget is not shown.");
        return Ok(());
    };
    let book = Store::read_only(path)?.book()?;
    let account = book
        .account(&certificate.dataset)
        .filter(|account| !account.lines().is_empty());
    let Some(account) = account else {
        html.paragraph(
            "The ledger on this machine has no budget for this data set, so what remains is not shown.",
        );
        return Ok(());
    };
    if let Some(because) = account.void() {
        html.warning(&format!(
            "Something was released without protection: {}. No promise of this budget holds any more.",
            shown(because)
        ));
    }
    for (relation, line) in account.lines() {
        let amount = |caps, round| words::budget(&caps, line.delta, round);
        html.paragraph(&format!("When {relation}:"));
        html.list(&[
            format!("limit: {}", amount(line.caps, Round::Down)),
            format!("spent: {}", amount(line.spent, Round::Up)),
            format!("remains: {}", amount(line.remaining(), Round::Down)),
        ]);
        let spent = share_spent(line);
        let says = format!("{} % spent", (spent * 100.0).ceil());
        html.figure(
            &spans(
                "Spent of the limit",
                &format!("Of the limit, {says}."),
                &[("budget".into(), [0.0, spent], says.clone())],
            ),
            None,
        );
    }
    html.paragraph(&format!("This is how the ledger stands at {}.", book.head()));
    Ok(())
}

/// The largest share that is spent of any currency.
fn share_spent(line: &BudgetLine) -> f64 {
    let of = |spent: f64, cap: f64| if cap > 0.0 { spent / cap } else { 0.0 };
    let (spent, caps) = (&line.spent, &line.caps);
    of(spent.pure.to_f64(), caps.pure.to_f64())
        .max(of(spent.rho.to_f64(), caps.rho.to_f64()))
        .max(of(spent.mu_squared.to_f64(), caps.mu_squared.to_f64()))
}

fn revealed(html: &mut Page, certificate: &Certificate) {
    html.heading("What was revealed");
    if certificate.payments.is_empty() {
        html.paragraph("Nothing was paid for.");
    } else {
        let row = |payment: &privet::privacy::Payment| {
            [
                shown(&payment.what).into_owned(),
                payment.price.to_string(),
                payment.draws.to_string(),
            ]
        };
        let rows: Vec<[String; 3]> = certificate.payments.iter().map(row).collect();
        html.table(["what was released, with noise", "price", "draws"], &rows);
    }
    for claim in &certificate.claims {
        if let Guarantee::Simulated { leakage } = &claim.guarantee {
            let row = |item: &privet::privacy::Leakage| {
                [
                    shown(&item.what).into_owned(),
                    shown(&item.to).into_owned(),
                    item.count.to_string(),
                ]
            };
            let rows: Vec<[String; 3]> = leakage.iter().map(row).collect();
            html.table(["what was shown without noise", "to", "how many"], &rows);
        }
    }
    html.paragraph(
        "The model holds what was released and what follows from that, the schema, and how it was trained; nothing else of the rows.",
    );
}

fn learnt(html: &mut Page, explanation: &Explanation) {
    let outputs: Vec<String> = explanation
        .outputs()
        .iter()
        .zip(explanation.base())
        .map(|(name, base)| format!("{} begins at {base:.4}", shown(name)))
        .collect();
    html.paragraph(&format!(
        "A row's score is the base plus what each column adds, and each pair of columns: {}.",
        outputs.join("; ")
    ));
    let row = |own: &privet::model::explain::Importance| {
        let says = match (own.deviations, own.stands_out) {
            (None, true) => "no noise is known".to_owned(),
            (None, false) => "not used, or nothing kept".to_owned(),
            (Some(z), true) => format!("{z:.1} standard errors above noise"),
            (Some(_), false) => "not told from noise".to_owned(),
        };
        [
            shown(&own.name).into_owned(),
            format!("{:.4}", own.size),
            format!("{:.4}", own.by_noise),
            says,
        ]
    };
    let rows: Vec<[String; 4]> = explanation.importance().iter().map(row).collect();
    html.table(
        [
            "column",
            "how much it moves the score",
            "what noise alone would do",
            "in words",
        ],
        &rows,
    );
    let knows_noise = explanation.terms().iter().any(|term| term.noise.is_some());
    html.paragraph(match knows_noise {
        true => {
            "A line or a dot is what the model does, exactly. The band is how far noise alone moves it, in 95 of 100 runs, from the known size of \
             the noise. It is not a confidence interval: curves are shrunk towards zero, and other trees would have been cut elsewhere."
        }
        false => "A line or a dot is what the model does, exactly. No noise is known of it.",
    });
    some(html, explanation, explanation.shapes().collect(), SHAPES);
    let (pairs, noise): (Vec<&Term>, Vec<&Term>) = explanation.pairs().partition(|pair| pair.stands_out());
    if !noise.is_empty() {
        html.paragraph(&format!(
            "Nothing that {} of two columns add can be told from noise.",
            words::count(noise.len() as u64, "pair", "pairs")
        ));
    }
    if !pairs.is_empty() {
        html.paragraph(
            "Two columns together: blue adds to the score, brown takes from it. What is white cannot be told from noise. A column's whole effect is its \
             own drawing and all of these that it is in.",
        );
        some(html, explanation, pairs, PAIRS);
    }
}

fn some(html: &mut Page, explanation: &Explanation, terms: Vec<&Term>, most: usize) {
    html.0.push_str("<div class=\"drawings\">");
    for term in terms.iter().take(most) {
        let output = &explanation.outputs()[term.output];
        let caption = (explanation.outputs().len() > 1).then(|| shown(output).into_owned());
        html.figure(&explanation.svg(term), caption.as_deref());
    }
    html.0.push_str("</div>");
    if terms.len() > most {
        html.paragraph(&format!("And {} more.", terms.len() - most));
    }
}

/// A page that is being written. Every text is escaped.
struct Page(String);

const STYLE: &str = "body{font:16px/1.5 sans-serif;color:#1d2b24;background:#fff;margin:0}main{max-width:46rem;margin:0 auto;padding:1.5rem}\
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid #bbb}table{border-collapse:collapse;margin:1rem 0}\
th,td{text-align:left;vertical-align:top;padding:.2rem 1rem .2rem 0;border-bottom:1px solid #ddd}figure{margin:1rem 0;break-inside:avoid}\
.drawings{display:flex;flex-wrap:wrap;gap:.5rem}.drawings figure{margin:0}figcaption{font-size:.8rem}svg{max-width:100%;height:auto}\
pre{white-space:pre-wrap;font-size:.85rem}.warning{border:2px solid #a02020;padding:.6rem;font-weight:bold}\
@media print{main{max-width:none;padding:0}h2{break-after:avoid}}";

impl Page {
    fn new(title: &str) -> Self {
        let title = escaped(title);
        Self(format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>{title}</title><style>{STYLE}</style></head>\n<body><main><h1>{title}</h1>\n"
        ))
    }

    fn heading(&mut self, text: &str) {
        let _ = writeln!(self.0, "<h2>{}</h2>", escaped(text));
    }

    fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p>{}</p>", escaped(text));
    }

    fn warning(&mut self, text: &str) {
        let _ = writeln!(self.0, "<p class=\"warning\">{}</p>", escaped(text));
    }

    fn verbatim(&mut self, text: &str) {
        let _ = writeln!(self.0, "<pre>{}</pre>", escaped(text));
    }

    fn list(&mut self, lines: &[String]) {
        let items: String = lines
            .iter()
            .map(|line| format!("<li>{}</li>", escaped(line)))
            .collect();
        let _ = writeln!(self.0, "<ul>{items}</ul>");
    }

    fn figure(&mut self, svg: &str, caption: Option<&str>) {
        let caption = caption.map(|text| format!("<figcaption>{}</figcaption>", escaped(text)));
        let _ = writeln!(self.0, "<figure>{svg}{}</figure>", caption.unwrap_or_default());
    }

    fn table<const N: usize>(&mut self, names: [&str; N], rows: &[[String; N]]) {
        let cells = |tag: &str, cells: &[String]| -> String {
            let cell = |text: &String| format!("<{tag}>{}</{}>", escaped(text), &tag[..2]);
            cells.iter().map(cell).collect()
        };
        let head = cells("th scope=\"col\"", &names.map(String::from));
        let body: String = rows
            .iter()
            .map(|row| format!("<tr>{}</tr>", cells("td", row)))
            .collect();
        let _ = writeln!(
            self.0,
            "<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        );
    }

    fn end(mut self) -> String {
        self.0.push_str("</main></body></html>\n");
        self.0
    }
}
