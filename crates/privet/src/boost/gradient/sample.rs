//! Which rows and features a round looks at, by a public seed.

use crate::privacy::Coins;

/// The coins of one round: they do not depend on how many rounds came before in the same run.
pub(super) fn coins(seed: [u8; 32], round: usize) -> Coins {
    let mut key = seed;
    for (byte, more) in key.iter_mut().zip((round as u64 + 1).to_le_bytes()) {
        *byte ^= more;
    }
    Coins::from_seed(key)
}

/// A share of the first `count` numbers, in rising order.
pub(super) fn choose(count: usize, share: f64, coins: &mut Coins) -> Vec<u32> {
    let mut wanted = ((count as f64 * share).round() as usize).clamp(usize::from(count > 0), count);
    let mut chosen = Vec::with_capacity(wanted);
    for number in 0..count {
        if coins.below((count - number) as u64) < wanted as u64 {
            chosen.push(number as u32);
            wanted -= 1;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_asked_for_each_once_in_order() {
        for (count, share, expected) in [
            (10, 0.5, 5),
            (1000, 0.25, 250),
            (3, 0.01, 1),
            (0, 0.5, 0),
            (7, 1.0, 7),
        ] {
            let chosen = choose(count, share, &mut coins([7; 32], 3));
            assert_eq!(chosen.len(), expected);
            assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(chosen.iter().all(|&number| (number as usize) < count));
        }
    }

    #[test]
    fn rounds_differ_and_repeat() {
        let draw = |round| choose(1000, 0.5, &mut coins([7; 32], round));
        assert_eq!(draw(4), draw(4));
        assert_ne!(draw(4), draw(5));
    }
}
