//! What OpBoost's section 7.2 and our own trials say about the parameters of a job (`docs/papers.md`).

use privet::data::Schema;
use privet::data::schema::Kind;
use privet::privacy::mechanism::ordered::Loss;
use privet::setting::vertical::{Budget, Desensitisation, Mechanism};

use crate::job::{FeatureHolderJob, VerticalJob};

/// What could be better, in whole sentences.
pub(super) fn advice(parties: &VerticalJob) -> Vec<String> {
    let desensitisation = parties.vertical.desensitisation();
    let all = &parties.feature_holders;
    let mut lines = Vec::new();
    lines.extend(mechanism(desensitisation));
    lines.extend(bins(desensitisation, all));
    lines.extend(budget(desensitisation));
    let uncut = |schema: &Schema| {
        let uncut =
            |kind: &Kind| matches!(kind, Kind::Number(n) if !n.has_declared_cuts() && n.cuts().bins() > 2);
        schema.features().any(|column| uncut(&column.kind))
    };
    if all.iter().any(|holder| uncut(holder.plan.columns().schema())) {
        lines.push(
            "Where quantiles of a number are publicly known, declare them (cuts = [...]): bins with equally many people give better models at \
             the same ε. A bin is then a share of the people, not an interval of equal width, and ε counts in such bins."
                .into(),
        );
    }
    for FeatureHolderJob { name, plan, .. } in all {
        if plan.columns().distance().to_f64() > 10.0 {
            lines.push(format!(
                "A row of {name} as a whole is hardly protected: two rows that differ everywhere can be told apart. Only rows with near values are protected. \
                 If that is not enough, lower epsilon or release fewer columns."
            ));
        }
    }
    lines
}

fn mechanism(desensitisation: &Desensitisation) -> Vec<String> {
    let epsilon = desensitisation.epsilon().to_f64();
    match desensitisation.mechanism() {
        Mechanism::ClampedGeometric => Vec::new(),
        Mechanism::GlobalMap(_) => vec![
            "mechanism = \"clamped-geometric\" keeps more of the order than \"global-map\" at the same ε: the paper's map spends about \
             half of what it declares."
                .into(),
        ],
        Mechanism::LocalMap { .. } | Mechanism::PathGeometric { across: None, .. } => vec![
            "The part of the domain that a value lies in is revealed: choose this mechanism only if parts are not secret. \
             mechanism = \"path-geometric\" with across = 4 gives about as good models and hides the parts a little."
                .into(),
        ],
        Mechanism::AdjustedMap {
            alpha_thousandths, ..
        } => {
            let alpha = f64::from(*alpha_thousandths) / 1000.0;
            let mut lines = vec![
                "mechanism = \"adjusted-map\" reveals more between parts than its ε says: the true values are printed above. \
                 \"path-geometric\" lets you declare both."
                    .to_owned(),
            ];
            if alpha < 1.0 && epsilon <= 2.56 {
                lines.push(format!(
                    "alpha = {alpha} helps only where epsilon is above 2.56: write a number above 1, such as alpha = 2"
                ));
            }
            if alpha > 10.0 {
                lines.push(format!("alpha = {alpha} is no better than alpha = 10."));
            }
            lines
        }
        Mechanism::PathGeometric { .. } => Vec::new(),
        Mechanism::Piecewise { .. } => vec![
            "mechanism = \"piecewise\" hides far values as well as near ones and keeps little order: it is for comparison. \
             \"clamped-geometric\" gives far better models at the same ε per bin."
                .into(),
        ],
    }
}

/// 10 to 20 bins; 3 where the noise is too large for more.
fn bins(desensitisation: &Desensitisation, all: &[FeatureHolderJob]) -> Vec<String> {
    let mut few = Vec::new();
    for FeatureHolderJob { name, plan, .. } in all {
        let plan = plan.columns();
        for (column, distance) in plan.schema().features().zip(plan.distances()) {
            let slots = match &column.kind {
                Kind::Number(number) => number.cuts().bins(),
                _ => continue,
            };
            let little = matches!(distance.whole, Loss::Bounded(e) if e.to_f64() < 1.0);
            if little && slots > 3 {
                few.push(format!("'{}' of {name}", column.name));
            }
        }
    }
    let mut lines = Vec::new();
    if !few.is_empty() {
        lines.push(format!(
            "So little is revealed about {} (less than 1 over the whole domain) that {} keeps more than {} bins do: write bins = 3, or raise \
             epsilon.",
            few.join(", "),
            3,
            desensitisation.bins()
        ));
    } else if !(10..=20).contains(desensitisation.bins()) {
        lines.push(format!(
            "bins = {}: 10 to 20 are best as a rule. ε counts per bin, so that fewer bins reveal less at the same ε.",
            desensitisation.bins()
        ));
    }
    lines
}

fn budget(desensitisation: &Desensitisation) -> Vec<String> {
    match desensitisation.budget() {
        Budget::Split => Vec::new(),
        Budget::Full => vec![
            "budget = \"full\" gives every column the whole ε: the total of a row is ε times the number of columns. \"split\" divides ε over the columns."
                .into(),
        ],
        Budget::Sample(columns) => vec![format!(
            "budget = \"sample\" releases {columns} randomly chosen columns: in our trials splitting ε over all of them was better."
        )],
    }
}
