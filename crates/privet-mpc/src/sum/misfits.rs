//! Which values do not lie on the polynomial that most others lie on: Reed–Solomon decoding as in Gao (2003). Everything here is public.

use super::field::{Prime, add, invert_all, mul, sub};

/// Coefficients, lowest first; the last is not 0.
type Polynomial = Vec<u64>;

/// The places of values that are not on the one polynomial with fewer than `coefficients` coefficients plus one that all but few values
/// lie on. Few are at most half of the values beyond `coefficients`; none is given if there is no such polynomial.
pub(super) fn misfits<F: Prime>(points: &[u64], values: &[u64], coefficients: usize) -> Option<Vec<usize>> {
    let (mut before, mut rest) = (vanishing::<F>(points), through::<F>(points, values));
    let (mut factor_before, mut factor) = (Vec::new(), vec![1]);
    // Euclid's algorithm, broken off in the middle: rest = … + factor · through.
    while 2 * rest.len() > points.len() + coefficients + 1 {
        let (quotient, remainder) = divide::<F>(before, &rest);
        let next = minus::<F>(factor_before, &times::<F>(&quotient, &factor));
        (before, rest) = (rest, remainder);
        (factor_before, factor) = (factor, next);
    }
    let (polynomial, remainder) = divide::<F>(rest, &factor);
    if !remainder.is_empty() || polynomial.len() > coefficients {
        return None;
    }
    let fits = |at: &usize| value::<F>(&polynomial, points[*at]) == values[*at];
    let wrong: Vec<usize> = (0..points.len()).filter(|at| !fits(at)).collect();
    (2 * wrong.len() <= points.len() - coefficients).then_some(wrong)
}

fn value<F: Prime>(polynomial: &[u64], at: u64) -> u64 {
    let high_first = polynomial.iter().rev();
    high_first.fold(0, |value, coefficient| {
        add::<F>(mul::<F>(value, at), *coefficient)
    })
}

/// Multiplied by x − point.
fn with_root<F: Prime>(polynomial: &mut Polynomial, point: u64) {
    polynomial.push(0);
    for at in (0..polynomial.len()).rev() {
        let lower = at.checked_sub(1).map_or(0, |at| polynomial[at]);
        polynomial[at] = sub::<F>(lower, mul::<F>(polynomial[at], point));
    }
}

fn vanishing<F: Prime>(points: &[u64]) -> Polynomial {
    let mut product = vec![1];
    points
        .iter()
        .for_each(|point| with_root::<F>(&mut product, *point));
    product
}

/// Newton's interpolation: divided differences, then the nested products multiplied out.
fn through<F: Prime>(points: &[u64], values: &[u64]) -> Polynomial {
    let mut differences = values.to_vec();
    for order in 1..points.len() {
        let mut steps: Vec<u64> = (order..points.len())
            .map(|at| sub::<F>(points[at], points[at - order]))
            .collect();
        invert_all::<F>(&mut steps);
        for at in (order..points.len()).rev() {
            let difference = sub::<F>(differences[at], differences[at - 1]);
            differences[at] = mul::<F>(difference, steps[at - order]);
        }
    }
    let mut polynomial = Vec::new();
    for (difference, point) in differences.iter().zip(points).rev() {
        with_root::<F>(&mut polynomial, *point);
        polynomial[0] = add::<F>(polynomial[0], *difference);
    }
    trimmed(polynomial)
}

fn trimmed(mut polynomial: Polynomial) -> Polynomial {
    while polynomial.last() == Some(&0) {
        polynomial.pop();
    }
    polynomial
}

fn times<F: Prime>(a: &[u64], b: &[u64]) -> Polynomial {
    let mut product = vec![0; (a.len() + b.len()).saturating_sub(1)];
    for (at, a) in a.iter().enumerate() {
        for (place, b) in product[at..].iter_mut().zip(b) {
            *place = add::<F>(*place, mul::<F>(*a, *b));
        }
    }
    trimmed(product)
}

fn minus<F: Prime>(mut a: Polynomial, b: &[u64]) -> Polynomial {
    a.resize(a.len().max(b.len()), 0);
    for (a, b) in a.iter_mut().zip(b) {
        *a = sub::<F>(*a, *b);
    }
    trimmed(a)
}

/// Quotient and remainder. Nothing is divided by nothing: the factor of Euclid's algorithm is never 0.
fn divide<F: Prime>(mut a: Polynomial, b: &[u64]) -> (Polynomial, Polynomial) {
    let Some(last) = b.last() else {
        return (Vec::new(), a);
    };
    let mut leading = [*last];
    invert_all::<F>(&mut leading);
    let mut quotient = vec![0; (a.len() + 1).saturating_sub(b.len())];
    for at in (0..quotient.len()).rev() {
        quotient[at] = mul::<F>(a[at + b.len() - 1], leading[0]);
        for (place, b) in a[at..].iter_mut().zip(b) {
            *place = sub::<F>(*place, mul::<F>(quotient[at], *b));
        }
    }
    (trimmed(quotient), trimmed(a))
}
