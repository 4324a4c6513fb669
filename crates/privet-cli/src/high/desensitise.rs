//! What `privet desensitise` needs: parameters that make sense.

use std::path::PathBuf;

use privet::privacy::Epsilon;
use privet::privacy::mechanism::ordered::{Alignment, Route};
use privet::setting::vertical::{Budget, Categories, Desensitisation, Mechanism};

use privet_node::ledger::beside;
use privet_node::verb::{Desensitise, Failure, LedgerFile};

use crate::low::{self, BudgetName, CategoriesName, MechanismName, Patience};

pub(super) fn desensitise_of(
    low: low::Desensitise,
    place: &dyn Fn(Option<PathBuf>, &Patience) -> LedgerFile,
) -> Result<Desensitise, Failure> {
    let desensitisation = Desensitisation::builder()
        .epsilon(low.epsilon.parse()?)
        .mechanism(mechanism(&low)?)
        .categories(match low.categories {
            CategoriesName::Response => Categories::Response,
            CategoriesName::SymmetricUnary => Categories::SymmetricUnary,
            CategoriesName::OptimisedUnary => Categories::OptimisedUnary,
        })
        .budget(budget(&low)?)
        .bins(low.bins)
        .build()?;
    let label_epsilon = low
        .label_epsilon
        .as_deref()
        .map(str::parse::<Epsilon>)
        .transpose()?;
    if label_epsilon == Some(Epsilon::ZERO) {
        return Err(Failure::usage("--label-epsilon must be above zero"));
    }
    let kept = low.kept.unwrap_or_else(|| beside(&low.file, ".columns"));
    Ok(Desensitise {
        file: low.file,
        schema: low.schema,
        out: low.out,
        kept,
        desensitisation,
        label_epsilon,
        ledger: place(low.ledger.ledger, &low.patience),
    })
}

fn budget(low: &low::Desensitise) -> Result<Budget, Failure> {
    match (low.budget, low.columns) {
        (BudgetName::Split, None) => Ok(Budget::Split),
        (BudgetName::Full, None) => Ok(Budget::Full),
        (BudgetName::Sample, Some(columns)) => Ok(Budget::Sample(columns)),
        (BudgetName::Sample, None) => Err(Failure::usage(
            "--budget sample needs the number of columns to release: add --columns 3",
        )),
        (_, Some(_)) => Err(Failure::usage(
            "--columns belongs to --budget sample: remove it, or add --budget sample",
        )),
    }
}

fn mechanism(low: &low::Desensitise) -> Result<Mechanism, Failure> {
    use MechanismName as Name;
    let (name, takes): (_, &[&str]) = match low.mechanism {
        Name::ClampedGeometric => ("clamped-geometric", &[]),
        Name::PathGeometric => ("path-geometric", &["--width", "--across"]),
        Name::GlobalMap => ("global-map", &[]),
        Name::AdjustedMap => ("adjusted-map", &["--width", "--alpha"]),
        Name::LocalMap => ("local-map", &["--width"]),
        Name::Piecewise => ("piecewise", &["--unclipped"]),
    };
    let given = [
        ("--width", low.width.is_some()),
        ("--across", low.across.is_some()),
        ("--alpha", low.alpha.is_some()),
        ("--unclipped", low.unclipped),
    ];
    if let Some((flag, _)) = given.iter().find(|(flag, given)| *given && !takes.contains(flag)) {
        return Err(Failure::usage(format!(
            "{flag} does not belong to {name}: remove it"
        )));
    }
    let width = || {
        low.width
            .ok_or_else(|| Failure::usage(format!("{name} needs the number of bins per part: add --width 4")))
    };
    let blocks = Alignment::FirstSlot;
    Ok(match low.mechanism {
        Name::ClampedGeometric => Mechanism::ClampedGeometric,
        Name::GlobalMap => Mechanism::GlobalMap(Route::default()),
        Name::PathGeometric => Mechanism::PathGeometric {
            width: width()?,
            across: low.across.as_deref().map(str::parse).transpose()?,
        },
        Name::AdjustedMap => {
            let alpha = low.alpha.ok_or_else(|| {
                Failure::usage("adjusted-map needs the factor of ε between parts: add --alpha 2")
            })?;
            let thousandths = (alpha * 1000.0).round();
            if !(1.0..=1e6).contains(&thousandths) || (thousandths - alpha * 1000.0).abs() > 1e-6 {
                return Err(Failure::usage(format!(
                    "--alpha {alpha} is invalid: write a number from 0.001 to 1000 with at most three decimals"
                )));
            }
            Mechanism::AdjustedMap {
                width: width()?,
                alpha_thousandths: thousandths as u32,
                blocks,
            }
        }
        Name::LocalMap => Mechanism::LocalMap {
            width: width()?,
            blocks,
        },
        Name::Piecewise => Mechanism::Piecewise {
            clipped: !low.unclipped,
        },
    })
}
