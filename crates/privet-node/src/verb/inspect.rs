//! `privet inspect`

use std::fmt::Write;
use std::path::Path;

use privet::boost::{Ensemble, Signal};
use privet::data::Schema;
use privet::learner::tree::Column;
use privet::model::{Model, Origin};
use privet::privacy::signature::{Fingerprint, PublicKey};
use serde_json::{Value, json};

use super::exit::Failure;
use super::ledger::verify;
use super::protection::Protection;
use super::request::Inspect;
use super::{Answer, report, signed_model, words};

/// The most columns that are shown, and the most that are named as noise.
const SHOWN: usize = 20;

/// One column: how far it can move the result, and how that compares with its noise.
struct ColumnEffect {
    name: String,
    reach: f64,
    signal: Option<Signal>,
    /// Whether its leaves cannot be told from noise.
    is_noise: bool,
}

pub(super) fn run(inspect: &Inspect) -> Result<Answer, Failure> {
    let (file, signed_by) = (inspect.model.as_path(), inspect.signed_by);
    if let Some(stated) = certificate(file)? {
        if inspect.report.is_some() {
            return Err(Failure::usage(format!(
                "--report is about a model, and {} is a certificate alone: remove it. Nothing was written.",
                file.display()
            )));
        }
        let verify::Stated {
            certificate, signer, ..
        } = &stated;
        let mut signed = signed(file, *signer, signed_by)?.unwrap_or_else(|| "no".into());
        if stated.beside && signer.is_some() {
            signed += "; the signature covers this certificate, not the rest of the file";
        }
        let text = format!("{certificate}\nsigned     {signed}\n");
        let json = json!({
            "certificate": certificate,
            "signed_by": signer.map(|key| key.fingerprint().to_string()),
            "compared": signed_by.is_some(),
        });
        return Ok(Answer::new(words::wrapped(&text), json));
    }
    let (model, origin) = signed_model(file)?;
    let signed = signed(file, origin.signer, signed_by)?.unwrap_or_else(|| unsigned(&model, &origin).into());
    if let Some(out) = &inspect.report {
        return report::run(&model, (file, out, inspect.overwrite), &signed, &inspect.ledger);
    }
    let learnt = learnt(model.schema(), model.ensemble());
    let mut text = String::new();
    let _ = writeln!(text, "{}\nsigned     {signed}\n", model.certificate());
    let protection = Protection::of(model.schema(), model.certificate());
    if let Some(protection) = &protection {
        let _ = writeln!(text, "{}", protection.text());
    }
    let (noise, settings): (Vec<_>, Vec<_>) = model
        .settings()
        .job()
        .iter()
        .partition(|(name, _)| name == "noise");
    if !noise.is_empty() {
        let _ = writeln!(text, "THE NOISE");
        for (_, line) in noise {
            let _ = writeln!(text, "  -  {line}");
        }
        text.push('\n');
    }
    let _ = writeln!(text, "model      {}", model.ensemble().summary());
    if let Some((questions, columns)) = shown(&model) {
        let _ = writeln!(
            text,
            "           shows {} about {}, and {}",
            words::count(questions as u64, "different question", "different questions"),
            words::count(columns as u64, "column", "columns"),
            words::count(
                model.ensemble().members.len() as u64,
                "coefficient",
                "coefficients"
            ),
        );
    }
    for line in readings(&model) {
        let _ = writeln!(text, "           {line}");
    }
    for (name, value) in settings {
        let _ = writeln!(text, "           {name} = {value}");
    }
    let _ = writeln!(text, "           made by privet {}", model.settings().version());
    columns(
        &mut text,
        &learnt,
        model.settings().job().iter().any(|(name, _)| name == "noise"),
    );
    let _ = writeln!(text, "\n{}", model.schema().explain_as_read().trim_end());
    let json = json!({
        "certificate": model.certificate(),
        "signed_by": origin.signer.map(|key| key.fingerprint().to_string()),
        "compared": signed_by.is_some(),
        "protection": protection.as_ref().map(Protection::json),
        "ensemble": model.ensemble().summary(),
        "shown": shown(&model).map(|(questions, columns)| {
            json!({"questions": questions, "columns": columns, "coefficients": model.ensemble().members.len()})
        }),
        "settings": model.settings().job(),
        "version": model.settings().version(),
        "weights": by_reach(&learnt),
        "columns": learnt.iter().map(ColumnEffect::json).collect::<Vec<_>>(),
        "calibration": model.ensemble().calibration,
        "label_scale": model.ensemble().scale,
        "spikes": spikes(&model).iter().map(|(column, values)| json!({"column": column, "values": values})).collect::<Vec<_>>(),
        "schema": model.schema().to_toml(),
    });
    Ok(Answer::new(words::wrapped(&text), json))
}

