//! `privet demo`: a budget, two releases, a refusal and a check, on made-up people.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use privet::privacy::account::Caps;
use privet::privacy::journal::{Event, Journal};
use privet::privacy::mechanism::{Laplace, Mechanism, PermuteAndFlip};
use privet::privacy::{
    AddRemove, Anchor, Book, Certificate, Delta, Epsilon, Ledger, Neighbours, Norm, Private, Query,
    Randomness, Sensitivity,
};
use serde_json::json;

use super::exit::{Exit, Failure};
use super::{Answer, show, verify, words};
use crate::ledger::{Store, write_whole};

const REGIONS: [&str; 5] = ["north", "east", "south", "west", "centre"];
const PEOPLE: usize = 2000;
const NAME: &str = "people";
const BUDGET: Epsilon = Epsilon::from_billionths(1_000_000_000);
const HISTOGRAM: Epsilon = Epsilon::from_billionths(500_000_000);
const CHOICE: Epsilon = Epsilon::from_billionths(300_000_000);

/// One made-up person.
#[derive(Debug, Clone, Copy)]
struct Person {
    region: usize,
    yes: bool,
}

pub(super) fn run(keep: Option<&Path>) -> Result<Answer, Failure> {
    let failed = |e: std::io::Error| Failure {
        exit: Exit::Unexpected,
        message: format!("the demo needs a folder to work in: {e}"),
    };
    match keep {
        Some(folder) => {
            fs::create_dir_all(folder).map_err(failed)?;
            if fs::symlink_metadata(folder.join("ledger.db")).is_ok() {
                return Err(Failure::usage(format!(
                    "{} has a ledger already: choose a new folder for --keep",
                    folder.display()
                )));
            }
            tell(folder, true)
        }
        None => {
            let folder = tempfile::tempdir().map_err(failed)?;
            tell(folder.path(), false)
        }
    }
}

/// What the demo shows, step by step.
fn tell(folder: &Path, kept: bool) -> Result<Answer, Failure> {
    let path = folder.join("ledger.db");
    let people = made_up();
    let table = folder.join("people.csv");
    write(&table, &csv(&people))?;
    let people = Private::new(people);

    set_budget(&path)?;
    let mut ledger = open(&path, &table)?;
    let (counts, error) = histogram(&mut ledger, &people, HISTOGRAM)?;
    let largest = largest_region(&mut ledger, &people)?;
    let certificate = ledger.close();
    let file = folder.join("certificate.json");
    let saved = serde_json::to_string_pretty(&certificate).map_err(|e| Failure {
        exit: Exit::Unexpected,
        message: format!("the certificate cannot be written: {e}"),
    })?;
    write(&file, &saved)?;

    let budget = show_budget(&path)?;
    let refusal = refused(&path, &table, &people)?;
    let checked = verify::run(&path, &[&file])?;

    let mut text =
        format!("A table of {PEOPLE} made-up people, with a budget of ε = {BUDGET} for everything.\n");
    write_histogram(&mut text, &counts, error);
    write_choice(&mut text, largest);
    let _ = writeln!(text, "\n3. The certificate that goes with these results\n");
    indent(&mut text, &certificate.to_string());
    let _ = writeln!(text, "\n4. The ledger, written before each answer was drawn\n");
    indent(&mut text, &budget);
    let _ = writeln!(
        text,
        "\n5. Another histogram for ε = {HISTOGRAM}? There is not enough left\n"
    );
    indent(&mut text, &refusal);
    let _ = writeln!(
        text,
        "\n6. The check: `privet ledger verify --against certificate.json`\n"
    );
    // The folder may be gone when this is read.
    let bare = format!("{}{}", folder.display(), std::path::MAIN_SEPARATOR);
    indent(&mut text, &checked.text.replace(&bare, ""));
    if kept {
        let _ = writeln!(text, "\nThe files are in {}", folder.display());
    }
    let mut json = answer_json(&counts, error, largest, &certificate, &refusal);
    json["verified"] = (checked.exit == Exit::Ok).into();
    let mut answer = Answer::new(text, json);
    answer.exit = checked.exit;
    Ok(answer)
}

/// People who do not exist, the same ones every time: regions of unequal size, every third or so says yes.
fn made_up() -> Vec<Person> {
    let mut state: u64 = 2024;
    let mut below = |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    (0..PEOPLE)
        .map(|_| {
            // The smaller of two draws: the first regions are larger.
            let region = below(5).min(below(5)) as usize;
            let yes = below(10) < 2 + region as u64;
            Person { region, yes }
        })
        .collect()
}

fn csv(people: &[Person]) -> String {
    let mut text = String::from("region,label\n");
    for person in people {
        let label = if person.yes { "yes" } else { "no" };
        let _ = writeln!(text, "{},{label}", REGIONS[person.region]);
    }
    text
}

fn set_budget(path: &Path) -> Result<(), Failure> {
    let mut store = Store::create(path)?;
    store.record(Event::Limit {
        dataset: NAME.into(),
        relation: AddRemove::row().relation(),
        caps: Caps {
            pure: BUDGET,
            ..Caps::ZERO
        },
        delta: Delta::ZERO,
    })?;
    Ok(())
}

fn open(path: &Path, table: &Path) -> Result<Ledger<AddRemove>, Failure> {
    let mut store = Store::open(path)?;
    let bytes = fs::File::open(table).map_err(|e| Failure::input(format!("{}: {e}", table.display())))?;
    store.recognise(NAME, bytes)?;
    Ok(Ledger::open(
        NAME,
        AddRemove::row(),
        store,
        Randomness::from_os()?,
    )?)
}

