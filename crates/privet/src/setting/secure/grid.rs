//! The public grid: neighbouring bins of the schema, merged to few.

use crate::Error;
use crate::data::{Bins, Cells, Feature};
use crate::learner::{Shape, StumpRule};

/// How the slots of one feature are merged. Slots beyond the ordered ones stay what they are, and so do categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merging {
    shape: Shape,
    groups: usize,
}

impl Merging {
    pub(super) fn new(shape: Shape, most: usize) -> Self {
        let groups = shape.ordered.min(most);
        Self { shape, groups }
    }

    /// The shape of the merged feature.
    pub(super) fn shape(&self) -> Shape {
        let fewer = self.shape.ordered - self.groups;
        Shape {
            slots: self.shape.slots - fewer,
            ordered: self.groups,
            missing: self.shape.missing - fewer as u16,
            number: self.shape.number,
        }
    }

    fn group(&self, slot: u16) -> u16 {
        let slot = usize::from(slot);
        let ordered = self.shape.ordered;
        // Slots have 16 bits, and so do groups, which are fewer.
        if slot < ordered {
            (slot * self.groups / ordered) as u16
        } else {
            (slot - (ordered - self.groups)) as u16
        }
    }

    /// The last slot of a group.
    fn last(&self, group: u16) -> u16 {
        let next = usize::from(group) + 1;
        ((next * self.shape.ordered).div_ceil(self.groups.max(1)) - 1) as u16
    }

    fn feature(&self, feature: &Feature) -> Feature {
        let slots = feature.bins.iter().map(|slot| self.group(slot));
        let bins = match self.shape().slots <= Bins::NARROW {
            true => Bins::Narrow(slots.map(|slot| slot as u8).collect()),
            false => Bins::Wide(slots.collect()),
        };
        Feature { bins, scaled: None }
    }

    /// A rule about merged slots as one about the schema's.
    pub(super) fn unmerged(&self, rule: StumpRule) -> StumpRule {
        match rule {
            StumpRule::AtMost { slot, besides } if self.groups > 0 => {
                let beyond = (self.shape.ordered - self.groups) as u16;
                StumpRule::AtMost {
                    slot: self.last(slot),
                    besides: besides.into_iter().map(|slot| slot + beyond).collect(),
                }
            }
            other => other,
        }
    }

    /// The last slot of each slot's group: trees are grown on these, so that they cut where groups meet.
    pub(super) fn snapped(&self, slot: u16) -> u16 {
        match usize::from(slot) < self.shape.ordered {
            true => self.last(self.group(slot)),
            false => slot,
        }
    }

    /// A cut as one between groups that takes the same snapped slots: the last slot of the greatest group that is left of it.
    pub(super) fn between_groups(&self, slot: u16) -> u16 {
        let group = self.group(slot);
        match self.last(group) <= slot {
            true => self.last(group),
            false => self.last(group.saturating_sub(1)),
        }
    }

    /// The rules of the grid that are the same whatever rows say: each cut, with cells beyond the order on the right; or each category
    /// against the rest.
    pub(super) fn rules(&self) -> Vec<StumpRule> {
        if self.shape.ordered > 0 {
            let cut = |group| StumpRule::AtMost {
                slot: self.last(group),
                besides: Vec::new(),
            };
            return (0..(self.groups - 1) as u16).map(cut).collect();
        }
        let slots = 0..self.shape.slots as u16;
        slots.map(|slot| StumpRule::OneOf(vec![slot])).collect()
    }

    /// How many bits a rule of the grid is at most: a cut, and the side of each slot beyond the order; or the side of each category.
    pub(super) fn rule_bits(&self) -> f64 {
        let beyond = (self.shape.slots - self.shape.ordered) as f64;
        match self.groups {
            0 => beyond,
            groups => (groups as f64).log2() + beyond,
        }
    }

    /// Whether a rule is about slots of the grid.
    pub(super) fn has(&self, rule: &StumpRule) -> bool {
        match rule {
            StumpRule::All => true,
            StumpRule::AtMost { slot, besides } => {
                let ordered = self.shape.ordered;
                usize::from(*slot) < ordered
                    && self.last(self.group(*slot)) == *slot
                    && besides.iter().all(|slot| usize::from(*slot) >= ordered)
            }
            StumpRule::OneOf(_) => self.shape.ordered == 0,
            StumpRule::UpTo { .. } => false,
        }
    }
}

/// The merged features of all rows.
pub(super) fn merged(all: &[Merging], cells: &Cells) -> Result<Cells, Error> {
    let features = all.iter().zip(cells.features());
    let features = features.map(|(merging, feature)| merging.feature(feature));
    Cells::joined(cells.rows(), features.collect(), cells.target().cloned())
}

/// The features of all rows with snapped slots.
pub(super) fn snapped(all: &[Merging], cells: &Cells) -> Result<Cells, Error> {
    let features = all.iter().zip(cells.features());
    let features = features.map(|(merging, feature)| {
        let slots = feature.bins.iter().map(|slot| merging.snapped(slot));
        let bins = match feature.bins {
            // A snapped slot is one of the same feature.
            Bins::Narrow(_) => Bins::Narrow(slots.map(|slot| slot as u8).collect()),
            Bins::Wide(_) => Bins::Wide(slots.collect()),
        };
        Feature { bins, scaled: None }
    });
    Cells::joined(cells.rows(), features.collect(), cells.target().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 37 bins merged to 16 and a slot beyond: a merged rule takes the same rows as the rule about the schema's slots.
    #[test]
    fn rules_about_groups_are_rules_about_slots() {
        for (ordered, most) in [(37, 16), (16, 16), (5, 16), (64, 16), (2, 2), (300, 256)] {
            let shape = Shape {
                slots: ordered + 2,
                ordered,
                missing: ordered as u16 + 1,
                number: true,
            };
            let merging = Merging::new(shape, most);
            assert_eq!(merging.shape().ordered, ordered.min(most));
            let beyond = merging.shape().ordered as u16;
            for last in 0..beyond {
                for besides in [vec![], vec![beyond], vec![beyond + 1]] {
                    let coarse = StumpRule::AtMost { slot: last, besides };
                    let fine = merging.unmerged(coarse.clone());
                    assert!(merging.has(&fine));
                    for slot in 0..shape.slots as u16 {
                        assert_eq!(
                            coarse.is_left(merging.group(slot)),
                            fine.is_left(slot),
                            "{slot} {coarse:?}"
                        );
                    }
                }
            }
            assert_eq!(merging.rules().len(), ordered.min(most) - 1);
            assert!(merging.rules().iter().all(|rule| merging.has(rule)));
        }
        let shape = Shape {
            slots: 39,
            ordered: 37,
            missing: 38,
            number: true,
        };
        let off = StumpRule::AtMost {
            slot: 1,
            besides: Vec::new(),
        };
        assert!(!Merging::new(shape, 16).has(&off));
    }
}
