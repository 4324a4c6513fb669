//! What each party shows the other, item by item, with the most that all rounds together can show.

use super::grid::Merging;
use super::joint::{Shown, shown};
use super::{AttributeChoice, Classifier, CutPlaces, Plan, StartWeights};
use crate::learner::Shape;
use crate::privacy::Anchor;
use crate::privacy::joint::Leak;

/// To whom one of two parties shows something.
const PEER: &str = "the other party";

/// An item that is shown, how often at most, and the bits of one.
#[derive(Debug, Clone)]
pub struct Item {
    /// What is shown, and to whom.
    pub leak: Leak,
    /// How often at most.
    pub most: u64,
    /// How many bits one is at most, if that can be said without looking at rows.
    pub bits: f64,
    /// Whether every reader of the model is shown it, and not only the other parties.
    pub is_in_model: bool,
}

impl Plan {
    /// What each party shows, before the first message. Everything else that it sends can be simulated from this.
    ///
    /// # Privacy
    /// `docs/proofs/secure.md#transcript` and `#model`.
    pub fn items(&self) -> Vec<Item> {
        let (secure, rounds, tries) = (self.secure(), self.all_rounds(), self.all_tries());
        let groups = self.groups() as u64;
        let has_several = self.outputs() > 1;
        if self.parties() > 2 {
            return self.items_of_several(rounds);
        }
        let peer = |what: &'static str, most: u64, bits: f64| Item {
            leak: Leak::new(what, PEER, Anchor::new("secure#transcript")),
            most,
            bits,
            is_in_model: false,
        };
        let mut all = Vec::new();
        match secure.attribute {
            AttributeChoice::Seed | AttributeChoice::All => {}
            AttributeChoice::Rendezvous => {
                let what = "an attribute for which it has a stump better than guessing, or that there is none in common";
                all.push(peer(what, tries, (groups as f64 + 1.0).log2()));
            }
            AttributeChoice::RendezvousByHalves => {
                let what = "whether it has a stump better than guessing for a common attribute in some half of a random order";
                all.push(peer(what, tries.saturating_mul(self.halvings()), 1.0));
            }
        }
        match (secure.classifier, secure.thresholds) {
            (Classifier::Joint, _) => {
                let what = "which stump of the public grid errs least on the rows of both";
                all.push(peer(what, rounds, (self.most_candidates() as f64).log2()));
            }
            (Classifier::Merged, _) if secure.depth > 1 => {
                let what = "its own tree, whose cuts lie on the public grid";
                all.push(peer(what, tries, self.voter_bits()));
            }
            (Classifier::Merged, CutPlaces::Grid) => {
                let what = "its own best stump on the public grid";
                all.push(peer(what, tries, self.voter_bits()));
            }
            (Classifier::Merged, CutPlaces::Data) => {
                let what = "its own best stump, whose threshold lies halfway between two of its numbers";
                all.push(peer(what, tries, self.voter_bits()));
            }
        }
        match shown(self) {
            Shown::Nothing => {}
            Shown::Rates => {
                let what = match has_several {
                    false => {
                        "the weights of its rows that the classifier is right about, wrong about, and silent on; in the first round this shows how many rows it has"
                    }
                    true => {
                        "the weights of its rows that the classifier is right about, wrong about, and silent on; in the first round of each class this shows how many rows it has, and \
                         may show how many of them are of this class"
                    }
                };
                all.push(peer(what, rounds, 3.0 * 50.0));
            }
            Shown::Comparisons => {
                let what = "the coefficient in eighths, if it is rounded, and the power of two of the weights' sum, both of all rows together";
                all.push(peer(what, rounds, 33f64.log2() + 10f64.log2()));
            }
        }
        if secure.start == StartWeights::Rows {
            all.push(peer("how many rows it has", 1, 64.0));
        }
        // An item that cannot be shown is none.
        if self.all_stops() > 0 {
            let what = match has_several {
                false => "whether the model so far is wrong about at most a share of all rows of both",
                true => {
                    "whether the model so far tells one class from all others with at most a share of all rows of both wrong"
                }
            };
            all.push(peer(what, self.all_stops(), 1.0));
        }
        all.push(self.model_item(rounds));
        all
    }

    /// What each of three parties or more shows.
    fn items_of_several(&self, rounds: u64) -> Vec<Item> {
        let peer = |what: &'static str, bits: f64| Item {
            leak: Leak::new(what, "the other parties", Anchor::new("secure#several")),
            most: rounds,
            bits,
            is_in_model: false,
        };
        let what = "the weights of all parties' rows together that the classifier is right about, wrong about, and silent on, to about a millionth; each party can \
                    subtract its own";
        vec![
            peer("its own best stump on the public grid", self.voter_bits()),
            peer(what, 3.0 * 22.0),
            self.model_item(rounds),
        ]
    }

    fn model_item(&self, rounds: u64) -> Item {
        let (what, classifiers) = match (self.secure().depth, self.secure().classifier) {
            (2.., _) => ("the trees and coefficients of the model", 2.0),
            (_, Classifier::Joint) => ("the stumps and coefficients of the model", 1.0),
            (_, Classifier::Merged) => (
                "the stumps and coefficients of the model",
                f64::from(self.parties()),
            ),
        };
        Item {
            leak: Leak::new(what, "whoever sees the model", Anchor::new("secure#model")),
            most: rounds,
            bits: self.voter_bits() * classifiers + 37.0,
            is_in_model: true,
        }
    }

    /// How many bits one party's classifier is at most: the attributes, rules and classes of a stump or of a tree.
    ///
    /// # Paper
    /// MABoost, section 8: the number of bits required to describe a weak classifier.
    pub fn voter_bits(&self) -> f64 {
        let splits = f64::from((1u32 << self.secure().depth) - 1);
        match self.secure().depth {
            1 => self.stump_bits() + 1.0,
            // A question or none in each place, and the class of each leaf.
            _ => splits * (1.0 + self.stump_bits()) + splits + 1.0,
        }
    }

    /// How many bits one question is at most: its attribute and its rule.
    fn stump_bits(&self) -> f64 {
        let choice = match self.secure().attribute {
            AttributeChoice::All => self.attributes(),
            _ => self.secure().group.into(),
        };
        let chosen = (choice.max(1) as f64).log2();
        let rule_bits = |(merging, shape): (&Merging, &Shape)| match self.secure().thresholds {
            CutPlaces::Grid => merging.rule_bits(),
            // A number, and the side of missing cells.
            CutPlaces::Data if shape.number => 64.0 + 1.0,
            // All slots of the schema, not merged.
            CutPlaces::Data => Merging::new(*shape, shape.ordered).rule_bits(),
        };
        let widest = self.merging().iter().zip(self.shapes()).map(rule_bits);
        chosen + widest.fold(1.0, f64::max)
    }

    /// How many bits all rounds together show the other party at most, or each other party.
    ///
    /// # Paper
    /// MABoost, section 8: the number of rounds and the bits of a weak classifier together bound what is communicated.
    pub fn most_bits(&self) -> f64 {
        let to_peer = self
            .items()
            .into_iter()
            .filter(|item| item.leak.anchor().as_str() != "secure#model");
        to_peer.map(|item| item.most as f64 * item.bits).sum()
    }
}
