//! Record and replay of draws about portions of the units: an honest run passes, and a unit that is in two portions, a smaller claim and a
//! coin that looks at the unit are caught.

use std::num::NonZeroU32;

use privet::Error;
use privet::privacy::account::Price;
use privet::privacy::mechanism::Laplace;
use privet::privacy::{AddRemove, Anchor, Epsilon, Ledger, Norm, Portions, Private, Query, Sensitivity};
use privet_testkit::replay::{Finding, search, transcripts};

type Rows = Vec<i64>;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Bug {
    None,
    /// Later rounds use the units of earlier ones, too.
    TwoRounds,
    /// The judging units are all units.
    AllJudge,
    /// The sensitivity is claimed at nine tenths of the truth.
    Claim,
    /// Halved by place: the round of a row follows from how many rows there are.
    ByPlace,
}

const MOST: i64 = 10;

/// Three rounds, each a sum over the rows of its portion; then the sum over those that judge.
fn rounds(rows: &Rows, ledger: &mut Ledger<AddRemove>, bug: Bug) -> Result<Vec<u8>, Error> {
    let portions = Portions {
        rounds: NonZeroU32::new(3).unwrap_or(NonZeroU32::MIN),
        judges: true,
    };
    let epsilon = Epsilon::from_billionths(500_000_000);
    let paid = ledger.allow_portions_also_added("rounds", Price::Pure(epsilon), 4, portions)?;
    let bound = if bug == Bug::Claim {
        MOST as u64 * 9 / 10
    } else {
        MOST as u64
    };
    let mechanism = Laplace::calibrated(epsilon, bound)?;
    let table = Private::new(rows.clone());
    let mut output = Vec::new();
    for portion in 0..4 {
        let is_in = |row: usize, all: usize| {
            let own = paid.portion(row as u64);
            match (bug, portion) {
                (Bug::TwoRounds, 1..=2) => own <= portion,
                (Bug::AllJudge, 3) => true,
                (Bug::ByPlace, 0) => row < all / 2,
                (Bug::ByPlace, 1) => row >= all / 2 && row < all / 2 + all.div_ceil(4),
                (Bug::ByPlace, 2) => row >= all / 2 + all.div_ceil(4),
                (Bug::ByPlace, _) => false,
                _ => own == portion,
            }
        };
        let anchor = Anchor::new("horizontal#portions");
        let claim = Sensitivity::claim(&AddRemove::row(), Norm::L1(bound), anchor)?.also_added();
        let query = Query::new(1, claim, || {
            table.as_ref().map(|rows| {
                let own = rows.iter().enumerate().filter(|(row, _)| is_in(*row, rows.len()));
                vec![own.map(|(_, value)| value).sum()]
            })
        });
        let label = format!("sum {portion}");
        let released = ledger.draw_of_portion(&paid, (portion, &label), &mechanism, query)?;
        output.extend(released.value()[0].to_le_bytes());
    }
    Ok(output)
}

/// A row comes at the end, with the largest value, of tables of many lengths: it is in every portion for some of them.
fn pairs() -> Vec<[Rows; 2]> {
    (8..40)
        .map(|length| {
            let rows: Rows = (0..length).map(|row| row % 3 + 1).collect();
            let mut more = rows.clone();
            more.push(MOST);
            [rows, more]
        })
        .collect()
}

#[test]
fn a_unit_in_two_portions_is_caught_and_one_in_each_is_not() {
    let found = |bug: Bug| {
        search(&AddRemove::row(), &pairs(), &transcripts(20), |rows, ledger| {
            rounds(rows, ledger, bug)
        })
    };
    let honest = found(Bug::None).expect("each unit is in one portion");
    assert!(
        (honest.attained - 1.0).abs() < 1e-9,
        "the claim is attained: {honest:?}"
    );
    for bug in [Bug::TwoRounds, Bug::AllJudge, Bug::Claim, Bug::ByPlace] {
        let finding = found(bug);
        assert!(
            matches!(finding, Err((_, Finding::Distance(_)))),
            "{bug:?}: {finding:?}"
        );
    }
}
