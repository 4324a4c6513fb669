//! How a tree cuts rows into leaves, drawn by public coins from the schema alone.

use super::grid::CoarseGrid;
use crate::data::schema::{Kind, Number, Schema};
use crate::data::{Cells, Places};
use crate::learner::tree::{Child, Column, Node, Rule, Side, Tree};
use crate::privacy::Coins;
use crate::wire::Writer;

/// What is known about the features, from the schema.
#[derive(Debug, Clone)]
pub(super) struct Features {
    pub(super) columns: Vec<Column>,
    numbers: Vec<Option<(Number, Places)>>,
    /// Slots after which a column may be cut, if only some were chosen.
    chosen: Vec<Option<Vec<u16>>>,
    /// The usual bins of columns that were read in finer ones: they are cut between these.
    coarse: Vec<Option<CoarseGrid>>,
    /// Slots that are leaves of their own in trees about their column alone.
    spikes: Vec<Vec<u16>>,
}

impl Features {
    pub(super) fn of(schema: &Schema) -> Self {
        let numbers: Vec<_> = schema
            .features()
            .map(|column| match &column.kind {
                Kind::Number(number) => Some((number.clone(), number.places())),
                _ => None,
            })
            .collect();
        Self {
            columns: Column::of(schema),
            chosen: vec![None; numbers.len()],
            coarse: vec![None; numbers.len()],
            spikes: vec![Vec::new(); numbers.len()],
            numbers,
        }
    }

    pub(super) fn is_number(&self, feature: usize) -> bool {
        self.numbers[feature].is_some()
    }

    /// Cuts a column that was read in finer bins between its usual ones.
    pub(super) fn watch(&mut self, feature: usize) {
        let number = self.numbers[feature].as_ref();
        self.coarse[feature] = number.and_then(|(number, _)| CoarseGrid::of(number));
    }

    /// The usual bins of a column that was read in finer ones.
    pub(super) fn coarse(&self, feature: usize) -> Option<&CoarseGrid> {
        self.coarse[feature].as_ref()
    }

    /// Makes these slots leaves of their own in trees about the column alone.
    pub(super) fn separate(&mut self, feature: usize, slots: Vec<u16>) {
        self.spikes[feature] = slots;
    }

    /// Cuts a column after these slots only.
    pub(super) fn choose(&mut self, feature: usize, slots: Vec<u16>) {
        self.chosen[feature] = Some(slots);
    }

    /// The slot after which an ordered column is cut. A number is cut as often in the even half of its range as in the
    /// transformed half, however fine its bins are.
    pub(super) fn last_slot(&self, feature: usize, coins: &mut Coins) -> u16 {
        let most = self.columns[feature].ordinary.saturating_sub(2);
        if let Some(slots) = &self.chosen[feature] {
            return slots[coins.below(slots.len() as u64) as usize];
        }
        match &self.numbers[feature] {
            Some((number, places)) => {
                let transformed = coins.below(2) == 1;
                let x = places.at(coins.unit(), transformed);
                if let Some(grid) = &self.coarse[feature] {
                    return grid.last_slot(x as f32);
                }
                number.cuts().bin(x as f32).min(most as u16)
            }
            None => coins.below(most as u64 + 1) as u16,
        }
    }

    /// A random grouping of a feature's slots into at most `most` groups, besides those of `alone`.
    fn groups(&self, feature: usize, most: usize, alone: &[u16], coins: &mut Coins) -> Groups {
        let column = &self.columns[feature];
        let mut of_slot = vec![0u16; column.slots];
        if !column.ordered {
            let few = column.slots <= most;
            for (slot, group) in of_slot.iter_mut().enumerate() {
                *group = if few {
                    slot as u16
                } else {
                    coins.below(most as u64) as u16
                };
            }
        } else {
            let cuts: Vec<u16> = match column.ordinary <= most {
                true => (0..column.ordinary.saturating_sub(1) as u16).collect(),
                false => {
                    let mut cuts: Vec<u16> = (1..most).map(|_| self.last_slot(feature, coins)).collect();
                    let last = column.ordinary.saturating_sub(1) as u16;
                    let around = alone.iter().flat_map(|&slot| [slot.checked_sub(1), Some(slot)]);
                    cuts.extend(around.flatten().filter(|&slot| slot < last));
                    cuts.sort_unstable();
                    cuts.dedup();
                    cuts
                }
            };
            let groups = cuts.len() as u64 + 1;
            // Cells without a value go wherever coins put them, all together.
            let missing = coins.below(groups) as u16;
            // Cuts ascend.
            let mut below = 0;
            for (slot, group) in of_slot.iter_mut().enumerate() {
                while cuts.get(below).is_some_and(|&cut| usize::from(cut) < slot) {
                    below += 1;
                }
                *group = match slot < column.ordinary {
                    true => below as u16,
                    false => missing,
                };
            }
        }
        Groups::numbered(of_slot)
    }

