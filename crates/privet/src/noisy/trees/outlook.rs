//! What a plan says where noise is so strong that hardly anything can be learnt.

use super::coding::{Coding, Noise};
use super::plan::{Facts, Plan};

/// Below this strength models of small tables (70 to 2300 rows, ε of 0.5 and 2, with δ and without) were as good as a constant within a tenth, or
/// far worse; above it most were better.
const WEAK: f64 = 10.0;

impl Plan {
    /// That the model will hardly be better than a constant, and what would help; from ε, rows and columns alone.
    pub(super) fn outlook(&self, facts: &Facts<'_>) -> Option<String> {
        if self.strength >= WEAK {
            return None;
        }
        let times = (WEAK / self.strength.max(0.01)).ceil().max(2.0);
        let mut help = vec![
            format!("{times:.0} times as many rows, or as large an ε"),
            "fewer columns".to_owned(),
        ];
        if self.noise == Noise::Laplace {
            help.push("a delta".to_owned());
        }
        if let Coding::Residual(_) = self.coding {
            help.push("tighter bounds of the label".to_owned());
        }
        Some(format!(
            "With {} rows and {} columns at this ε, noise outweighs what the rows tell: the model will hardly be better than a constant, and may be \
             worse. What would help: {}.",
            facts.rows,
            facts.features,
            help.join("; ")
        ))
    }
}