/// A certificate that stands in a file of its own, if this is one.
fn certificate(file: &Path) -> Result<Option<verify::Stated>, Failure> {
    let bytes = std::fs::read(file).unwrap_or_default();
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let is_one = value.get("claims").is_some() || value.pointer("/certificate/claims").is_some();
    is_one.then(|| verify::Stated::read(file)).transpose()
}

/// Who signed the file, in words; or why that is not who was asked for.
fn signed(
    file: &Path,
    signer: Option<PublicKey>,
    wanted: Option<Fingerprint>,
) -> Result<Option<String>, Failure> {
    let found = signer.map(|key| key.fingerprint());
    let not = |why: String| Failure::input(format!("{}: {why}", file.display()));
    match (found, wanted) {
        (Some(found), Some(wanted)) if found == wanted => Ok(Some(format!("by {found}, as asked for"))),
        (Some(found), Some(wanted)) => Err(not(format!("it is signed by {found}, not by {wanted}"))),
        (None, Some(wanted)) => Err(not(format!(
            "it is not signed, and the signature of {wanted} was asked for"
        ))),
        (Some(found), None) => Ok(Some(format!("by {found}, not compared"))),
        (None, None) => Ok(None),
    }
}

/// How many questions a model without noise shows, and about how many columns: in the secure setting these are what its certificate lists.
fn shown(model: &Model) -> Option<(usize, usize)> {
    let is_secure = |(name, value): &(String, String)| name == "setting" && value == "secure";
    let settings = model.settings().job();
    settings
        .iter()
        .any(is_secure)
        .then(|| model.ensemble().questions())
}

/// Why nobody signed a model.
fn unsigned(model: &Model, origin: &Origin) -> &'static str {
    match (origin.is_older(), model.certificate().recorded) {
        (true, _) => "no: the file is older than signatures",
        (false, false) => "no: the model was made without a ledger",
        (false, true) => "NO: the ledger that it was made with signs models, so the signature was removed",
    }
}

/// Who signed a model, in words.
pub fn signed_words(model: &Model, origin: &Origin) -> String {
    match origin.signer {
        Some(key) => format!("by {}, not compared", key.fingerprint()),
        None => unsigned(model, origin).into(),
    }
}

/// The columns with spikes, and the least and the largest value of each.
fn spikes(model: &Model) -> Vec<(&str, Vec<[f64; 2]>)> {
    let spikes = model.ensemble().spikes.iter();
    spikes
        .filter_map(|spikes| spikes.values(model.schema()))
        .collect()
}