    /// The rule by which the first `groups` groups go left.
    fn rule(&self, feature: usize, groups: &Groups, first: u16) -> Rule {
        let column = &self.columns[feature];
        let left = |slot: usize| groups.of_slot[slot] < first;
        if !column.ordered {
            return Rule::one_of(column.slots, (0..column.slots).filter(|&slot| left(slot)));
        }
        let last = (0..column.ordinary).take_while(|&slot| left(slot)).count();
        let others = match column.ordinary < column.slots && left(column.ordinary) {
            true => Side::Left,
            false => Side::Right,
        };
        Rule::UpTo {
            slot: last.saturating_sub(1) as u16,
            others,
        }
    }
}

/// Slots put together.
struct Groups {
    of_slot: Vec<u16>,
    count: u16,
}

impl Groups {
    /// Groups without slots are omitted.
    fn numbered(mut of_slot: Vec<u16>) -> Self {
        let most = of_slot.iter().max().map_or(0, |&group| usize::from(group) + 1);
        // Whether a group is used; then its number.
        let mut numbers = vec![0; most];
        of_slot.iter().for_each(|&group| numbers[usize::from(group)] = 1);
        let mut count = 0;
        for number in &mut numbers {
            count += std::mem::replace(number, count);
        }
        for group in &mut of_slot {
            *group = numbers[usize::from(*group)];
        }
        Self { of_slot, count }
    }
}

/// Which leaf a row goes to.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    /// The questions; its leaves have no values yet.
    pub(super) tree: Tree,
    way: RowPath,
}

#[derive(Debug, Clone)]
enum RowPath {
    /// The number of the leaf is a sum over features: of what stands at the row's slot.
    Sum(Vec<(usize, Vec<u16>)>),
    /// Question by question.
    Walk,
}

impl Cut {
    /// A tree about one feature, of at most `leaves` leaves besides those of spikes.
    pub(super) fn one(features: &Features, feature: usize, leaves: usize, coins: &mut Coins) -> Self {
        let alone = &features.spikes[feature];
        Self::product(
            features,
            vec![(feature, features.groups(feature, leaves, alone, coins))],
        )
    }

    /// A tree about two features, of at most `groups` groups of each.
    pub(super) fn two(features: &Features, of: [usize; 2], groups: usize, coins: &mut Coins) -> Self {
        let each = of.map(|feature| (feature, features.groups(feature, groups, &[], coins)));
        Self::product(features, each.into())
    }

    /// A complete tree of so many levels, each question about a random one of these features.
    pub(super) fn random(features: &Features, of: &[usize], depth: u32, coins: &mut Coins) -> Self {
        let questions = (1usize << depth) - 1;
        let rules = (0..questions).map(|_| {
            let feature = of[coins.below(of.len() as u64) as usize];
            let mut groups = features.groups(feature, 2, &[], coins);
            // Two categories of three may fall into one group: then the first goes alone.
            if groups.count < 2 {
                groups.of_slot.fill(1);
                groups.of_slot[0] = 0;
            }
            (feature, features.rule(feature, &groups, 1))
        });
        Self::complete(rules.collect())
    }

    /// The complete tree of these questions, level after level.
    pub(super) fn complete(rules: Vec<(usize, Rule)>) -> Self {
        let questions = rules.len();
        let child = |place: usize| match place < questions {
            true => Child::Node(place as u32),
            false => Child::Leaf((place - questions) as u32),
        };
        let nodes = rules
            .into_iter()
            .enumerate()
            .map(|(place, (feature, rule))| Node {
                feature: feature as u32,
                rule,
                left: child(2 * place + 1),
                right: child(2 * place + 2),
            });
        Self {
            tree: Tree::new(nodes.collect(), vec![0.0; questions + 1]),
            way: RowPath::Walk,
        }
    }

