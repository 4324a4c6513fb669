//! `[algorithm]` and `[privacy]` of `setting = "central"`.

use privet::Error;
use privet::data::{Schema, Section};
use privet::parameters::{finding, key, positive, whole};
use privet::privacy::{Delta, Epsilon, Relation};
use privet::setting::central::{self, Plan};

/// The plan, or nothing if something was found to be wrong with it.
pub(super) fn read(
    algorithm: &Section<'_>,
    privacy: Option<&Section<'_>>,
    schema: Option<&Schema>,
) -> Option<Plan> {
    let own = central::read(algorithm);
    let privacy = privacy?;
    let (epsilon, delta, rows) = (epsilon(privacy), delta(privacy), rows(privacy));
    let relation = relation(privacy, schema);
    let (epsilon, delta, rows, own) = (epsilon?, delta?, rows?, own?);
    let plan = || -> Result<Option<Plan>, Error> {
        let spent = central::Budget::with_delta(epsilon, delta, rows)?;
        let whole = schema.zip(relation.as_ref());
        whole
            .map(|(schema, relation)| own.plan(schema, relation, spent))
            .transpose()
    };
    plan()
        .inspect_err(|e| {
            let of_budget = key(e).is_some_and(|key| central::Budget::KEYS.contains(&key));
            finding(if of_budget { privacy } else { algorithm }, e);
        })
        .ok()?
}

/// Finds what is wrong with `[privacy]` where there is nothing to plan.
pub(super) fn check(privacy: &Section<'_>, schema: Option<&Schema>) {
    let _ = (
        epsilon(privacy),
        delta(privacy),
        rows(privacy),
        relation(privacy, schema),
    );
}

pub(super) fn epsilon(privacy: &Section<'_>) -> Option<Epsilon> {
    privacy.required_number("epsilon", "0.5")?;
    positive(privacy, "epsilon", "0.5")
}

/// Zero where none is given.
pub(super) fn delta(privacy: &Section<'_>) -> Option<Delta> {
    if !privacy.has("delta") {
        return Some(Delta::ZERO);
    }
    let found = privacy.number("delta")?.value;
    let delta = Delta::new(found).ok();
    let delta = delta.filter(|delta| *delta > Delta::ZERO && delta.to_f64() < 0.01);
    if delta.is_none() {
        let why = format!(
            "delta = {found} is too large: write a number far below one over the number of people, such as delta = 1e-6, or \
             remove it"
        );
        privacy.finding_at("delta", why);
    }
    delta
}

fn rows(privacy: &Section<'_>) -> Option<u64> {
    if privacy.has("rows_about") {
        return whole(privacy, "rows_about");
    }
    privacy.finding(
        "rows_about is missing: write about how many rows the table has, by public knowledge, such as rows_about = 30000. It is \
         never counted, since the number of rows can tell about a person; it decides about sizes, not about noise",
    );
    None
}

/// Who is protected.
pub(super) fn relation(privacy: &Section<'_>, schema: Option<&Schema>) -> Option<Relation> {
    let change = privacy.choice("change", &[("add-remove", false), ("replace", true)]);
    let declared = schema?.relation();
    let (rows, unit) = (declared.rows(), declared.unit().map(str::to_owned));
    Some(match change.map(|change| change.value) {
        None => declared,
        Some(false) => Relation::AddRemove { rows, unit },
        Some(true) => Relation::Replace { rows, unit },
    })
}
