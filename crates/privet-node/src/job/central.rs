//! `[algorithm]` and `[privacy]` of `setting = "central"`.

use privet::data::{Schema, Section};
use privet::privacy::{Delta, Epsilon, Relation};
use privet::setting::central::{
    Algorithm, Builder, Central, Clip, Coefficient, Encoding, Normaliser, Places, Planes, Splits,
};

use super::plain::{fits, whole};

/// Every parameter, with the section that it stands in, for findings at its line.
const KEYS: [&str; 20] = [
    "splits",
    "trees",
    "leaves",
    "depth",
    "learning_rate",
    "gradient_clip",
    "ridge",
    "shrinkage",
    "calibrate",
    "rounds",
    "lower",
    "upper",
    "planes",
    "clip",
    "normaliser",
    "coefficient",
    "candidates",
    "bins",
    "encoding",
    "balance",
];

/// A curator's job: how the model is made, and who is protected.
#[derive(Debug, Clone)]
pub struct Curated {
    /// The parameters.
    pub central: Central,
    /// Who is protected.
    pub relation: Relation,
}

/// The job, or nothing if something was found to be wrong with it.
pub(super) fn read(
    algorithm: &Section<'_>,
    privacy: Option<&Section<'_>>,
    schema: Option<&Schema>,
) -> Option<Curated> {
    let builder = parameters(algorithm);
    let Budget {
        epsilon,
        delta,
        rows,
        relation,
    } = budget(privacy?, schema);
    let mut builder = builder?.epsilon(epsilon?).rows_about(rows?);
    if let Some(delta) = delta? {
        builder = builder.delta(delta);
    }
    let central = builder.build().and_then(|central| {
        if let (Some(schema), Some(relation)) = (schema, &relation) {
            central.resolve(schema, relation)?.noise(schema, relation)?;
        }
        Ok(central)
    });
    let central = central
        .inspect_err(|e| {
            let why = e.to_string();
            let about = |key: &&str| why.starts_with(&format!("{key} "));
            match ["epsilon", "delta", "rows_about"].iter().find(|key| about(key)) {
                Some(key) => privacy
                    .into_iter()
                    .for_each(|privacy| privacy.finding_at(key, why.clone())),
                None => {
                    let key = KEYS.iter().find(|key| about(key)).copied();
                    algorithm.finding_at(key.unwrap_or("name"), why.clone());
                }
            }
        })
        .ok()?;
    Some(Curated {
        central,
        relation: relation?,
    })
}

fn parameters(section: &Section<'_>) -> Option<Builder> {
    type Counts = [(&'static str, fn(Builder, u32) -> Builder); 6];
    type Numbers = [(&'static str, fn(Builder, f64) -> Builder); 6];
    const COUNTS: Counts = [
        ("rounds", Builder::rounds),
        ("candidates", Builder::candidates),
        ("bins", Builder::bins),
        ("trees", Builder::trees),
        ("leaves", Builder::leaves),
        ("depth", Builder::depth),
    ];
    const NUMBERS: Numbers = [
        ("lower", Builder::lower),
        ("upper", Builder::upper),
        ("learning_rate", Builder::learning_rate),
        ("gradient_clip", Builder::gradient_clip),
        ("ridge", Builder::ridge),
        ("shrinkage", Builder::shrinkage),
    ];
    let names = Algorithm::NAMES.map(|name| (name, name));
    let name = section.required_choice("name", &names);
    let mut builder = Central::builder();
    let places = name.as_ref().is_some_and(|name| name.value == "trees");
    // Of other algorithms it is a number: whoever writes one is told what it is here.
    if places && section.is_text("bins") {
        if let Some(places) = section.choice("bins", &Places::NAMES) {
            builder = builder.places(places.value);
        }
    } else if places && section.has("bins") {
        section.allow(&["bins"]);
        section.finding_at(
            "bins",
            "bins of \"trees\" can be \"public\" or \"private-quantiles\"; how many a number has stands in the schema",
        );
    }
    for (key, set) in COUNTS.into_iter().filter(|(key, _)| !(places && *key == "bins")) {
        if let Some(count) = whole(section, key).and_then(|count| fits(section, key, count)) {
            builder = set(builder, count);
        }
    }
    for (key, set) in NUMBERS {
        if let Some(number) = section.number(key) {
            builder = set(builder, number.value);
        }
    }
    if let Some(splits) = section.choice("splits", &Splits::NAMES) {
        builder = builder.splits(splits.value);
    }
    if let Some(planes) = section.choice("planes", &Planes::NAMES) {
        builder = builder.planes(planes.value);
    }
    if let Some(clip) = section.choice("clip", &Clip::NAMES) {
        builder = builder.clip(clip.value);
    }
    if let Some(normaliser) = section.choice("normaliser", &Normaliser::NAMES) {
        builder = builder.normaliser(normaliser.value);
    }
    if let Some(coefficient) = section.choice("coefficient", &Coefficient::NAMES) {
        builder = builder.coefficient(coefficient.value);
    }
    if let Some(encoding) = section.choice("encoding", &Encoding::NAMES) {
        builder = builder.encoding(encoding.value);
    }
    if let Some(calibrate) = section.flag("calibrate") {
        builder = builder.calibrate(calibrate.value);
    }
    if let Some(balance) = section.flag("balance") {
        builder = builder.balance(balance.value);
    }
    Some(builder.algorithm(name?.value))
}

/// What may be spent, on how many rows, and who is protected.
struct Budget {
    epsilon: Option<Epsilon>,
    /// Nothing where it is wrong; inside, nothing where it is not given.
    delta: Option<Option<Delta>>,
    rows: Option<u64>,
    relation: Option<Relation>,
}

fn budget(privacy: &Section<'_>, schema: Option<&Schema>) -> Budget {
    let epsilon = privacy.required_number("epsilon", "0.5").and_then(|found| {
        let epsilon = Epsilon::new(found.value).ok().filter(|epsilon| *epsilon > Epsilon::ZERO);
        if epsilon.is_none() {
            let why = format!(
                "epsilon = {} cannot be spent: write a number above zero with at most nine decimals, such as epsilon = 0.5",
                found.value
            );
            privacy.finding_at("epsilon", why);
        }
        epsilon
    });
    let delta = match privacy.has("delta") {
        false => Some(None),
        true => privacy.number("delta").and_then(|found| {
            let delta = Delta::new(found.value).ok();
            let delta = delta.filter(|delta| *delta > Delta::ZERO && delta.to_f64() < 0.01);
            if delta.is_none() {
                let why = format!(
                    "delta = {} is no small chance: write a number far below one over the number of people, such as delta = 1e-6, or \
                     leave it out",
                    found.value
                );
                privacy.finding_at("delta", why);
            }
            delta.map(Some)
        }),
    };
    let rows = match privacy.has("rows_about") {
        true => whole(privacy, "rows_about").and_then(|rows| fits(privacy, "rows_about", rows)),
        false => {
            privacy.finding(
                "rows_about is missing: say about how many rows the table has, by public knowledge, such as rows_about = 30000. It is \
                 never counted, since the number of rows can tell about a person; it decides about sizes, not about noise",
            );
            None
        }
    };
    let change = privacy.choice("change", &[("add-remove", false), ("replace", true)]);
    let relation = schema.map(Schema::relation).map(|declared| {
        let (rows, unit) = (declared.rows(), declared.unit().map(str::to_owned));
        match change.map(|change| change.value) {
            None => declared,
            Some(false) => Relation::AddRemove { rows, unit },
            Some(true) => Relation::Replace { rows, unit },
        }
    });
    Budget {
        epsilon,
        delta,
        rows,
        relation,
    }
}
