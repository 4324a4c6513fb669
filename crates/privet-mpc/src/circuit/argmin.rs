//! The smallest of many sums, by its index: a tournament.

use super::{
    Backend, Bit, Circuit, MOST_BITS, Number, Shape, Wires, Workspace, bits_below, bits_of, number_of, size,
};
use crate::Error;

/// The candidate whose two numbers have the smallest sum. Each side brings a number for each candidate: summands, or shares modulo 2^bits,
/// since sums are taken modulo 2^bits. Of equal sums the first wins. About three gates for each bit of each candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argmin {
    candidates: usize,
    bits: usize,
    shows_sum: bool,
}

/// Candidates that are added and compared in one step: a power of two.
const BLOCK: usize = 64;
/// Gates at a time: what is done to one pair is done to its neighbours in the same call.
const LANES: usize = 4;

impl Argmin {
    /// The most candidates.
    pub const MOST: usize = 1 << 16;

    /// Of so many candidates, with sums of so many bits.
    ///
    /// # Errors
    /// [`Error::Misuse`] without candidates or bits, or with more than [`Argmin::MOST`] or [`MOST_BITS`].
    pub fn new(candidates: usize, bits: usize) -> Result<Self, Error> {
        size((1..=Self::MOST).contains(&candidates), "1 to 65536 candidates")?;
        size((1..=MOST_BITS).contains(&bits), "a number has 1 to 64 bits")?;
        Ok(Self {
            candidates,
            bits,
            shows_sum: false,
        })
    }

    /// Shows the smallest sum, too.
    pub fn with_sum(mut self) -> Self {
        self.shows_sum = true;
        self
    }

    /// The input of a side: its number for each candidate.
    ///
    /// # Errors
    /// [`Error::Misuse`] if there is not one number of so many bits for each candidate.
    pub fn input(&self, numbers: &[u64]) -> Result<Vec<bool>, Error> {
        size(numbers.len() == self.candidates, "a number for each candidate")?;
        // All are looked at, so that the time tells nothing.
        let high = numbers
            .iter()
            .fold(0, |high, number| high | (u128::from(*number) >> self.bits));
        size(high == 0, "a number that has more bits than were agreed on")?;
        Ok(bits_of(numbers, self.bits))
    }

    /// The candidate that came out; none for bits that did not come out of this circuit.
    pub fn decode(&self, output: &[bool]) -> Option<usize> {
        let index = number_of(output.get(..bits_below(self.candidates))?) as usize;
        (index < self.candidates).then_some(index)
    }

    /// The smallest sum, if it was to be shown.
    pub fn decode_sum(&self, output: &[bool]) -> Option<u64> {
        let sum = output.get(bits_below(self.candidates)..)?;
        self.shows_sum.then(|| number_of(sum))
    }

    fn blocks(&self) -> usize {
        self.candidates.div_ceil(BLOCK)
    }
}

impl Circuit for Argmin {
    fn name(&self) -> String {
        let shown = if self.shows_sum { " with sum" } else { "" };
        format!("argmin 1 {} {}{shown}", self.candidates, self.bits)
    }

    fn shape(&self) -> Shape {
        let sum = if self.shows_sum { self.bits } else { 0 };
        Shape {
            garbler: self.candidates * self.bits,
            evaluator: self.candidates * self.bits,
            output: bits_below(self.candidates) + sum,
            steps: self.blocks() + 1,
        }
    }

    // Inlined into the place that knows the processor's instructions, as are the functions below.
    #[inline(always)]
    fn step<B: Backend>(&self, step: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        let blocks = self.blocks();
        if step < blocks {
            let candidates = step * BLOCK..self.candidates.min((step + 1) * BLOCK);
            let inputs = candidates.start * self.bits..candidates.end * self.bits;
            let (a, b) = (&work.garbler[inputs.clone()], &work.evaluator[inputs]);
            let sums = add_each(self.bits, a, b, on);
            let indices = candidates.map(|_| Number::zero()).collect();
            let is_last = blocks == 1 && !self.shows_sum;
            let (sum, index) = tournament(self.bits, sums, indices, is_last, on);
            work.numbers.extend([index, sum]);
            return;
        }
        let (mut sums, mut indices) = (
            Wires::new(vec![on.constant(false); blocks * self.bits]),
            Vec::new(),
        );
        for (place, winner) in work.numbers.chunks_exact(2).enumerate() {
            let width = if blocks > 1 {
                bits_below(BLOCK)
            } else {
                winner[0].len()
            };
            indices.push(Number::of((0..width).map(|at| winner[0].bit(at))));
            for bit in 0..self.bits {
                sums[bit * blocks + place] = winner[1].bit(bit).wire(on);
            }
        }
        let (sum, index) = tournament(self.bits, sums, indices, !self.shows_sum, on);
        work.output = index.wires(bits_below(self.candidates), on);
        if self.shows_sum {
            let sum = sum.wires(self.bits, on);
            work.output.extend(sum.iter());
        }
    }
}

