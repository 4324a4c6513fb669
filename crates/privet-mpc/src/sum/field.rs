//! Arithmetic modulo a prime. Elements are numbers below the prime; adding, subtracting and multiplying take no branch on them.

/// A prime below 2⁶².
pub(super) trait Prime {
    const MODULUS: u64;

    /// The remainder of a number below 2¹²⁷.
    fn reduce(number: u128) -> u64;
}

/// 2⁶¹ − 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mersenne61;

impl Prime for Mersenne61 {
    const MODULUS: u64 = (1 << 61) - 1;

    #[inline]
    fn reduce(number: u128) -> u64 {
        // 2⁶¹ is 1: the high part is added to the low one, twice.
        let once = u128::from(low(number)) + (number >> 61);
        below_modulus::<Self>(low(once) + (once >> 61) as u64)
    }
}

#[inline]
fn low(number: u128) -> u64 {
    number as u64 & Mersenne61::MODULUS
}

/// The remainder of a number below twice the modulus.
#[inline]
fn below_modulus<F: Prime>(number: u64) -> u64 {
    let less = number.wrapping_sub(F::MODULUS);
    let negative = 0_u64.wrapping_sub(less >> 63);
    less.wrapping_add(F::MODULUS & negative)
}

#[inline]
pub(super) fn add<F: Prime>(a: u64, b: u64) -> u64 {
    below_modulus::<F>(a + b)
}

#[inline]
pub(super) fn sub<F: Prime>(a: u64, b: u64) -> u64 {
    below_modulus::<F>(a + F::MODULUS - b)
}

#[inline]
pub(super) fn mul<F: Prime>(a: u64, b: u64) -> u64 {
    F::reduce(product(a, b))
}

#[inline]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a).wrapping_mul(u128::from(b))
}

/// Σ aᵢbᵢ. 32 products of 122 bits are added before they are reduced.
#[inline]
pub(super) fn dot<F: Prime>(a: &[u64], b: &[u64]) -> u64 {
    let blocks = a.chunks(32).zip(b.chunks(32));
    blocks.fold(0, |sum, (a, b)| {
        let products = a.iter().zip(b).map(|(a, b)| product(*a, *b));
        add::<F>(sum, F::reduce(products.fold(0, u128::wrapping_add)))
    })
}

/// The element of a signed number, without a branch on it.
pub(super) fn from_signed<F: Prime>(number: i64) -> u64 {
    let size = F::reduce(u128::from(number.unsigned_abs()));
    let negative = (number >> 63) as u64;
    (size & !negative) | (sub::<F>(0, size) & negative)
}

/// The number nearest to 0 that has this remainder.
pub(super) fn centred<F: Prime>(element: u64) -> i64 {
    let number = element as i64;
    match element > F::MODULUS / 2 {
        true => number - F::MODULUS as i64,
        false => number,
    }
}

/// The element in 8 little-endian bytes; none if they are no number below the modulus.
pub(super) fn from_bytes<F: Prime>(bytes: [u8; 8]) -> Option<u64> {
    let element = u64::from_le_bytes(bytes);
    (element < F::MODULUS).then_some(element)
}

/// 1 / a for a public a that is not 0, as a to the power p − 2.
fn inverse<F: Prime>(a: u64) -> u64 {
    let (mut result, mut square, mut exponent) = (1, a, F::MODULUS - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul::<F>(result, square);
        }
        square = mul::<F>(square, square);
        exponent >>= 1;
    }
    result
}

/// The inverses of public elements that are not 0, by one inversion (Montgomery).
pub(super) fn invert_all<F: Prime>(elements: &mut [u64]) {
    let mut before = Vec::with_capacity(elements.len());
    let mut all = 1;
    for element in elements.iter() {
        before.push(all);
        all = mul::<F>(all, *element);
    }
    let mut inverse = inverse::<F>(all);
    for (element, before) in elements.iter_mut().zip(before).rev() {
        let next = mul::<F>(inverse, *element);
        *element = mul::<F>(inverse, before);
        inverse = next;
    }
}

/// A row of factors for each target, one after the other: the value there of a polynomial that is given at the nodes is the row times
/// these values (Lagrange). Nodes are different from each other and from targets; all are public.
pub(super) fn interpolation<F: Prime>(nodes: &[u64], targets: &[u64]) -> Vec<u64> {
    let weight = |node: &u64| {
        let others = nodes.iter().filter(|other| *other != node);
        others.fold(1, |weight, other| mul::<F>(weight, sub::<F>(*node, *other)))
    };
    let mut weights: Vec<u64> = nodes.iter().map(weight).collect();
    invert_all::<F>(&mut weights);
    let distances = targets
        .iter()
        .flat_map(|target| nodes.iter().map(|node| sub::<F>(*target, *node)));
    let mut rows: Vec<u64> = distances.collect();
    let product = |row: &[u64]| row.iter().fold(1, |all, distance| mul::<F>(all, *distance));
    let products: Vec<u64> = rows.chunks(nodes.len()).map(product).collect();
    invert_all::<F>(&mut rows);
    for (row, all) in rows.chunks_mut(nodes.len()).zip(products) {
        for (factor, weight) in row.iter_mut().zip(&weights) {
            *factor = mul::<F>(mul::<F>(*factor, all), *weight);
        }
    }
    rows
}

/// A small prime, so that tests can try everything.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Toy<const P: u64>;

#[cfg(test)]
impl<const P: u64> Prime for Toy<P> {
    const MODULUS: u64 = P;

    fn reduce(number: u128) -> u64 {
        (number % u128::from(P)) as u64
    }
}
