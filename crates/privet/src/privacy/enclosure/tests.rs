//! Enclosures hold what they enclose, also when digits are few.

use super::*;

fn ratio(n: i64, d: u64) -> Enclosure {
    Enclosure::ratio(&RBig::from_parts(n.into(), d.into()), 200)
}

/// The enclosure holds the decimal to all its digits and is narrow.
fn holds(x: &Enclosure, decimal: &str) {
    let (whole, fraction) = decimal.split_once('.').expect("a decimal point");
    let digits: IBig = format!("{whole}{fraction}").parse().expect("digits");
    let ten = IBig::from(10).pow(fraction.len());
    let unit = IBig::ONE << x.bits;
    // Decimal truncated: digits/10^k ≤ value < (digits+1)/10^k, both widened by one.
    assert!(
        &x.high * &ten >= (&digits - 1) * &unit,
        "{decimal} above the enclosure"
    );
    assert!(
        &x.low * &ten <= (&digits + 2) * &unit,
        "{decimal} below the enclosure"
    );
    assert!(
        bit_length(&(&x.high - &x.low)) < x.bits / 4,
        "the enclosure of {decimal} is too wide"
    );
}

#[test]
fn shifts_and_divisions_round_outwards() {
    for a in -20i64..20 {
        for b in 1i64..7 {
            let (f, c) = (a.div_euclid(b), -((-a).div_euclid(b)));
            assert_eq!(floor_div(&a.into(), &b.into()), f.into());
            assert_eq!(ceil_div(&a.into(), &b.into()), c.into());
        }
        assert_eq!(floor_shift(&a.into(), 2), a.div_euclid(4).into());
        assert_eq!(ceil_shift(&a.into(), 2), (-((-a).div_euclid(4))).into());
    }
}

#[test]
fn known_constants() {
    holds(&pi(200), "3.14159265358979323846264338327950288419716939937510");
    holds(
        &ratio(1, 1).exp(),
        "2.71828182845904523536028747135266249775724709369995",
    );
    holds(
        &ratio(-1, 1).exp(),
        "0.36787944117144232159552377016146086744581113103176",
    );
    holds(
        &ratio(100, 1).exp(),
        "26881171418161354484126255515800135873611118.773741922415191608",
    );
    holds(
        &ratio(2, 1).ln(),
        "0.69314718055994530941723212145817656807550013436025",
    );
    holds(
        &ratio(2, 1).sqrt(),
        "1.41421356237309504880168872420969807856967187537694",
    );
    holds(
        &ratio(1, 1).normal_cdf(),
        "0.84134474606854294858523254563203792247791296672660",
    );
    holds(
        &ratio(0, 1).normal_cdf(),
        "0.50000000000000000000000000000000000000",
    );
}

#[test]
fn functions_agree_with_their_inverses() {
    for (n, d) in [(1, 3), (7, 2), (123, 1), (1, 1000), (99, 100), (3, 4), (3, 2)] {
        let x = ratio(n, d);
        let back = x.ln().exp();
        assert!(back.low <= x.high && back.high >= x.low, "exp(ln {n}/{d})");
        let both = x.normal_cdf().add(&x.neg().normal_cdf());
        assert!(
            both.low <= IBig::ONE << 200 && both.high >= IBig::ONE << 200,
            "Φ is symmetric at {n}/{d}"
        );
    }
    let tiny = ratio(-40, 1).normal_cdf();
    assert!(tiny.low <= IBig::ONE && tiny.high >= IBig::ZERO && bit_length(&tiny.high) < 3);
    let deep = ratio(-9, 1).normal_cdf();
    holds(&deep, "0.0000000000000000001128588405953840647735502");
}