/// Noisy counts by region and label, and the typical error of each.
///
/// # Privacy
/// Adding or removing one person changes one count by one: L1 sensitivity 1; proof in
/// `docs/proofs/laplace.md#integer-vectors`.
fn histogram(
    ledger: &mut Ledger<AddRemove>,
    people: &Private<Vec<Person>>,
    epsilon: Epsilon,
) -> Result<(Vec<i64>, f64), Failure> {
    let mechanism = Laplace::calibrated(epsilon, 1)?;
    let claim = Sensitivity::claim(
        &AddRemove::row(),
        Norm::L1(1),
        Anchor::new("laplace#integer-vectors"),
    )?;
    let query = Query::new(2 * REGIONS.len(), claim, || {
        people.as_ref().map(|people| {
            let mut counts = vec![0; 2 * REGIONS.len()];
            for person in people {
                counts[2 * person.region + usize::from(person.yes)] += 1;
            }
            counts
        })
    });
    let released = ledger.release("a histogram of regions and labels", &mechanism, query)?;
    Ok((released.into_inner(), mechanism.variance().sqrt()))
}

/// The number of a region that is, nearly always, the largest.
///
/// # Privacy
/// One person more or less moves one score by one in one direction: width 1; proof in
/// `docs/proofs/selection.md#permute-and-flip`.
fn largest_region(ledger: &mut Ledger<AddRemove>, people: &Private<Vec<Person>>) -> Result<usize, Failure> {
    let mechanism = PermuteAndFlip::calibrated(CHOICE, 1)?;
    let claim = Sensitivity::claim(
        &AddRemove::row(),
        Norm::Width(1),
        Anchor::new("selection#permute-and-flip"),
    )?;
    let query = Query::new(REGIONS.len(), claim, || {
        people.as_ref().map(|people| {
            let mut counts = vec![0; REGIONS.len()];
            for person in people {
                counts[person.region] += 1;
            }
            counts
        })
    });
    let released = ledger.release("the largest region", &mechanism, query)?;
    Ok(released.into_inner())
}

/// The average of how many people fewer the chosen region may have than the largest, at most: the choice is the largest
/// of scores with exponential noise of rate ε, and the winner's noise exceeds another's by (H − 1)/ε on average at most.
fn choice_error() -> f64 {
    let harmonic: f64 = (1..=REGIONS.len()).map(|i| 1.0 / i as f64).sum();
    (harmonic - 1.0) / CHOICE.to_f64()
}

fn show_budget(path: &Path) -> Result<String, Failure> {
    let mut store = Store::read_only(path)?;
    let entries = store.read()?;
    let book = Book::of(&entries)?;
    Ok(show::answer(Path::new("ledger.db"), &book, &entries, None).text)
}

/// The words with which one release too many is refused.
fn refused(path: &Path, table: &Path, people: &Private<Vec<Person>>) -> Result<String, Failure> {
    let mut ledger = open(path, table)?;
    match histogram(&mut ledger, people, HISTOGRAM) {
        Err(refusal) if refusal.exit == Exit::Budget => Ok(refusal.message),
        Err(other) => Err(other),
        Ok(_) => Err(Failure {
            exit: Exit::Unexpected,
            message: "a release beyond the budget was not refused: do not use this build".into(),
        }),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text.as_bytes()).map_err(|e| Failure {
        exit: Exit::Unexpected,
        message: format!("{} cannot be written: {e}", path.display()),
    })
}

fn write_histogram(text: &mut String, counts: &[i64], error: f64) {
    let _ = writeln!(
        text,
        "\n1. How many people by region and label, for ε = {HISTOGRAM}\n"
    );
    let _ = writeln!(text, "   {:<8} {:>6} {:>6}", "region", "no", "yes");
    for (region, pair) in REGIONS.iter().zip(counts.chunks(2)) {
        let _ = writeln!(text, "   {region:<8} {:>6} {:>6}", pair[0], pair[1]);
    }
    let _ = writeln!(
        text,
        "   Each count is off by {error:.1} or so (one standard deviation)."
    );
}

fn write_choice(text: &mut String, largest: usize) {
    let _ = writeln!(text, "\n2. Which region is the largest, for ε = {CHOICE}\n");
    let _ = writeln!(text, "   {}", REGIONS[largest.min(REGIONS.len() - 1)]);
    let _ = writeln!(
        text,
        "   On average it has at most {:.1} people fewer than the largest.",
        choice_error()
    );
}

fn answer_json(
    counts: &[i64],
    error: f64,
    largest: usize,
    certificate: &Certificate,
    refusal: &str,
) -> serde_json::Value {
    let histogram: Vec<_> = REGIONS
        .iter()
        .zip(counts.chunks(2))
        .map(|(region, pair)| json!({"region": region, "no": pair[0], "yes": pair[1]}))
        .collect();
    json!({
        "histogram": histogram,
        "standard_deviation": error,
        "largest": REGIONS[largest.min(REGIONS.len() - 1)],
        "largest_mean_error_at_most": choice_error(),
        "certificate": certificate,
        "refusal": refusal,
    })
}

fn indent(text: &mut String, block: &str) {
    for line in words::wrapped(block).trim_end().lines() {
        let _ = writeln!(text, "{}", format!("   {line}").trim_end());
    }
}