/// What is done to sums before they are predictions, and which values were released besides them.
fn readings(model: &Model) -> Vec<String> {
    let ensemble = model.ensemble();
    let mut lines = Vec::new();
    if let Some(calibration) = &ensemble.calibration {
        let intercepts: Vec<String> = calibration.intercepts.iter().map(|x| format!("{x:.3}")).collect();
        lines.push(format!(
            "probabilities are recalibrated: scores times {:.3}, plus {}",
            calibration.slope,
            intercepts.join(", ")
        ));
    }
    if let Some(privet::boost::Scale(transform)) = ensemble.scale {
        let scale = transform
            .units()
            .map(|units| format!(", scale = {}", units.size()));
        lines.push(format!(
            "the label was learnt with transform = \"{}\"{}; predictions are in its own units, and nearer to medians than to means",
            transform.name(),
            scale.unwrap_or_default()
        ));
    }
    for (column, values) in spikes(model) {
        let each = values.iter().map(|[low, high]| match low == high {
            true => format!("{low}"),
            false => format!("{low} to {high}"),
        });
        lines.push(format!(
            "values of '{column}' that many rows share have bins of their own, as noisy counts of the training rows showed them: {}",
            each.collect::<Vec<_>>().join(", ")
        ));
    }
    lines
}

/// Columns, the one that stands out furthest first; of a model that knows no noise, the one that can move the result furthest.
fn learnt(schema: &Schema, ensemble: &Ensemble) -> Vec<ColumnEffect> {
    let reach = ensemble.reach(schema.features().count());
    let signals = ensemble.signals(&Column::of(schema));
    let noisy = signals.iter().flatten().count();
    let mut learnt: Vec<ColumnEffect> = schema
        .features()
        .zip(reach.into_iter().zip(signals))
        .map(|(column, (reach, signal))| ColumnEffect {
            name: column.name.clone(),
            reach,
            is_noise: signal.is_some_and(|signal| !signal.stands_out(noisy)),
            signal,
        })
        .collect();
    // Columns that count without noise, public ones, come first; those that no member asks about after all that have a number, and those
    // of which shrinkage kept nothing last.
    let deviations = |own: &ColumnEffect| match own.signal {
        Some(signal) => signal.deviations,
        None if own.reach > 0.0 => f64::INFINITY,
        None => f64::MIN,
    };
    learnt.sort_by(|a, b| {
        let order = deviations(b).total_cmp(&deviations(a));
        order.then(b.reach.total_cmp(&a.reach))
    });
    learnt
}

/// As it was written before noise was known of.
fn by_reach(learnt: &[ColumnEffect]) -> Vec<(&str, f64)> {
    let mut weights: Vec<(&str, f64)> = learnt.iter().map(|own| (own.name.as_str(), own.reach)).collect();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    weights
}

impl ColumnEffect {
    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "reach": self.reach,
            "stands_out": self.signal.map(|signal| signal.deviations),
            "variance": self.signal.map(|signal| signal.variance),
            "variance_by_noise": self.signal.map(|signal| signal.by_noise),
            "is_noise": self.is_noise,
        })
    }
}

/// `has_noise` says whether noise was added, of which the model itself may know nothing.
fn columns(text: &mut String, learnt: &[ColumnEffect], has_noise: bool) {
    let is_noisy = learnt.iter().any(|own| own.signal.is_some());
    let _ = match is_noisy {
        false if has_noise => writeln!(
            text,
            "\nWhat it has learnt from, by how far each column can move the result. That includes noise, and the model does not say how much: \
             a column that tells nothing can have a long bar, and a short one is no proof that it tells nothing.\n"
        ),
        true => writeln!(
            text,
            "\nWhat it has learnt from, by how far each column stands out from its noise, in standard errors: a column of nothing but \
             noise has about 0, one more or less. Beside it, how far the column can move the result, noise included.\n"
        ),
        false => writeln!(
            text,
            "\nWhat it has learnt from, by how far each column can move the result\n"
        ),
    };
    let shown: Vec<&ColumnEffect> = learnt.iter().filter(|own| !own.is_noise).collect();
    let widest = shown
        .iter()
        .map(|own| own.name.chars().count())
        .max()
        .unwrap_or(0);
    let size = |own: &ColumnEffect| match own.signal {
        Some(signal) => signal.deviations,
        None if is_noisy => 0.0,
        None => own.reach,
    };
    let largest = shown.iter().map(|own| size(own)).fold(0.0, f64::max);
    for own in shown.iter().take(SHOWN) {
        // Where all are nothing, their share is not a number, which is no bar either.
        let bar = (size(own) / largest * 40.0).round().max(0.0) as usize;
        let numbers = match (is_noisy, own.signal) {
            (true, Some(signal)) => format!("{:>9.1} {:>9.4}", signal.deviations, own.reach),
            (true, None) if own.reach > 0.0 => format!("{:>9} {:>9.4}", "no noise", own.reach),
            (true, None) => format!("{:>9} {:>9.4}", "not used", own.reach),
            (false, _) => format!("{:>9.4}", own.reach),
        };
        let line = format!("   {:<widest$} {numbers} {}", own.name, "█".repeat(bar));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if shown.len() > SHOWN {
        let _ = writeln!(text, "   … and {} more columns", shown.len() - SHOWN);
    }
    let noise: Vec<&str> = learnt
        .iter()
        .filter(|own| own.is_noise)
        .map(|own| own.name.as_str())
        .collect();
    if !noise.is_empty() {
        let more = noise.len().saturating_sub(SHOWN);
        let _ = writeln!(
            text,
            "\nNo different from noise, as far as the model shows: {}{}. That does not say that they are useless: with more rows or a larger ε \
             they may stand out.",
            noise[..noise.len().min(SHOWN)].join(", "),
            match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            }
        );
    }
}