    fn product(features: &Features, parts: Vec<(usize, Groups)>) -> Self {
        let mut tree = Tree::new(Vec::new(), Vec::new());
        build(features, &parts, &mut tree);
        let mut stride: u16 = parts.iter().map(|(_, groups)| groups.count).product();
        let way = parts.into_iter().map(|(feature, groups)| {
            stride /= groups.count;
            (
                feature,
                groups.of_slot.iter().map(|&group| group * stride).collect(),
            )
        });
        Self {
            tree,
            way: RowPath::Sum(way.collect()),
        }
    }

    pub(super) fn leaves(&self) -> usize {
        self.tree.leaves.len()
    }

    /// Writes its questions, so that they can be compared.
    pub(super) fn write(&self, to: &mut Writer) {
        for node in &self.tree.nodes {
            to.word(node.feature);
            match &node.rule {
                Rule::UpTo { slot, others } => {
                    to.byte(*others as u8);
                    to.word((*slot).into());
                }
                Rule::OneOf { set } => {
                    to.byte(2);
                    set.iter().for_each(|&bits| to.long(bits));
                }
            }
            for child in [node.left, node.right] {
                let (kind, place) = match child {
                    Child::Node(place) => (0, place),
                    Child::Leaf(place) => (1, place),
                };
                to.byte(kind);
                to.word(place);
            }
        }
    }

    /// The feature and the leaf of each of its slots, if the tree is about one.
    pub(super) fn by_slot(&self) -> Option<(usize, &[u16])> {
        match &self.way {
            RowPath::Sum(parts) if parts.len() == 1 => Some((parts[0].0, &parts[0].1)),
            _ => None,
        }
    }

    /// The two features that the tree is about, if it is about two.
    pub(super) fn pair(&self) -> Option<[usize; 2]> {
        match &self.way {
            RowPath::Sum(parts) if parts.len() == 2 => Some([parts[0].0, parts[1].0]),
            _ => None,
        }
    }

    /// The leaves of the rows from `first` on.
    pub(super) fn fill(&self, cells: &Cells, columns: &[Column], first: usize, leaves: &mut [u16]) {
        let features = cells.features();
        match &self.way {
            RowPath::Sum(parts) => {
                leaves.fill(0);
                for (feature, at) in parts {
                    features[*feature].bins.add(first, at, leaves);
                }
            }
            RowPath::Walk => {
                for (row, leaf) in leaves.iter_mut().enumerate() {
                    *leaf = self
                        .tree
                        .leaf(columns, |feature| features[feature].bins.get(first + row))
                        as u16;
                }
            }
        }
    }
}

/// Appends the tree that asks about the first part's groups, and below each of them about the rest; where it begins.
fn build(features: &Features, parts: &[(usize, Groups)], tree: &mut Tree) -> Child {
    let Some(((feature, groups), rest)) = parts.split_first() else {
        tree.leaves.push(0.0);
        return Child::Leaf(tree.leaves.len() as u32 - 1);
    };
    halves(features, *feature, groups, 0..groups.count, rest, tree)
}

/// Asks which half of a range of groups a row is in, until one remains. Leaves come in the order of the groups.
fn halves(
    features: &Features,
    feature: usize,
    groups: &Groups,
    range: std::ops::Range<u16>,
    rest: &[(usize, Groups)],
    tree: &mut Tree,
) -> Child {
    if range.len() < 2 {
        return build(features, rest, tree);
    }
    let middle = range.start + range.len() as u16 / 2;
    let place = tree.nodes.len();
    tree.nodes.push(Node {
        feature: feature as u32,
        rule: features.rule(feature, groups, middle),
        left: Child::Leaf(0),
        right: Child::Leaf(0),
    });
    let left = halves(features, feature, groups, range.start..middle, rest, tree);
    let right = halves(features, feature, groups, middle..range.end, rest, tree);
    tree.nodes[place].left = left;
    tree.nodes[place].right = right;
    Child::Node(place as u32)
}