#[test]
fn small_factors_and_products_round_outwards() {
    for n in [-9i64, -1, 0, 1, 9] {
        let x = Enclosure::integer(n, 0);
        let third = x.scale(2, 3);
        assert_eq!(third.low, (2 * n).div_euclid(3).into());
        assert_eq!(third.high, (-(-2 * n).div_euclid(3)).into());
    }
    for (a, b) in [
        ((1, 3), (5, 9)),
        ((0, 3), (0, 9)),
        ((-3, 1), (5, 9)),
        ((-3, 1), (-9, 5)),
    ] {
        let product =
            Enclosure::between(a.0.into(), a.1.into(), 2).mul(&Enclosure::between(b.0.into(), b.1.into(), 2));
        let all = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
        let (low, high) = all
            .iter()
            .fold((i32::MAX, i32::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
        assert_eq!(product.low, low.div_euclid(4).into());
        assert_eq!(product.high, (-(-high).div_euclid(4)).into());
    }
}

#[test]
fn division_encloses_for_either_sign() {
    for (a, b) in [(7, 3), (-7, 3), (1, 7), (-1, 7)] {
        let quotient = ratio(a, 1).div(&ratio(b, 1));
        let whole = |end: &IBig| end * IBig::from(b);
        let exact = IBig::from(a) << quotient.bits();
        assert!(
            whole(&quotient.low) <= exact && exact <= whole(&quotient.high),
            "{a}/{b}"
        );
        assert!(&quotient.high - &quotient.low <= IBig::ONE);
    }
}

/// Whether few digits leave room for the same number at many.
fn contains(wide: &Enclosure, narrow: &Enclosure) -> bool {
    let shift = narrow.bits - wide.bits;
    &wide.low << shift <= narrow.low && narrow.high <= &wide.high << shift
}

const MANY: usize = 300;

/// With digits to spare a wrong last digit is rounded away: these are the parts that have none.
#[test]
fn series_hold_what_they_leave_out() {
    for bits in 1..=10 {
        let unit = 1u64 << bits;
        let spare = MANY - bits;
        for y in 0..=unit / 2 {
            let y = IBig::from(y);
            let many = &y << spare;
            let few = series(&(IBig::ONE << bits), [&y, &y], 1.., bits);
            let exp = series(&(IBig::ONE << MANY), [&many, &many], 1.., MANY);
            assert!(contains(&few, &exp), "exp({y}/2^{bits})");
            assert!(
                contains(&few, &Enclosure::between(many.clone(), many, MANY).exp()),
                "exp({y}/2^{bits})"
            );
        }
        for x in 0..=3 * unit {
            let x = IBig::from(x);
            let sum = |x: &IBig, bits: usize| {
                let square = x * x;
                let ends = [&floor_shift(&square, bits), &ceil_shift(&square, bits)];
                series(x, ends, (3..).step_by(2), bits)
            };
            assert!(
                contains(&sum(&x, bits), &sum(&(&x << spare), MANY)),
                "the series of Φ({x}/2^{bits})"
            );
        }
        for q in 0..=unit / 3 {
            for alternate in [false, true] {
                let at = |bits| odd_powers(&q.into(), &unit.into(), bits, alternate);
                assert!(
                    contains(&at(bits), &at(MANY)),
                    "{q}/2^{bits}, alternating: {alternate}"
                );
            }
        }
    }
}

#[test]
fn few_digits_enclose_what_many_tell() {
    type Function = fn(&Enclosure) -> Enclosure;
    let functions: [(&str, Function, bool); 6] = [
        ("exp", Enclosure::exp, true),
        ("ln", Enclosure::ln, false),
        ("Φ", Enclosure::normal_cdf, true),
        ("√", Enclosure::sqrt, false),
        ("1/x", |x| Enclosure::integer(1, x.bits).div(x), false),
        ("x²", |x| x.mul(x), true),
    ];
    for bits in (8..=24).step_by(4) {
        let unit = 1i64 << bits;
        assert!(contains(&pi(bits), &pi(MANY)), "π with {bits} digits");
        for i in -60..=60i64 {
            // Irregular digits, from -7.1 to 7.1, and whole numbers.
            for x in [i * unit / 9 + i * i * 7 % 31 + 1, i * unit / 4] {
                for (name, function, negative) in functions {
                    if x <= 0 && !negative {
                        continue;
                    }
                    let point = |x: i64, bits: usize, spare: usize| {
                        let x = IBig::from(x) << spare;
                        Enclosure::between(x.clone(), x, bits + spare)
                    };
                    let ends = [x, x + 5].map(|x| function(&point(x, bits, MANY - bits)));
                    assert!(
                        contains(&function(&point(x, bits, 0)), &ends[0]),
                        "{name} at {x}/2^{bits}"
                    );
                    if name != "x²" {
                        let both = function(&Enclosure::between(x.into(), (x + 5).into(), bits));
                        assert!(
                            ends.iter().all(|end| contains(&both, end)),
                            "{name} from {x}/2^{bits} on"
                        );
                    }
                }
            }
        }
    }
}