/// The sums of candidates modulo 2^bits, of inputs with all bits of one candidate together; the result has the same bit of all candidates together.
#[inline(always)]
fn add_each<B: Backend>(bits: usize, a: &[B::Wire], b: &[B::Wire], on: &mut B) -> Wires<B::Wire> {
    let candidates = a.len() / bits;
    let mut sums = Wires::new(vec![on.constant(false); a.len()]);
    let whole = candidates / LANES * LANES;
    for first in (0..whole).step_by(LANES) {
        add_lanes::<B, LANES>(bits, a, b, first, &mut sums, on);
    }
    for first in whole..candidates {
        add_lanes::<B, 1>(bits, a, b, first, &mut sums, on);
    }
    sums
}

#[inline(always)]
fn add_lanes<B: Backend, const N: usize>(
    bits: usize,
    a: &[B::Wire],
    b: &[B::Wire],
    first: usize,
    sums: &mut [B::Wire],
    on: &mut B,
) {
    let candidates = sums.len() / bits;
    let mut carry = [on.constant(false); N];
    for bit in 0..bits {
        let a: [B::Wire; N] = std::array::from_fn(|lane| a[(first + lane) * bits + bit]);
        let b: [B::Wire; N] = std::array::from_fn(|lane| b[(first + lane) * bits + bit]);
        let a_carry: [B::Wire; N] = std::array::from_fn(|lane| on.xor(a[lane], carry[lane]));
        let b_carry: [B::Wire; N] = std::array::from_fn(|lane| on.xor(b[lane], carry[lane]));
        for lane in 0..N {
            sums[bit * candidates + first + lane] = on.xor(a_carry[lane], b[lane]);
        }
        if bit + 1 < bits {
            let both = on.and(a_carry, b_carry);
            carry = std::array::from_fn(|lane| on.xor(both[lane], carry[lane]));
        }
    }
}

/// The smallest number and its index. `index` has the bits of each candidate's index so far; each level of the tournament adds one above. If only the index
/// is wanted, the last pair's smaller number is not chosen.
#[inline(always)]
fn tournament<B: Backend>(
    bits: usize,
    mut sums: Wires<B::Wire>,
    mut indices: Vec<Number<B::Wire>>,
    index_only: bool,
    on: &mut B,
) -> (Number<B::Wire>, Number<B::Wire>) {
    while indices.len() > 1 {
        let (count, pairs) = (indices.len(), indices.len() / 2);
        let left = pairs + count % 2;
        let chosen_bits = if index_only && left == 1 { 0 } else { bits };
        let mut winners = Wires::new(vec![on.constant(false); bits * left]);
        let mut is_second = Wires::new(Vec::with_capacity(pairs));
        let whole = pairs / LANES * LANES;
        for first in (0..whole).step_by(LANES) {
            let second = compare::<B, LANES>(bits, chosen_bits, &sums, first, &mut winners, on);
            is_second.extend(second);
        }
        for first in whole..pairs {
            let second = compare::<B, 1>(bits, chosen_bits, &sums, first, &mut winners, on);
            is_second.extend(second);
        }
        if count % 2 == 1 {
            for bit in 0..bits {
                winners[bit * left + pairs] = sums[bit * count + count - 1];
            }
        }
        let mut next = Vec::with_capacity(left);
        for pair in indices.chunks(2) {
            let index = match pair {
                [one, other] => {
                    let second = Bit::On(is_second[next.len()]);
                    let chosen = Number::choose(second, other, one, on);
                    chosen.with_above(second)
                }
                _ => pair[0].with_above(Bit::Known(false)),
            };
            next.push(index);
        }
        (sums, indices) = (winners, next);
    }
    let index = indices.pop().unwrap_or(Number::zero());
    (Number::on(&sums), index)
}

/// Which of `N` neighbouring pairs have the smaller number second, and the smaller numbers.
#[inline(always)]
fn compare<B: Backend, const N: usize>(
    bits: usize,
    chosen_bits: usize,
    sums: &[B::Wire],
    first: usize,
    winners: &mut [B::Wire],
    on: &mut B,
) -> [B::Wire; N] {
    let (count, left) = (sums.len() / bits, winners.len() / bits);
    let pair = |bit: usize, lane: usize| {
        let at = bit * count + 2 * (first + lane);
        (sums[at], sums[at + 1])
    };
    let mut second = [on.constant(false); N];
    for bit in 0..bits {
        let differ: [B::Wire; N] = std::array::from_fn(|lane| {
            let (a, b) = pair(bit, lane);
            on.xor(a, b)
        });
        // Where the two differ, the first one's bit decides.
        let decide: [B::Wire; N] = std::array::from_fn(|lane| on.xor(pair(bit, lane).0, second[lane]));
        let changed = on.and(differ, decide);
        second = std::array::from_fn(|lane| on.xor(second[lane], changed[lane]));
    }
    for bit in 0..chosen_bits {
        let differ: [B::Wire; N] = std::array::from_fn(|lane| {
            let (a, b) = pair(bit, lane);
            on.xor(a, b)
        });
        let changed = on.and(differ, second);
        for lane in 0..N {
            winners[bit * left + first + lane] = on.xor(pair(bit, lane).0, changed[lane]);
        }
    }
    second
}
