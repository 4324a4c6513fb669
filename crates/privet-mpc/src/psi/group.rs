//! Points of ristretto255: ids hashed to them, masked, and masked again.
//!
//! All points are sent as the encodings of their doubles: a batch of doubles shares one inversion, where an encoding by itself
//! costs an inverse square root. Both sides double at every masking, so the doubly masked points still agree.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use rayon::prelude::*;
use sha2::{Digest, Sha512};
use zeroize::Zeroizing;

use super::message::Seal;
use super::{Ids, Key, Role, Run};
use crate::Error;

/// A point as it is sent: its canonical encoding (RFC 9496).
pub(super) type Encoding = [u8; 32];

/// What is compared: the first half of a doubly masked point's encoding. Among 2²⁵ ids a side, two of different ids agree
/// with probability below 2⁻⁷⁶.
pub(super) type Tag = u128;

/// The domain separator of the hash, so that points of other protocols cannot be used here.
const DOMAIN: &[u8] = b"privet-psi-v1-with-ristretto255_XMD:SHA-512_R255MAP_RO_";

/// Points that share an inversion, and the piece of work a thread takes.
const BATCH: usize = 256;

/// The exponent of one party in one run. Wiped when it goes.
pub(super) struct Secret(Zeroizing<Scalar>);

impl Secret {
    /// The exponent of a key for one list of ids, in one place of one exchange: as good as drawn, by a random oracle.
    pub(super) fn derive(key: &Key, run: &Run, role: Role, ids: &Ids, before: Seal) -> Self {
        let mut hash = Sha512::new_with_prefix(b"privet-psi-v1-exponent");
        hash.update([role as u8]);
        hash.update(run.id);
        hash.update(key.expose());
        hash.update(ids.digest);
        hash.update(before.as_bytes());
        let wide = Zeroizing::new(<[u8; 64]>::from(hash.finalize()));
        Self(Zeroizing::new(Scalar::from_bytes_mod_order_wide(&wide)))
    }

    /// By reference: what is not copied need not be wiped.
    fn times(&self, point: RistrettoPoint) -> RistrettoPoint {
        let exponent: &Scalar = &self.0;
        point * exponent
    }

    /// The masked point of every id, in the order of rows.
    fn mask(&self, ids: &Ids) -> Vec<Encoding> {
        let hash = HashToGroup::new(DOMAIN);
        let batches = ids.len().div_ceil(BATCH);
        let masked = (0..batches).into_par_iter().flat_map_iter(|batch| {
            let rows = batch * BATCH..ids.len().min((batch + 1) * BATCH);
            let points: Vec<_> = rows.map(|row| self.times(hash.point(ids.get(row)))).collect();
            RistrettoPoint::double_and_compress_batch(&points)
        });
        masked.map(|point| point.to_bytes()).collect()
    }

    /// The masked points in ascending order, and the row of each.
    pub(super) fn mask_sorted(&self, ids: &Ids) -> (Vec<Encoding>, Vec<u32>) {
        // Rows fit in 32 bits: there are at most MOST_IDS.
        let mut points: Vec<(Encoding, u32)> = self.mask(ids).into_iter().zip(0..).collect();
        points.par_sort_unstable();
        points.into_iter().unzip()
    }

    /// The tags of a peer's masked points, in their order.
    ///
    /// # Errors
    /// [`Error::Peer`] for a point that is not one, or is the identity, whose multiples are all alike.
    pub(super) fn mask_again(&self, whose: Role, points: &[Encoding]) -> Result<Vec<Tag>, Error> {
        let tags: Result<Vec<Vec<Tag>>, Error> = points
            .par_chunks(BATCH)
            .map(|batch| {
                let points: Result<Vec<_>, Error> = batch
                    .iter()
                    .map(|encoding| Ok(self.times(decode(whose, encoding)?)))
                    .collect();
                let doubled = RistrettoPoint::double_and_compress_batch(&points?);
                Ok(doubled.iter().map(|point| tag(point.as_bytes())).collect())
            })
            .collect();
        Ok(tags?.concat())
    }
}

fn decode(whose: Role, encoding: &Encoding) -> Result<RistrettoPoint, Error> {
    let point = CompressedRistretto(*encoding)
        .decompress()
        .ok_or_else(|| Error::peer(format!("{whose} sent a point that is not in the group")))?;
    if point.is_identity() {
        return Err(Error::peer(format!("{whose} sent the identity as a masked id")));
    }
    Ok(point)
}

fn tag(encoding: &Encoding) -> Tag {
    let (half, _) = encoding.split_at(16);
    // Unwrap safety: half of 32 bytes is 16 bytes.
    Tag::from_le_bytes(half.try_into().expect("16 bytes"))
}

/// RFC 9380: `expand_message_xmd` with SHA-512 to 64 bytes, then the map to ristretto255 (its appendix B, and RFC 9496).
struct HashToGroup {
    padded: Sha512,
    domain: Vec<u8>,
}

