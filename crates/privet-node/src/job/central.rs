//! `[algorithm]` and `[privacy]` of `setting = "central"`.

use privet::Error;
use privet::data::{Schema, Section};
use privet::parameters::{finding, key, whole};
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
    let budget = budget(privacy, schema);
    let (epsilon, delta, rows) = (budget.epsilon?, budget.delta?, budget.rows?);
    let own = own?;
    let plan = || -> Result<Option<Plan>, Error> {
        let spent = central::Budget::with_delta(epsilon, delta.unwrap_or(Delta::ZERO), rows)?;
        let whole = schema.zip(budget.relation.as_ref());
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
        true => whole(privacy, "rows_about"),
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
