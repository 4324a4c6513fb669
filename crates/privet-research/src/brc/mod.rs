//! BRC's figures, and what is better at the same ε.
//!
//! The data sets are prepared as the paper's authors seem to have done it: a balanced subset, a tenth of it for testing,
//! categories by their place in the alphabet. What they call a random subset matches their figures only as the head of the
//! file, which tells the label on files that are sorted: that is `figure 2-head`, and flatters every method.
//!
//! | item | what |
//! | --- | --- |
//! | figure 1 | the toy line |
//! | figure 2, 3 | some columns private, all private; `-head` as the paper's baselines have it |
//! | figure 4 | other algorithms, rounds, few rows |
//! | figure 8 | section 8's question: a private label beside public columns |
//! | table 1, 2 | all of ours, some columns private, all private |
//! | table 3 | data sets that the rule of `auto` was fixed on |

mod flips;
mod four;
mod pate;
mod run;
mod toy;

use super::records::{ClassBalance, ColumnCoding, PrivateColumns, RowChoice};
use super::{Data, Experiment, compared};
use privet_node::progress::Progress;
use run::{BrcMethod, Preparation, run};

/// The ε of the paper's figures.
const FIGURES: &[f64] = &[0.01, 0.02, 0.04, 0.08, 0.16];
/// The ε at which our own are compared.
const TABLES: &[f64] = &[0.01, 0.04, 0.16, 1.0, 4.0];
/// The ε at which the rule of `auto` was fixed.
const RULE: &[f64] = &[0.01, 0.04, 0.16, 1.0];
/// The ε of figure 4 d.
const SMALL: &[f64] = &[0.5, 1.0, 2.0, 4.0, 8.0];

/// The paper's data sets and their public columns.
const SETS: [(&str, &[&str]); 4] = [
    ("adult", &["workclass", "fnlwgt", "race", "sex", "native-country"]),
    ("credit-default", &["LIMIT_BAL", "SEX"]),
    ("sepsis", &["sex_0male_1female", "episode_number"]),
    ("bank", &["campaign", "pdays", "poutcome"]),
];

/// Data sets that the rule of `auto` was fixed on, the label's threshold where it is a number, and public columns.
const RULE_SETS: [(&str, Option<f64>, &[&str]); 5] = [
    ("casp", Some(7.0), &["F1", "F2", "F3"]),
    ("covtype", None, &["Elevation", "Aspect", "Slope"]),
    ("gss", None, &["year", "sex", "race"]),
    (
        "kc-house",
        Some(450_000.0),
        &["zipcode", "lat", "long", "yr_built"],
    ),
    ("pendigits", Some(5.0), &["x1", "y1", "x2", "y2"]),
];

