//! Double masks, for comparison only: an owner adds to its vector a mask for each other owner, which cancels in the sum, and one of its own,
//! whose seed it shares with all. Keys between owners are drawn once; masks of a round follow from them and the round.
//!
//! The miner adds the masked vectors of survivors, is given the shares of their seeds, and the masks that survivors had with those who are gone.

use aes::Aes128Enc;
use aes::cipher::BlockCipherEncrypt;
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes128Gcm, KeyInit};

use super::{Line, Measured, NUMBERS, numbers, plain, timed};

const MODULUS: u64 = (1 << 61) - 1;
/// A seed of 128 bits takes three elements of 61.
const SEED: usize = 3;
const ENVELOPE: usize = 8 * SEED + 16;

type Vector = [u64; NUMBERS];

fn reduce(number: u128) -> u64 {
    let once = (number & u128::from(MODULUS)) + (number >> 61);
    let twice = (once as u64 & MODULUS) + (once >> 61) as u64;
    if twice >= MODULUS { twice - MODULUS } else { twice }
}

fn product(a: u64, b: u64) -> u64 {
    reduce(u128::from(a).wrapping_mul(u128::from(b)))
}

fn dot(a: &[u64], b: &[u64]) -> u64 {
    let blocks = a.chunks(32).zip(b.chunks(32));
    blocks.fold(0, |sum, (a, b)| {
        let pairs = a.iter().zip(b);
        let products = pairs.map(|(a, b)| u128::from(*a).wrapping_mul(u128::from(*b)));
        reduce(u128::from(sum) + u128::from(reduce(products.fold(0, u128::wrapping_add))))
    })
}

fn power(base: u64, mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(result, square);
        }
        square = product(square, square);
        exponent >>= 1;
    }
    result
}

/// The factors of values at these points for the value at 0.
fn at_zero(points: &[u64]) -> Vec<u64> {
    let factor = |point: &u64| {
        let others = points.iter().filter(|other| *other != point);
        let (mut above, mut below) = (1, 1);
        for other in others {
            above = product(above, *other);
            below = product(below, (other + MODULUS - point) % MODULUS);
        }
        product(above, power(below, MODULUS - 2))
    };
    points.iter().map(factor).collect()
}

/// Random words: AES in counter mode.
fn expand(cipher: &Aes128Enc, round: u32) -> Vector {
    let mut blocks: [aes::Block; NUMBERS / 2] = std::array::from_fn(|at| {
        let mut block = [0; 16];
        block[..4].copy_from_slice(&round.to_le_bytes());
        block[8] = at as u8;
        block.into()
    });
    cipher.encrypt_blocks(&mut blocks);
    std::array::from_fn(|at| {
        let half = &blocks[at / 2][8 * (at % 2)..][..8];
        u64::from_le_bytes(half.try_into().unwrap())
    })
}

fn own_mask(seed: [u64; SEED]) -> Vector {
    let mut key = [0; 16];
    // 61 + 61 bits and 6 of the third.
    let wide = u128::from(seed[0]) | u128::from(seed[1]) << 61 | u128::from(seed[2]) << 122;
    key.copy_from_slice(&wide.to_le_bytes());
    expand(&Aes128Enc::new(&key.into()), 0)
}

fn nonce(round: u32) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..8].copy_from_slice(&round.to_le_bytes());
    nonce
}

/// A random number generator that costs next to nothing: this is no product code, and what is measured is the rest.
struct Cheap(u64);

impl Cheap {
    fn key(&mut self) -> [u8; 16] {
        let mut key = [0; 16];
        key[..8].copy_from_slice(&self.word().to_le_bytes());
        key[8..].copy_from_slice(&self.word().to_le_bytes());
        key
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 ^ self.0 >> 33
    }
}