impl HashToGroup {
    fn new(domain: &[u8]) -> Self {
        // Unwrap safety: the domain is a constant of this file, or of its tests.
        let length = u8::try_from(domain.len()).expect("at most 255 bytes");
        Self {
            // A block of zeros, hashed once for all ids.
            padded: Sha512::new_with_prefix([0; 128]),
            domain: [domain, &[length]].concat(),
        }
    }

    fn point(&self, message: &[u8]) -> RistrettoPoint {
        const LENGTH: [u8; 2] = 64_u16.to_be_bytes();
        let first = self.padded.clone().chain_update(message).chain_update(LENGTH);
        let first = first.chain_update([0]).chain_update(&self.domain).finalize();
        let uniform = Sha512::new_with_prefix(first)
            .chain_update([1])
            .chain_update(&self.domain);
        RistrettoPoint::from_uniform_bytes(&uniform.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        let bytes: Vec<u8> = (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex"))
            .collect();
        bytes.try_into().expect("as long as said")
    }

    fn secret(key: u8) -> Secret {
        let (key, run) = (Key::new(&[key; 32]), Run::new([3; 32]));
        let ids = Ids::new(["ann"]).expect("ids");
        Secret::derive(&key, &run, Role::LabelHolder, &ids, Seal::NONE)
    }

    #[test]
    fn the_order_of_a_list_tells_nothing_about_rows() {
        let secret = secret(1);
        let mut ids: Vec<String> = (0..700).map(|row| row.to_string()).collect();
        let (points, rows) = secret.mask_sorted(&Ids::new(&ids).expect("ids"));
        ids.reverse();
        let (turned, other) = secret.mask_sorted(&Ids::new(&ids).expect("ids"));
        assert_eq!(points, turned);
        assert!(rows.iter().zip(other).all(|(row, other)| row + other == 699));
    }

    /// RFC 9497, appendix A.1.1: `BlindedElement` is `Blind` times `HashToGroup(Input)`, `EvaluationElement` that times `skSm`.
    #[test]
    fn ids_are_hashed_by_the_standard() {
        let hash = HashToGroup::new(b"HashToGroup-OPRFV1-\0-ristretto255-SHA512");
        let scalar = |text| Scalar::from_canonical_bytes(hex(text)).expect("canonical");
        let blind = scalar("64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706");
        let key = scalar("5ebcea5ee37023ccb9fc2d2019f9d7737be85591ae8652ffa9ef0f4d37063b0e");
        let rows: [(&[u8], &str, &str); 2] = [
            (
                &[0],
                "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c",
                "7ec6578ae5120958eb2db1745758ff379e77cb64fe77b0b2d8cc917ea0869c7e",
            ),
            (
                &[0x5a; 17],
                "da27ef466870f5f15296299850aa088629945a17d1f5b7f5ff043f76b3c06418",
                "b4cbf5a4f1eeda5a63ce7b77c7d23f461db3fcab0dd28e4e17cecb5c90d02c25",
            ),
        ];
        for (input, blinded, evaluated) in rows {
            let point = hash.point(input) * blind;
            assert_eq!(point.compress().to_bytes(), hex(blinded));
            assert_eq!((point * key).compress().to_bytes(), hex(evaluated));
        }
    }

    #[test]
    fn masks_commute_over_any_number_of_batches() {
        let (one, other) = (secret(1), secret(2));
        for rows in [0, 1, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH + 7] {
            let ids = Ids::new((0..rows).map(|row| row.to_string())).expect("ids");
            let there = other
                .mask_again(Role::LabelHolder, &one.mask(&ids))
                .expect("points");
            let back = one
                .mask_again(Role::LabelHolder, &other.mask(&ids))
                .expect("points");
            assert_eq!(there.len(), rows);
            assert_eq!(there, back);
        }
    }

    #[test]
    fn what_is_no_point_is_refused() {
        let secret = secret(1);
        let good = secret.mask(&Ids::new(["ann"]).expect("ids"))[0];
        let refused = |bad: Encoding| {
            let error = secret
                .mask_again(Role::FeatureHolder, &[good, bad])
                .expect_err("no point");
            error.to_string()
        };
        assert!(secret.mask_again(Role::FeatureHolder, &[good, good]).is_ok());
        assert!(refused([0; 32]).contains("the identity"));
        // RFC 9496, appendix A.2: some of every sort.
        for bad in [
            // At or above p.
            "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "f3ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            // Negative.
            "0100000000000000000000000000000000000000000000000000000000000000",
            "01ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "ed57ffd8c914fb201471d1c3d245ce3c746fcbe63a3679d51b6a516ebebe0e20",
            // No square.
            "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
            "4eac077a713c57b4f4397629a4145982c661f48044dd3f96427d40b147d9742f",
            // A negative xy.
            "3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e",
            "a45fdc55c76448c049a1ab33f17023edfb2be3581e9c7aade8a6125215e04220",
            // y = 0.
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ] {
            assert!(refused(hex(bad)).contains("not in the group"), "{bad}");
        }
        // Every other number below p is negative, hence an encoding of nothing.
        let mut negative = good;
        negative[0] ^= 1;
        assert!(refused(negative).contains("not in the group"));
    }
}
