//! What full trees ask: every question once for a block of rows, however many trees ask it.

use super::matrix::Column;
use super::shape::{Rule, Side, Tree};
use super::source::SlotSource;

/// A set of rows is this many words.
pub(super) const WORDS: usize = 4;
/// Rows that are looked at together: enough of them that a question costs little for each.
pub(super) const BLOCK: usize = 64 * WORDS;

/// A bit for each row of a block. Row 8i + j of a word is bit i of byte j: so eight rows' bits are a shift apart.
pub(super) type Bits = [u64; WORDS];

/// The questions about a feature.
#[derive(Debug)]
struct Topic {
    feature: usize,
    /// How many slots it has, and how many of them are ordinary.
    slots: usize,
    ordinary: usize,
    /// The last slots that go left, and whether the others go right.
    cuts: Vec<(u8, bool)>,
    /// The slots that go the way of fewer, and whether that is to the right.
    sets: Vec<(Vec<u8>, bool)>,
}

/// A question: a feature, and which of its slots go left.
pub(super) type Question<'a> = (u32, &'a Rule);

/// What trees ask, in order and each question once.
pub(super) fn asked<'a>(trees: impl Iterator<Item = &'a Tree>) -> Vec<Question<'a>> {
    let nodes = trees.flat_map(|tree| &tree.nodes);
    let mut asked: Vec<Question<'a>> = nodes.map(|node| (node.feature, &node.rule)).collect();
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// The number of one of these questions. Number 0 is none of them: nobody goes right.
pub(super) fn number(asked: &[Question<'_>], question: Question<'_>) -> u32 {
    asked.partition_point(|other| *other <= question) as u32
}

/// All questions, feature by feature.
#[derive(Debug)]
pub(super) struct Questions {
    topics: Vec<Topic>,
    count: usize,
}

impl Questions {
    /// These questions about these columns.
    pub(super) fn new(columns: &[Column], asked: &[Question<'_>]) -> Self {
        let topics = asked.chunk_by(|(one, _), (other, _)| one == other);
        Self {
            topics: topics.map(|asked| Topic::new(columns, asked)).collect(),
            count: asked.len(),
        }
    }

    /// Room for the answers, by number: the rows that go right.
    pub(super) fn room(&self) -> Vec<Bits> {
        vec![Bits::default(); self.count + 1]
    }

    /// Answers all questions about the rows from `begin` on.
    pub(super) fn ask(&self, source: &impl SlotSource, begin: usize, count: usize, answers: &mut [Bits]) {
        let mut slots = [0; BLOCK];
        let mut rows = [Bits::default(); 256];
        let mut rest = &mut answers[1..];
        for topic in &self.topics {
            source.narrow(topic.feature, begin, &mut slots[..count]);
            let (these, others) = rest.split_at_mut(topic.cuts.len() + topic.sets.len());
            topic.ask(&slots, &mut rows, these);
            rest = others;
        }
    }
}

impl Topic {
    fn new(columns: &[Column], asked: &[Question<'_>]) -> Self {
        let feature = asked[0].0 as usize;
        let column = &columns[feature];
        let mut topic = Self {
            feature,
            slots: column.slots,
            ordinary: column.ordinary,
            cuts: Vec::new(),
            sets: Vec::new(),
        };
        for (_, rule) in asked {
            match rule {
                Rule::UpTo { slot, others } => topic.cuts.push((*slot as u8, *others == Side::Right)),
                Rule::OneOf { .. } => {
                    let slots = 0..column.slots as u16;
                    let (left, right): (Vec<u16>, Vec<u16>) =
                        slots.partition(|&slot| rule.goes_left(slot, column));
                    let is_right = right.len() <= left.len();
                    let fewer = if is_right { right } else { left };
                    topic
                        .sets
                        .push((fewer.into_iter().map(|slot| slot as u8).collect(), is_right));
                }
            }
        }
        topic
    }

    /// Answers all questions. (`rows` is room for the rows in each slot, and then those above each ordinary slot.)
    fn ask(&self, slots: &[u8; BLOCK], rows: &mut [Bits; 256], answers: &mut [Bits]) {
        rows[..self.slots].fill(Bits::default());
        for row in 0..64 {
            let bit = 1 << (row % 8 * 8 + row / 8);
            for word in 0..WORDS {
                rows[usize::from(slots[word * 64 + row])][word] |= bit;
            }
        }
        let (cuts, sets) = answers.split_at_mut(self.cuts.len());
        for ((slots, right), answer) in self.sets.iter().zip(sets) {
            let mut some = Bits::default();
            for &slot in slots {
                add(&mut some, &rows[usize::from(slot)]);
            }
            *answer = if *right { some } else { some.map(|bits| !bits) };
        }
        let mut others = Bits::default();
        for rows in &rows[self.ordinary..self.slots] {
            add(&mut others, rows);
        }
        let mut above = Bits::default();
        for rows in rows[..self.ordinary].iter_mut().rev() {
            let these = *rows;
            *rows = above;
            add(&mut above, &these);
        }
        for ((last, right), answer) in self.cuts.iter().zip(cuts) {
            *answer = rows[usize::from(*last)];
            if *right {
                add(answer, &others);
            }
        }
    }
}

fn add(to: &mut Bits, rows: &Bits) {
    for (to, rows) in to.iter_mut().zip(rows) {
        *to |= rows;
    }
}
