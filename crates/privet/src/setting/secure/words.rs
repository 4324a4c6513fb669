//! What a reader of the model should know, in words.

use super::{Classifier, CoefficientRule, CutPlaces, Plan};

impl Plan {
    /// What should be known before a run: what is not protected, and what is assumed.
    pub fn cautions(&self) -> Vec<String> {
        let secure = self.secure();
        let mut all = vec![
            "There is no noise and no ε: whether one person's row was used may follow from the model or from what the parties show each other"
                .to_owned(),
        ];
        if self.outputs() > 1 {
            all.push(format!(
                "Each of the {0} classes is told from all others in rounds of its own, in the order of the schema: there are up to {0} times {1} rounds, and everything that a \
                 round shows is shown {0} times as often as with two classes",
                self.outputs(),
                secure.rounds
            ));
        }
        if secure.thresholds == CutPlaces::Data {
            all.push(
                "Each threshold lies halfway between two numbers of somebody's rows: write thresholds = \"grid\" to show none".to_owned(),
            );
        }
        if self.parties() > 2 {
            all.push(
                "Lemma 1 of the paper does not hold for three parties or more: a majority may be wrong about more weight than it is right about. Its coefficient \
                 is negative then"
                    .to_owned(),
            );
            let together = match secure.colluding {
                1 => "One party alone, also the initiator, which relays, learns".to_owned(),
                several => {
                    format!("Up to {several} parties together, the initiator among them or not, learn")
                }
            };
            all.push(format!(
                "{together} no single other party's weights; more together may"
            ));
            all.push(
                "The initiator hears the others' stumps before it tells its own: one that does not follow the protocol can choose which classifier the sums are about"
                    .to_owned(),
            );
        } else if secure.coefficient == CoefficientRule::Exact {
            let what = match secure.classifier {
                Classifier::Merged => "right, wrong and silent",
                Classifier::Joint => "right and wrong",
            };
            all.push(format!(
                "The other party learns the weights of {what} rows, which a reader of the model sees as a ratio only; in the first round they count \
                 rows of each class: write coefficient = \"rounded\" or \"constant\" to show less"
            ));
        }
        if secure.depth > 1 {
            all.push(
                "Trees are grown greedily and need not be the best there are, so that lemma 1 of the paper does not hold: coefficients may be negative".to_owned(),
            );
        }
        all.push(
            "All parties follow the protocol: one that does not can learn more, and can spoil the model"
                .to_owned(),
        );
        all
    }
}
