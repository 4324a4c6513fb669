//! The label holder: makes an offer to each feature holder, matches the answers, sends the rows common to all.

use rayon::prelude::*;

use super::group::{Secret, Tag};
use super::message::{Kind, Reader, Seal, Writer};
use super::{Ids, Key, Role, Run};
use crate::Error;

/// A label holder that has made an offer to one feature holder.
pub struct ExpectAnswer {
    run: Run,
    secret: Secret,
    ids: [u8; 32],
    /// Own rows in the order in which their points were sent.
    sent: Vec<u32>,
    pub(super) seal: Seal,
}

/// Offers one's ids, masked, to one feature holder. Each of several gets an offer of its own, with a run of its own.
///
/// # Errors
/// [`Error::TooManyIds`] if there are more than the run allows. Nothing is to be sent then.
pub fn offer(key: &Key, run: Run, ids: &Ids) -> Result<(ExpectAnswer, Vec<u8>), Error> {
    run.check(ids)?;
    let secret = Secret::derive(key, &run, Role::LabelHolder, ids, Seal::NONE);
    let (points, sent) = secret.mask_sorted(ids);
    let (message, seal) = Writer::new(Kind::Offer, &run)
        .list(points.into_iter())
        .seal(Seal::NONE);
    let state = ExpectAnswer {
        run,
        secret,
        ids: ids.digest,
        sent,
        seal,
    };
    Ok((state, message))
}

impl ExpectAnswer {
    /// What the label holder and this feature holder have in common.
    ///
    /// # Errors
    /// [`Error::Peer`] if the answer is invalid, or to another offer.
    pub fn receive(self, answer: &[u8]) -> Result<Pair, Error> {
        let (mut body, seal) = Reader::open(Kind::Answer, &self.run, self.run.most, self.seal, answer)?;
        let points = body.points(&self.run)?;
        let own = body.tags(self.sent.len())?;
        body.end()?;

        let own = by_tag(own, self.sent.iter().copied())?;
        let theirs = self.secret.mask_again(Role::FeatureHolder, points)?;
        let theirs = by_tag(theirs, 0..)?;
        Ok(Pair {
            run: self.run,
            ids: self.ids,
            rows: self.sent.len(),
            common: meet(&own, &theirs),
            seal,
        })
    }
}

/// Tags in ascending order, each with its row or place.
fn by_tag(tags: Vec<Tag>, numbers: impl Iterator<Item = u32>) -> Result<Vec<(Tag, u32)>, Error> {
    let mut tagged: Vec<(Tag, u32)> = tags.into_iter().zip(numbers).collect();
    tagged.par_sort_unstable();
    if tagged.is_sorted_by(|one, next| one.0 < next.0) {
        Ok(tagged)
    } else {
        Err(Kind::Answer.error("two of its tags are the same"))
    }
}

/// The row and the place of every tag that stands in both lists, in ascending order of tags.
fn meet(own: &[(Tag, u32)], theirs: &[(Tag, u32)]) -> Vec<Met> {
    let mut common = Vec::new();
    let mut theirs = theirs.iter().peekable();
    for &(tag, row) in own {
        while theirs.next_if(|(their, _)| *their < tag).is_some() {}
        if let Some(&(_, place)) = theirs.next_if(|(their, _)| *their == tag) {
            common.push(Met { row, place });
        }
    }
    common
}

/// A common id: the label holder's row, and the place of its point in the feature holder's list.
struct Met {
    row: u32,
    place: u32,
}

/// The rows that the label holder has in common with one feature holder, before they are sent.
pub struct Pair {
    run: Run,
    ids: [u8; 32],
    /// How many rows the label holder has.
    rows: usize,
    common: Vec<Met>,
    seal: Seal,
}

impl Pair {
    /// How many ids the two have in common.
    pub fn len(&self) -> usize {
        self.common.len()
    }

    /// Whether they have none.
    pub fn is_empty(&self) -> bool {
        self.common.is_empty()
    }
}

/// The label holder's common rows in the common order, and a message to each feature holder in the order of the pairs.
pub type Settled = (Vec<usize>, Vec<Vec<u8>>);

/// What is common to all, from the pairs with every feature holder. The first pair gives the order.
///
/// # Errors
/// [`Error::Misuse`] if there is no pair, or if pairs come of different lists of ids.
pub fn settle(pairs: Vec<Pair>) -> Result<Settled, Error> {
    let first = pairs.first().ok_or(Error::Misuse("nobody to settle with"))?;
    if pairs.iter().any(|pair| pair.ids != first.ids) {
        return Err(Error::Misuse("pairs of different lists of ids"));
    }
    let mut holders = vec![0_usize; first.rows];
    for met in pairs.iter().flat_map(|pair| &pair.common) {
        holders[met.row as usize] += 1;
    }
    let rows = first.common.iter().map(|met| met.row as usize);
    let rows: Vec<usize> = rows.filter(|row| holders[*row] == pairs.len()).collect();
    let messages = pairs.iter().map(|pair| {
        let mut places = vec![0; pair.rows];
        for met in &pair.common {
            places[met.row as usize] = met.place;
        }
        let places = rows.iter().map(|row| places[*row].to_le_bytes());
        Writer::new(Kind::Common, &pair.run)
            .list(places)
            .seal(pair.seal)
            .0
    });
    let messages = messages.collect();
    Ok((rows, messages))
}
