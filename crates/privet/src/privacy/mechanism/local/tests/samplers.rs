//! Samplers against their laws; what is refused.

use privet_testkit::Verdict;
use privet_testkit::chi_square::fits;

use super::*;
use crate::Error;

const FALSE_ALARM: f64 = 1e-6;

/// Draws of one mechanism against the law of another, both about one input.
fn judged<M: LocalMechanism>(
    mechanism: &M,
    input: impl Fn() -> M::Input,
    token: &Token,
    law: &[f64],
    number: impl Fn(&[u8]) -> i64,
) -> Verdict {
    let mut random = Randomness::seeded(77);
    let draw = |_| {
        let body = mechanism.draw(token, Private::new(input()), Paid::receipt(), &mut random);
        assert_eq!(body.len(), mechanism.body_bytes());
        number(&body)
    };
    let samples: Vec<i64> = (0..60_000).map(draw).collect();
    let mass = |y: i64| {
        usize::try_from(y)
            .ok()
            .and_then(|y| law.get(y))
            .copied()
            .unwrap_or(0.0)
    };
    fits(samples, mass, FALSE_ALARM)
}

fn last_number(body: &[u8]) -> i64 {
    let mut bytes = [0; 2];
    let last = &body[body.len().saturating_sub(2)..];
    bytes[..last.len()].copy_from_slice(last);
    u16::from_le_bytes(bytes).into()
}

/// False-alarm rate 10⁻⁶ each. A sampler whose ε is a tenth too large is refused.
#[test]
fn samplers_have_their_laws_and_wrong_ones_are_refused() {
    let token = token(4);
    for (epsilon, passes) in [(2.0, true), (2.2, false)] {
        let closest = |e| KClosest::new(eps(e), 4, 16).expect("a mechanism");
        for x in [vec![UNIT, 0, 0, 0], vec![3000, 3000, -3000, 1], vec![0; 4]] {
            let square: u64 = x.iter().map(|x| u64::from(x.unsigned_abs()).pow(2)).sum();
            let mut direction = x.clone();
            direction[0] += i32::from(square == 0);
            let length = (square << 36).isqrt();
            let law = shares(&mixture(&closest(2.0), &token, &direction, length));
            let verdict = judged(&closest(epsilon), || x.clone(), &token, &law, last_number);
            // Of a vector without length every direction is as likely as its opposite: little of a wrong ε shows.
            assert!(
                verdict.is_refused() != passes || square == 0,
                "{x:?}: {verdict:?}"
            );
        }
        let piecewise = |e| SampledPiecewise::new(eps(e), 1).expect("a mechanism");
        for x in [-UNIT, 100, UNIT] {
            let law = shares(&big(&piecewise(2.0).law(x)));
            let verdict = judged(&piecewise(epsilon), || vec![x], &token, &law, last_number);
            assert_ne!(verdict.is_refused(), passes, "{x}: {verdict:?}");
        }
        for dimension in [1, 4, 5] {
            let signs = |e| Signs::new(eps(e), dimension).expect("a mechanism");
            let x = [UNIT, -UNIT, UNIT, 4000, UNIT][..dimension].to_vec();
            let of = signs(2.0);
            let law = law_of_coordinates(&of, &x, |rounded| big(&of.law_of_signs(rounded)));
            let verdict = judged(&signs(epsilon), || x.clone(), &token, &shares(&law), last_number);
            assert_ne!(verdict.is_refused(), passes, "{dimension}: {verdict:?}");
        }
        for code in codes() {
            let oracle = |e| FrequencyOracle::new(eps(e), 5, code).expect("an oracle");
            let law = shares(&oracle(2.0).law(3));
            let verdict = judged(&oracle(epsilon), || 3, &token, &law, last_number);
            assert_ne!(verdict.is_refused(), passes, "{code}: {verdict:?}");
        }
    }
}

/// Each set of coordinates equally often, whatever the vector is.
#[test]
fn coordinates_are_sampled_without_looking_at_them() {
    let piecewise = SampledPiecewise::sampling(eps(5.0), 4, 2).expect("a mechanism");
    let sets = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let set = |body: &[u8]| {
        let place = |at: usize| u16::from_le_bytes([body[at], body[at + 1]]);
        let found = sets.iter().position(|set| *set == (place(0), place(4)));
        found.expect("two different coordinates, rising") as i64
    };
    let x = || vec![UNIT, -UNIT, 0, 5];
    let verdict = judged(&piecewise, x, &token(4), &[1.0 / 6.0; 6], set);
    assert!(!verdict.is_refused(), "{verdict:?}");
}