#[cfg(test)]
mod tests {
    use privet::boost::{Learner, Link, Member};
    use privet::learner::tree::{Child, Node, Rule, Tree};

    use super::*;

    const SCHEMA: &str = r#"
        dataset = "test"
        [columns]
        silent = { type = "flag" }
        unused = { type = "flag" }
        public = { type = "flag" }
        noisy = { type = "flag" }
        clear = { type = "flag" }
        label = { type = "label", values = ["a", "b"] }
    "#;

    fn tree(feature: u32, leaves: [f32; 2], noise: &[f32]) -> Member {
        let node = Node {
            feature,
            rule: Rule::one_of(4, [0]),
            left: Child::Leaf(0),
            right: Child::Leaf(1),
        };
        let tree = Tree {
            noise: noise.to_vec(),
            ..Tree::new(vec![node], leaves.to_vec())
        };
        Member::new(1.0, 0, Learner::Tree(tree))
    }

    /// What shrinkage took all of is noise, not a column without noise.
    #[test]
    fn columns_of_which_nothing_is_kept_come_last() {
        let schema = Schema::from_toml("schema.toml", SCHEMA).expect("a schema");
        let members = vec![
            tree(0, [0.0, 0.0], &[0.0]),
            tree(2, [0.3, -0.3], &[]),
            tree(3, [0.1, 0.1], &[0.1]),
            tree(4, [4.0, -4.0], &[0.1]),
        ];
        let ensemble = Ensemble::new(Link::Logistic, vec![0.0], members);
        let learnt = learnt(&schema, &ensemble);
        let names: Vec<&str> = learnt.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["public", "clear", "noisy", "unused", "silent"]);
        let mut text = String::new();
        columns(&mut text, &learnt, true);
        assert!(text.contains("   public  no noise    0.6000\n"), "{text}");
        assert!(text.contains("   unused  not used    0.0000\n"), "{text}");
        assert!(
            text.contains("\nNo different from noise, as far as the model shows: noisy, silent. "),
            "{text}"
        );
    }

    /// Models of which nothing but the reach of each column is known.
    #[test]
    fn bars_that_hold_noise_say_so() {
        let schema = Schema::from_toml("schema.toml", SCHEMA).expect("a schema");
        let ensemble = Ensemble::new(Link::Logistic, vec![0.0], vec![tree(2, [0.3, -0.3], &[])]);
        let told = |has_noise| {
            let mut text = String::new();
            columns(&mut text, &learnt(&schema, &ensemble), has_noise);
            text.contains("That includes noise")
        };
        assert!(told(true) && !told(false));
    }
}