/// What is trained, in which coding, at which ε: none for what spends none.
type Methods = Vec<(ColumnCoding, BrcMethod, &'static [f64])>;

pub(super) fn experiments() -> Vec<Experiment> {
    use PrivateColumns::{AllBut, Everything, LabelAndAllBut};
    let all = RowChoice::BALANCED;
    let head = RowChoice {
        balance: ClassBalance::Head,
        ..all
    };
    let small = RowChoice {
        first: Some(500),
        ..all
    };
    let most = RowChoice {
        most: Some(25_000),
        ..all
    };
    let mut found = toy::experiments();
    let own = |item, (dataset, least), runs, secret, pick, methods| {
        compare((item, dataset, runs), least, (secret, pick), methods)
    };
    for (dataset, public) in SETS {
        let on = (dataset, None);
        found.extend([
            own("figure 2", on, 20, AllBut(public), all, published()),
            own("figure 3", on, 20, Everything, all, published()),
            own("figure 2-head", on, 20, AllBut(public), head, published()),
            own("figure 3-head", on, 20, Everything, head, published()),
            own("table 1", on, 20, AllBut(public), all, ours(TABLES)),
            own("table 2", on, 20, Everything, all, ours(TABLES)),
        ]);
    }
    let (on, public) = ((SETS[0].0, None), AllBut(SETS[0].1));
    found.push(own("figure 4d", on, 100, public, small, few()));
    found.push(own("figure 4a", on, 10, public, all, people()));
    found.extend(four::experiments());
    for (dataset, public) in [SETS[0], SETS[3]] {
        let (on, secret) = ((dataset, None), LabelAndAllBut(public));
        found.push(own("figure 8", on, 20, secret, all, private_label()));
    }
    for (dataset, least, public) in RULE_SETS {
        let on = (dataset, least);
        found.push(own("table 3", on, 10, AllBut(public), most, ours(RULE)));
        found.push(own("table 4", on, 10, Everything, most, ours(RULE)));
    }
    found
}

/// The same in one coding.
fn coded(coding: ColumnCoding, methods: &[(BrcMethod, &'static [f64])]) -> Methods {
    methods.iter().map(|&(method, at)| (coding, method, at)).collect()
}

/// What needs no ε, beside which everything stands.
const FREE: [(BrcMethod, &[f64]); 3] = [
    (BrcMethod::Plain("logistic"), &[]),
    (BrcMethod::Central("public"), &[]),
    (BrcMethod::Plain("constant"), &[]),
];

/// The paper's algorithm beside its baselines.
fn published() -> Methods {
    let own = ["brc", "dp-logistic"].map(|name| (BrcMethod::Central(name), FIGURES));
    let all = [&FREE[..], &[(BrcMethod::Paper, FIGURES)], &own].concat();
    coded(ColumnCoding::Alphabet, &all)
}

/// All algorithms, beside the same baselines.
fn ours(at: &'static [f64]) -> Methods {
    let central = |name| (BrcMethod::Central(name), at);
    let alphabet = ["brc", "select", "moment-select"].map(central);
    let declared = [
        "select",
        "moment-select",
        "histogram-bayes",
        "objective",
        "trees",
        "auto",
    ]
    .map(central);
    [
        coded(ColumnCoding::Declared, &FREE),
        coded(ColumnCoding::Alphabet, &alphabet),
        coded(ColumnCoding::Declared, &declared),
    ]
    .concat()
}

/// Figure 4 a: boosting with classifiers that are paid for.
fn people() -> Methods {
    let own = [
        (BrcMethod::Paper, FIGURES),
        (BrcMethod::Central("people"), FIGURES),
    ];
    coded(ColumnCoding::Alphabet, &[&FREE[..], &own].concat())
}

/// Section 8: public columns beside a private label, whose classifier must be paid for.
fn private_label() -> Methods {
    let own = [
        BrcMethod::Paper,
        BrcMethod::Central("brc"),
        BrcMethod::PaidPublic,
        BrcMethod::Central("select"),
    ];
    let own = own.map(|method| (method, RULE));
    let mut all = coded(ColumnCoding::Alphabet, &[&[FREE[0], FREE[2]][..], &own].concat());
    all.push((
        ColumnCoding::Declared,
        BrcMethod::Central("histogram-bayes"),
        RULE,
    ));
    all
}

/// Figure 4 d: the first 500 rows.
fn few() -> Methods {
    let central = |name| (BrcMethod::Central(name), SMALL);
    let alphabet = ["select", "moment-select", "dp-logistic"].map(central);
    let alphabet = [&FREE[..], &[(BrcMethod::Paper, SMALL)], &alphabet].concat();
    let declared = ["histogram-bayes", "objective", "auto"].map(central);
    [
        coded(ColumnCoding::Alphabet, &alphabet),
        coded(ColumnCoding::Declared, &declared),
    ]
    .concat()
}

/// Numbers of which the label is whether it is at least `least`, if that is given.
fn compare(
    (item, dataset, runs): (&'static str, &'static str, u32),
    least: Option<f64>,
    (secret, pick): (PrivateColumns, RowChoice),
    methods: Methods,
) -> Experiment {
    let measure = move |data: &Data, runs: u32, bar: &Progress| {
        let records = data.records(dataset)?;
        let records = &match least {
            Some(least) => records.at_least(least)?,
            None => records,
        };
        let methods = methods.iter().filter(|(_, method, _)| {
            // Without public columns and labels there is nothing to learn from for free.
            *method != BrcMethod::Central("public") || secret != PrivateColumns::Everything
        });
        let methods: Vec<_> = methods
            .map(|&(coding, method, at)| {
                let preparation = Preparation {
                    records,
                    coding,
                    secret,
                    pick,
                };
                (method.name(coding), (preparation, method), at)
            })
            .collect();
        compared(
            &methods,
            &["accuracy"],
            (runs, bar),
            |(preparation, method), epsilon, number| run(preparation, *method, epsilon, number),
        )
    };
    Experiment::new(("brc", item, dataset), runs, measure)
}