pub(super) fn measure(owners: usize, absent: usize, colluding: usize, rounds: usize) -> Measured {
    let required = (owners + colluding) / 2 + 1;
    let mut random = Cheap(owners as u64);
    // For each ordered pair the key of envelopes, and for each pair that of masks.
    let sealing: Vec<Aes128Gcm> = (0..owners * owners)
        .map(|_| Aes128Gcm::new(&random.key().into()))
        .collect();
    let masks: Vec<Aes128Enc> = (0..owners * (owners - 1) / 2)
        .map(|_| Aes128Enc::new(&random.key().into()))
        .collect();
    let between = |one: usize, other: usize| {
        let (low, high) = (one.min(other), one.max(other));
        &masks[high * (high - 1) / 2 + low]
    };
    let powers: Vec<Vec<u64>> = (1..=owners as u64)
        .map(|point| {
            (0..required as u64)
                .map(|exponent| power(point, exponent))
                .collect()
        })
        .collect();

    let [mut share, mut mask, mut relay, mut answer, mut open] = [0.0; 5];
    let mut envelopes = vec![[0_u8; ENVELOPE]; owners * owners];
    let mut relayed = envelopes.clone();
    let mut opened = vec![[0_u64; SEED]; owners * owners];
    let mut masked = vec![[0_u64; NUMBERS]; owners];
    for round in 0..rounds as u32 {
        let seeds: Vec<[u64; SEED]> = timed(&mut share, || {
            let mut coefficients = vec![vec![0; required]; SEED];
            let seeds = (0..owners).map(|me| {
                for coefficient in coefficients.iter_mut().flatten() {
                    *coefficient = random.word() >> 4;
                }
                for other in 0..owners {
                    let shares: [u64; SEED] =
                        std::array::from_fn(|at| dot(&powers[other], &coefficients[at]));
                    if other == me {
                        opened[me * owners + me] = shares;
                        continue;
                    }
                    let (message, seal) = envelopes[me * owners + other].split_at_mut(8 * SEED);
                    for (bytes, share) in message.chunks_exact_mut(8).zip(shares) {
                        bytes.copy_from_slice(&share.to_le_bytes());
                    }
                    let tag = sealing[me * owners + other]
                        .encrypt_inout_detached(&nonce(round).into(), b"", message.into())
                        .unwrap();
                    seal.copy_from_slice(&tag);
                }
                std::array::from_fn(|at| coefficients[at][0])
            });
            seeds.collect()
        });
        timed(&mut mask, || {
            for (me, seed) in seeds.iter().enumerate() {
                let (own, numbers) = (own_mask(*seed), numbers(me, round));
                let mut vector: Vector = std::array::from_fn(|at| own[at].wrapping_add(numbers[at] as u64));
                for other in (0..owners).filter(|other| *other != me) {
                    let expanded = expand(between(me, other), round);
                    let negative = 0_u64.wrapping_sub(u64::from(other < me));
                    for (sum, x) in vector.iter_mut().zip(expanded) {
                        *sum = sum.wrapping_add((x ^ negative).wrapping_sub(negative));
                    }
                }
                masked[me] = vector;
            }
        });
        timed(&mut relay, || {
            for to in 0..owners {
                for from in 0..owners {
                    relayed[to * owners + from] = envelopes[from * owners + to];
                }
            }
        });
        let gone = |owner: usize| (owner + 7 * round as usize) % owners < absent;
        let survivors: Vec<usize> = (0..owners).filter(|owner| !gone(*owner)).collect();
        timed(&mut answer, || {
            for me in &survivors {
                for from in survivors.iter().filter(|from| *from != me) {
                    let mut envelope = relayed[me * owners + from];
                    let (message, seal) = envelope.split_at_mut(8 * SEED);
                    let seal: [u8; 16] = (*seal).try_into().unwrap();
                    sealing[from * owners + me]
                        .decrypt_inout_detached(
                            &nonce(round).into(),
                            b"",
                            (&mut *message).into(),
                            &seal.into(),
                        )
                        .unwrap();
                    opened[me * owners + from] = std::array::from_fn(|at| {
                        u64::from_le_bytes(message[8 * at..][..8].try_into().unwrap())
                    });
                }
            }
        });
        let sum = timed(&mut open, || {
            let mut sum = [0_u64; NUMBERS];
            let holders = &survivors[..required];
            let points: Vec<u64> = holders.iter().map(|holder| *holder as u64 + 1).collect();
            let factors = at_zero(&points);
            let mut shares = vec![0; required];
            for owner in &survivors {
                let seed: [u64; SEED] = std::array::from_fn(|at| {
                    for (share, holder) in shares.iter_mut().zip(holders) {
                        *share = opened[holder * owners + owner][at];
                    }
                    dot(&factors, &shares)
                });
                let own = own_mask(seed);
                for at in 0..NUMBERS {
                    sum[at] = sum[at].wrapping_add(masked[*owner][at]).wrapping_sub(own[at]);
                }
                for other in (0..owners).filter(|other| gone(*other)) {
                    let expanded = expand(between(*owner, other), round);
                    let negative = 0_u64.wrapping_sub(u64::from(other > *owner));
                    for (sum, x) in sum.iter_mut().zip(expanded) {
                        *sum = sum.wrapping_add((x ^ negative).wrapping_sub(negative));
                    }
                }
            }
            sum
        });
        for (sum, expected) in sum.iter().zip(plain(survivors.iter().copied(), round)) {
            assert_eq!(*sum, expected as u64);
        }
    }
    let others = owners - 1;
    Line {
        scheme: "double masks",
        owners,
        holders: owners,
        pieces: 1,
        required,
        rounds,
        set_up: None,
        parts: &[
            ("share", share),
            ("mask", mask),
            ("relay", relay),
            ("answer", answer),
            ("open", open),
        ],
        // Envelopes and the masked vector, then the shares of everybody's seed; what is said of absent owners is not counted.
        sent: others * ENVELOPE + 8 * NUMBERS + owners * 8 * SEED,
        received: others * ENVELOPE + owners.div_ceil(8),
    }
    .print()
}