#[test]
fn what_no_input_gives_is_not_added() {
    fn refused<M: LocalMechanism>(mechanism: &M, bodies: &[&[u8]]) {
        let mut sums = vec![0; mechanism.sums()];
        for body in bodies {
            assert!(!mechanism.add(&token(1), body, &mut sums), "{body:?}");
        }
        let fine = vec![0; mechanism.body_bytes()];
        assert!(!mechanism.add(&token(1), &fine, &mut vec![0; mechanism.sums() + 1]));
        assert_eq!(sums, vec![0; mechanism.sums()]);
        assert_eq!(mechanism.means(&sums, 0).iter().sum::<f64>(), 0.0);
    }
    let closest = KClosest::new(eps(1.0), 3, 200).expect("a mechanism");
    refused(&closest, &[&[], &[200], &[0, 0], &[255]]);
    let closest = KClosest::new(eps(1.0), 3, 300).expect("a mechanism");
    refused(&closest, &[&[0], &[44, 1], &[0, 0, 0]]);
    let piecewise = SampledPiecewise::sampling(eps(5.0), 3, 2).expect("a mechanism");
    let pair = |place: u16, output: u16| [place.to_le_bytes(), output.to_le_bytes()].concat();
    let highest = piecewise.law(0).len() as u16;
    for (one, other) in [
        (pair(0, 0), pair(0, 0)),
        (pair(1, 0), pair(0, 0)),
        (pair(0, 0), pair(3, 0)),
        (pair(0, highest), pair(1, 0)),
        (pair(0, 0), Vec::new()),
    ] {
        refused(&piecewise, &[&[one, other].concat()]);
    }
    refused(
        &Signs::new(eps(1.0), 11).expect("a mechanism"),
        &[&[0], &[0, 8], &[0, 0, 0]],
    );
    for code in codes() {
        let oracle = FrequencyOracle::new(eps(1.0), 11, code).expect("an oracle");
        refused(&oracle, &[&[0], &[0, 16], &[0, 0, 0]]);
    }
}

#[test]
fn what_is_not_supported_is_refused() {
    let refused = |error: Option<Error>| assert!(matches!(error, Some(Error::Parameter(_))), "{error:?}");
    for epsilon in [Epsilon::ZERO, eps(16.000000001)] {
        refused(KClosest::new(epsilon, 5, 64).err());
        refused(SampledPiecewise::new(epsilon, 5).err());
        refused(Signs::new(epsilon, 5).err());
        refused(FrequencyOracle::least_variance(epsilon, 5).err());
    }
    for (dimension, codewords) in [(1, 64), (1025, 64), (5, 1), (5, 1025)] {
        refused(KClosest::new(eps(1.0), dimension, codewords).err());
    }
    refused(SampledPiecewise::new(eps(1.0), 0).err());
    refused(SampledPiecewise::sampling(eps(1.0), 50, 17).err());
    // A fifth of the least ε does not show in weights of 32 digits.
    refused(SampledPiecewise::sampling(Epsilon::from_billionths(1), 50, 5).err());
    refused(Signs::new(eps(1.0), 513).err());
    refused(FrequencyOracle::new(eps(1.0), 513, FrequencyCode::Unary).err());
    refused(FrequencyOracle::new(eps(1.0), 1, FrequencyCode::Response).err());
    // The ends of what is supported draw, too.
    let mut random = Randomness::seeded(2);
    let least = Epsilon::from_billionths(1);
    for (epsilon, sampled) in [(least, 4), (eps(16.0), 16)] {
        let closest = KClosest::new(epsilon, 1024, 1024).expect("a mechanism");
        let body = closest.draw(
            &token(1),
            Private::new(vec![i32::MIN; 1024]),
            Paid::receipt(),
            &mut random,
        );
        assert_eq!(body.len(), 2);
        let piecewise = SampledPiecewise::sampling(epsilon, 65_535, sampled).expect("a mechanism");
        let body = piecewise.draw(
            &token(1),
            Private::new(vec![i32::MAX]),
            Paid::receipt(),
            &mut random,
        );
        assert!(piecewise.add(&token(1), &body, &mut vec![0; 65_535]));
        let signs = Signs::new(epsilon, 512).expect("a mechanism");
        assert!(signs.variance(UNIT).is_finite());
        let body = signs.draw(
            &token(1),
            Private::new(vec![0; 600]),
            Paid::receipt(),
            &mut random,
        );
        assert!(signs.add(&token(1), &body, &mut [0; 512]));
        for code in [FrequencyCode::Response, FrequencyCode::Hadamard] {
            let oracle = FrequencyOracle::new(epsilon, 65_535, code).expect("an oracle");
            let body = oracle.draw(&token(1), Private::new(usize::MAX), Paid::receipt(), &mut random);
            assert!(oracle.add(&token(1), &body, &mut vec![0; oracle.sums()]));
        }
    }
}

/// Randomised response up to somewhat fewer than 3e^ε + 2 categories, since the true category counts, too; then unary codes, and Hadamard response where these have no room.
#[test]
fn the_code_that_varies_least_is_chosen() {
    for (epsilon, categories, code) in [
        (1.0, 9, FrequencyCode::Response),
        (1.0, 12, FrequencyCode::Unary),
        (3.0, 45, FrequencyCode::Response),
        (3.0, 65, FrequencyCode::Unary),
        (1.0, 513, FrequencyCode::Hadamard),
        (9.0, 600, FrequencyCode::Response),
    ] {
        let (oracle, reason) = FrequencyOracle::least_variance(eps(epsilon), categories).expect("an oracle");
        assert_eq!(oracle.code(), code, "{reason}");
        assert!(reason.starts_with(&code.to_string()), "{reason}");
        for other in codes()
            .into_iter()
            .filter_map(|c| FrequencyOracle::new(eps(epsilon), categories, c).ok())
        {
            assert!(oracle.variance() <= other.variance());
            assert!(
                reason.contains(&format!("{}: {:.4}", other.code(), other.variance())),
                "{reason}"
            );
        }
    }
}
