//! The feature holder: answers an offer, and receives which of its rows are common.

use super::group::Secret;
use super::message::{Kind, Reader, Seal, Writer};
use super::{Ids, Key, Role, Run};
use crate::Error;

/// A feature holder that has answered. Its exponent is gone already.
pub struct ExpectCommon {
    run: Run,
    /// Own rows in the order in which their points were sent.
    sent: Vec<u32>,
    /// How many ids the label holder has.
    offered: usize,
    pub(super) seal: Seal,
}

/// That an offer is one of this run, by its first bytes: kind, version, run, and no more ids than the run allows. Asked before anything is
/// written down or computed for its sake; [`answer`] looks at the rest.
///
/// # Errors
/// [`Error::Peer`] if it is not.
pub fn check_offer(run: &Run, offer: &[u8]) -> Result<(), Error> {
    Reader::head(Kind::Offer, run, run.most, offer).map(drop)
}

/// Answers an offer with one's own masked ids, and with the offer's points masked again.
///
/// # Errors
/// [`Error::TooManyIds`] if one's own are more than the run allows; [`Error::Peer`] if the offer is invalid, has more, or is of another
/// run.
pub fn answer(key: &Key, run: Run, ids: &Ids, offer: &[u8]) -> Result<(ExpectCommon, Vec<u8>), Error> {
    run.check(ids)?;
    let (mut body, seal) = Reader::open(Kind::Offer, &run, run.most, Seal::NONE, offer)?;
    let offered = body.points(&run)?;
    body.end()?;

    let secret = Secret::derive(key, &run, Role::FeatureHolder, ids, seal);
    let tags = secret.mask_again(Role::LabelHolder, offered)?;
    let (points, sent) = secret.mask_sorted(ids);
    let message = Writer::new(Kind::Answer, &run)
        .list(points.into_iter())
        .list(tags.iter().map(|tag| tag.to_le_bytes()));
    let (message, seal) = message.seal(seal);
    let state = ExpectCommon {
        run,
        sent,
        offered: offered.len(),
        seal,
    };
    Ok((state, message))
}

impl ExpectCommon {
    /// The most bytes of the message that is expected: it names no row twice.
    pub fn most_bytes(&self) -> u64 {
        4 * self.offered.min(self.sent.len()) as u64 + 1024
    }

    /// The state as bytes, to be kept where nobody else reads until the run is over: it tells which points are of which rows.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.run.id.to_vec();
        bytes.extend((self.run.most as u64).to_le_bytes());
        bytes.extend((self.offered as u64).to_le_bytes());
        bytes.extend(self.seal.as_bytes());
        bytes.extend(self.sent.iter().flat_map(|row| row.to_le_bytes()));
        bytes
    }

    /// The state of these bytes; none if they are not those of a state.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (id, rest) = bytes.split_first_chunk()?;
        let (most, rest) = rest.split_first_chunk()?;
        let (offered, rest) = rest.split_first_chunk()?;
        let (seal, rest) = rest.split_first_chunk()?;
        let (rows, over) = rest.as_chunks();
        let number = |bytes: &[u8; 8]| usize::try_from(u64::from_le_bytes(*bytes)).ok();
        over.is_empty().then_some(Self {
            run: Run::new(*id).with_at_most(number(most)?),
            offered: number(offered)?,
            seal: Seal::from_bytes(*seal),
            sent: rows.iter().map(|row| u32::from_le_bytes(*row)).collect(),
        })
    }

    /// The common rows among one's own, in the common order.
    ///
    /// # Errors
    /// [`Error::Peer`] if the message is invalid, or names rows that do not exist.
    pub fn receive(self, common: &[u8]) -> Result<Vec<usize>, Error> {
        let most = self.offered.min(self.sent.len());
        let (mut body, _) = Reader::open(Kind::Common, &self.run, most, self.seal, common)?;
        let places = body.list(most)?;
        body.end()?;
        let mut rows = Vec::with_capacity(places.len());
        let mut seen = vec![false; self.sent.len()];
        for place in places {
            let place = u32::from_le_bytes(*place) as usize;
            match seen.get_mut(place) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return Err(Kind::Common.error("a row stands in it twice")),
                None => return Err(Kind::Common.error("a row that does not exist stands in it")),
            }
            rows.push(self.sent[place] as usize);
        }
        Ok(rows)
    }
}
