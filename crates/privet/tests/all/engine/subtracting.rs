//! Histograms by subtraction.

use std::sync::Mutex;

use privet::learner::tree::{Child, Engine, Greedy, Growth, Lane, Level, Matrix, Policy, Split};

use crate::engine::growing::{lanes, plan};
use crate::engine::table::{Labels, MIXED, random};

/// A policy that writes down what it is shown.
struct Witness(Greedy, Mutex<Vec<Vec<Vec<[f64; 2]>>>>);

impl Policy for Witness {
    fn choose(&self, level: &Level<'_>) -> Vec<Option<Split>> {
        let shown = |node: usize| {
            level
                .features()
                .flat_map(|f| level.histogram(node, f).to_vec())
                .collect()
        };
        self.1
            .lock()
            .unwrap()
            .push((0..level.nodes.len()).map(shown).collect());
        self.0.choose(level)
    }

    fn leaf(&self, sums: [f64; 2], bounds: [f64; 2]) -> f64 {
        self.0.leaf(sums, bounds)
    }
}

#[test]
fn what_is_left_by_subtraction_is_exactly_what_is_summed_directly() {
    let (schema, cells) = random(&MIXED, Labels::Classes(2), 5000, 11);
    let matrix = Matrix::new(&cells, &schema).unwrap();
    let lanes = lanes(cells.rows(), 12);
    let witness = Witness(
        Greedy {
            lambda: 1.0,
            ..Greedy::default()
        },
        Mutex::default(),
    );
    let tree = Engine::new(&matrix).grow(&plan(&lanes, &[true; 6], Growth::Levels(5)), &witness);
    let levels = witness.1.into_inner().unwrap();
    assert_eq!(levels.len(), 5);
    let direct = |rows: &[usize]| -> Vec<[f64; 2]> {
        let mut all = Vec::new();
        for (feature, column) in matrix.columns().iter().enumerate() {
            let mut sums = vec![[0.0; 2]; column.slots];
            for &row in rows {
                let [g, h] = lanes[row].pair();
                let sum = &mut sums[usize::from(cells.features()[feature].bins.get(row))];
                *sum = [sum[0] + g, sum[1] + h];
            }
            all.extend(sums);
        }
        all
    };
    let mut open = vec![(Child::Node(0), (0..cells.rows()).collect::<Vec<usize>>())];
    let mut compared = 0;
    for shown in levels {
        assert_eq!(shown.len(), open.len());
        let mut next = Vec::new();
        for (shown, (child, rows)) in shown.iter().zip(&open) {
            assert_eq!(shown, &direct(rows));
            compared += 1;
            if let Child::Node(node) = child {
                let node = &tree.nodes[*node as usize];
                let column = &matrix.columns()[node.feature as usize];
                let bins = &cells.features()[node.feature as usize].bins;
                let (left, right) = rows
                    .iter()
                    .partition(|&&row| node.rule.goes_left(bins.get(row), column));
                next.extend([(node.left, left), (node.right, right)]);
            }
        }
        open = next;
    }
    assert!(compared > 20);
}
