//! Rows, labels and records on which the answers of trees move as far as they are claimed to.

use crate::central::curator::{Builder, Central};
use privet::data::schema::Domain;

use crate::central::tables::{Lines, Open, Row, built, start};
use crate::central::trees::delta;
use crate::central::window::Script;

/// Trees of one run.
pub(crate) const TREES: usize = 3;
/// A sum that makes a leaf's value as large as it gets: 20 with a learning rate of 10, where even odds are 0.
const FAR: i64 = 9_000_000;

/// What is to be learnt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Task {
    TwoClasses,
    ThreeClasses,
    Number,
}

impl Task {
    pub(crate) const ALL: [Self; 3] = [Self::TwoClasses, Self::ThreeClasses, Self::Number];

    pub(crate) fn label(self) -> Domain {
        match self {
            Self::TwoClasses => Domain::from(["a", "b"]),
            Self::ThreeClasses => Domain::from(["a", "b", "c"]),
            Self::Number => Domain::from(0.0..=10.0),
        }
    }

    /// The same rows with labels of this task: numbers at both ends of their range.
    pub(crate) fn rows(self, lines: &[Row]) -> Lines {
        let text = |y: &'static str| match (self, y) {
            (Self::Number, "a") => "0",
            (Self::Number, "b") => "10",
            _ => y,
        };
        let each = lines
            .iter()
            .map(|&[p, x, colour, slope, y]| [p, x, colour, slope, text(y)]);
        each.collect()
    }

    /// What earlier releases may have said: nothing, or values that put rows of some leaves, or of all, as far off as can be. What is
    /// counted before the first tree is a hundred everywhere.
    pub(crate) fn records(self) -> Vec<Script> {
        // For each leaf and output a gradient and a hessian.
        let pushes: Vec<Vec<i64>> = match self {
            Self::TwoClasses => vec![
                vec![FAR, 0, 0, 0],
                vec![-FAR, 0, 0, 0],
                vec![0, 0, FAR, 0],
                vec![0, 0, -FAR, 0],
                vec![FAR, 0, -FAR, 0],
                vec![-FAR, 0, FAR, 0],
                vec![FAR, 0],
                vec![-FAR, 0],
            ],
            Self::ThreeClasses => vec![
                vec![FAR, 0, 0, 0, 0, 0],
                vec![FAR, 0, -FAR, 0, FAR, 0, -FAR, 0, FAR, 0, FAR, 0],
                vec![-FAR, 0, FAR, 0, FAR, 0, FAR, 0, -FAR, 0, FAR, 0],
            ],
            Self::Number => vec![vec![FAR, 0, -FAR, 0], vec![-FAR, 0, FAR, 0]],
        };
        let nothing = match self {
            // All labels in the middle of their range, in however many bins: residuals are measured from there, in the least of units.
            Self::Number => [8, 16, 32, 64]
                .map(|bins| Script::Each(vec![spike(bins), vec![0]]))
                .to_vec(),
            _ => vec![Script::Says(vec![0])],
        };
        let pushed = pushes.into_iter().map(|push| {
            Script::Each(match self {
                Self::Number => vec![vec![100], vec![100], push],
                _ => vec![push, vec![0]],
            })
        });
        nothing.into_iter().chain(pushed).collect()
    }

    /// Every kind of trees whose claims differ, with both kinds of noise.
    pub(crate) fn trees(self) -> Vec<Central> {
        use privet::setting::central::Splits::Random;
        let trees = || {
            start("trees", "1", 50)
                .trees(TREES as u32)
                .leaves(2)
                .learning_rate(10.0)
        };
        let options: Vec<Builder> = match self {
            Self::TwoClasses => vec![trees(), trees().gradient_clip(1.0), trees().gradient_clip(0.2)],
            Self::ThreeClasses => vec![trees()],
            // Rows count in each leaf where trees do not ask about one feature each.
            Self::Number => vec![trees(), trees().splits(Random).depth(1)],
        };
        let both = options
            .into_iter()
            .flat_map(|option| [option.clone(), option.delta(delta())]);
        both.map(built).collect()
    }
}

/// Counts of labels, all of which lie between two points near the middle.
fn spike(bins: usize) -> Vec<i64> {
    (0..2 * bins - 1)
        .map(|bin| if bin == bins * 45 / 32 { 100 } else { 0 })
        .collect()
}

/// Both ends of every column; and rows at the one end of one column and at the other end of all others, which one tree tells apart and the next
/// does not. All with both labels.
pub(crate) fn ends(open: Open) -> Lines {
    let rows = [
        ["1", "1", "red", "high", "a"],
        ["1", "1", "red", "high", "b"],
        ["-1", "-1", "blue", "low", "a"],
        ["-1", "-1", "blue", "low", "b"],
        ["-1", "-1", "blue", "high", "a"],
        ["-1", "-1", "blue", "high", "b"],
    ];
    let free = open.private().contains(&"p");
    let each = rows.map(|[p, x, colour, slope, y]| [if free { p } else { "1" }, x, colour, slope, y]);
    each.to_vec()
}

/// Others, of whom as many have the second label as a unit has the first: a model of public columns is at even odds about all.
pub(crate) fn undecided(k: u32) -> Lines {
    vec![["1", "0", "green", "middle", "b"]; k as usize]
}
