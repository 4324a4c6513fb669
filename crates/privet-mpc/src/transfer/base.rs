//! The 128 base transfers: Chou and Orlandi (2015) on ristretto255. As in [`crate::psi`], points are sent as encodings of their doubles.

use std::hint::black_box;

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use sha2::{Digest, Sha512};
use zeroize::Zeroizing;

use super::{COLUMNS, ReceiverKeys, SenderKeys};
use crate::Error;
use crate::garble::message::{self, Exchange, Kind, derive, first};
use crate::garble::{GarbleMessageFault, Seed};

/// An evaluator that has made its offer.
pub struct ExpectAnswer {
    start: Exchange,
    secret: Zeroizing<Scalar>,
    point: RistrettoPoint,
    offer: [u8; 32],
}

/// The evaluator's offer, once for each run. `agreement` is the digest of what both agreed on.
pub fn offer(agreement: &[u8; 32], seed: Seed) -> (ExpectAnswer, Vec<u8>) {
    let start = start(agreement);
    let secret = scalar(&seed, &start, "offer", 0, &[]);
    let point = RistrettoPoint::mul_base(&secret);
    let offer = point.compress().to_bytes();
    let mut message = message::head(Kind::Offer, 0, 0, &start, offer.len());
    message.extend(offer);
    let state = ExpectAnswer {
        start,
        secret,
        point,
        offer,
    };
    (state, message)
}

/// The garbler's answer.
///
/// # Errors
/// [`Error::Garble`] if the offer is invalid, or of another agreement.
pub fn answer(agreement: &[u8; 32], seed: Seed, offer: &[u8]) -> Result<(SenderKeys, Vec<u8>), Error> {
    let start = start(agreement);
    let body = message::body(Kind::Offer, 0, 0, &start, 32, offer)?;
    let offered = point(Kind::Offer, 0, body)?;
    let choices = Zeroizing::new(first::<16>(&seed.derive(
        "privet transfer 1 choices",
        &start,
        body,
    )));
    let secrets: Vec<_> = (0..COLUMNS)
        .map(|at| scalar(&seed, &start, "answer", at, body))
        .collect();

    // Both points of each choice, of which one is sent: the same work whatever is chosen.
    let both = secrets.iter().flat_map(|secret| {
        let unchosen = RistrettoPoint::mul_base(secret);
        [unchosen, unchosen + offered]
    });
    let both = Zeroizing::new(both.collect::<Vec<_>>());
    let both = Zeroizing::new(RistrettoPoint::double_and_compress_batch(&*both));
    let (pairs, _) = both.as_chunks::<2>();
    let points: Vec<[u8; 32]> = pairs
        .iter()
        .enumerate()
        .map(|(at, [zero, one])| {
            let mask = black_box(choices[at / 8] >> (at % 8) & 1).wrapping_neg();
            std::array::from_fn(|byte| {
                let (zero, one) = (zero.as_bytes()[byte], one.as_bytes()[byte]);
                zero ^ (mask & (zero ^ one))
            })
        })
        .collect();
    let run = run(&start, body, points.as_flattened());
    let shared = secrets.iter().map(|secret| offered * **secret);
    let shared = Zeroizing::new(shared.collect::<Vec<_>>());
    let shared = Zeroizing::new(RistrettoPoint::double_and_compress_batch(&*shared));
    let keys = shared.iter().enumerate();
    let keys = Zeroizing::new(keys.map(|(at, shared)| key(&run, at, shared)).collect());

    let exchange = start.and("privet transfer 1 answer", &[body]);
    let mut message = message::head(Kind::Points, 0, 0, &exchange, 32 * COLUMNS);
    message.extend(points.as_flattened());
    Ok((SenderKeys::new(run, choices, keys), message))
}

impl ExpectAnswer {
    /// Takes the garbler's answer.
    ///
    /// # Errors
    /// [`Error::Garble`] if it is invalid, or to another offer.
    pub fn receive(self, answer: &[u8]) -> Result<ReceiverKeys, Error> {
        let exchange = self.start.and("privet transfer 1 answer", &[&self.offer]);
        let body = message::body(Kind::Points, 0, 0, &exchange, 32 * COLUMNS, answer)?;
        let (points, _) = body.as_chunks::<32>();
        let points = points.iter().enumerate();
        let points = points.map(|(at, encoding)| point(Kind::Points, at, encoding));
        let points = points.collect::<Result<Vec<_>, _>>()?;
        let run = run(&self.start, &self.offer, body);
        let (secret, doubled) = (&*self.secret, self.point + self.point);
        let mut keys = Zeroizing::new(Vec::with_capacity(2 * COLUMNS));
        for (at, point) in points.into_iter().enumerate() {
            for chosen in [point, point - doubled] {
                keys.push(key(&run, at, &(chosen * secret).compress()));
            }
        }
        Ok(ReceiverKeys::new(run, keys))
    }
}

fn start(agreement: &[u8; 32]) -> Exchange {
    Exchange::from_bytes(derive("privet transfer 1", agreement, &[]))
}

fn run(start: &Exchange, offer: &[u8], points: &[u8]) -> Exchange {
    start.and("privet transfer 1 run", &[offer, points])
}

/// An exponent. That of an answer follows from the offer, too: another offer is never answered with the same one.
fn scalar(seed: &Seed, start: &Exchange, what: &str, at: usize, offer: &[u8]) -> Zeroizing<Scalar> {
    let mut hash = Sha512::new_with_prefix(b"privet transfer 1 exponent");
    let more = [&(at as u32).to_le_bytes()[..], offer].concat();
    hash.update(seed.derive(what, start, &more));
    let wide = Zeroizing::new(<[u8; 64]>::from(hash.finalize()));
    Zeroizing::new(Scalar::from_bytes_mod_order_wide(&wide))
}

fn key(run: &Exchange, at: usize, shared: &CompressedRistretto) -> [u8; 16] {
    first(&derive(
        "privet transfer 1 key",
        shared.as_bytes(),
        &[run.as_bytes(), &(at as u32).to_le_bytes()],
    ))
}

fn point(kind: Kind, at: usize, encoding: &[u8]) -> Result<RistrettoPoint, Error> {
    let point = CompressedRistretto::from_slice(encoding).ok();
    point
        .and_then(|encoding| encoding.decompress())
        .filter(|point| !point.is_identity())
        .ok_or_else(|| kind.wrong(GarbleMessageFault::Point { at }))
}
