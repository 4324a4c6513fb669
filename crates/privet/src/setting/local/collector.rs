//! Counts the messages to a campaign: each token once, in the order in which messages come.

use rayon::prelude::*;

use super::campaign::Campaign;
use super::collected::{Collected, Refusal, Refused, Share};
use super::register::{Hash, Hashed, Register};
use super::submission::BadSubmission;
use crate::Error;
use crate::privacy::mechanism::local::Token;

/// Messages that are looked at together, for each register.
const BLOCK: usize = 1024;
/// Messages that are added together.
const TOGETHER: usize = 64;

/// Collects messages to one campaign. It opens no file: whoever calls it keeps what it gives.
///
/// Which message counts does not depend on how many registers there are, nor on how messages are cut into blocks: of those with the same
/// token the first one does, and sums are exact.
pub struct Collector<'a> {
    campaign: &'a Campaign,
    share: Share,
    collected: Collected,
    hash: Hash,
    parts: Vec<Part>,
    most: u64,
    adds: bool,
}

/// The tokens whose hashes lie in one part of the numbers, and sums of their messages.
struct Part {
    register: Register,
    sums: Vec<i64>,
    tokens: Vec<u8>,
    tokens_sum: u64,
    replays: u64,
}

/// A block of messages as they were received, and their tokens.
struct Block<'a> {
    frames: &'a [u8],
    length: usize,
    tokens: Vec<Hashed>,
    parts: usize,
    adds: bool,
}

impl<'a> Collector<'a> {
    /// For at most about `most` messages, in so many registers: as many as threads are to work.
    ///
    /// # Errors
    /// [`Error::Data`] if `before` is of another campaign, or is of several shares; [`Error::Randomness`].
    pub fn new(campaign: &'a Campaign, before: Collected, most: u64, parts: usize) -> Result<Self, Error> {
        before.check(campaign)?;
        let [share] = *before.shares() else {
            return Err(Error::data(
                "it was merged from several shares: a collection of one share can be continued, not this",
            ));
        };
        let parts = parts.max(1);
        let each = usize::try_from(most)
            .unwrap_or(usize::MAX / 200)
            .min(usize::MAX / 200);
        // Hashes fall into equal parts up to a few standard deviations.
        let each = match parts {
            1 => each,
            parts => each / parts + 8 * (each / parts).isqrt() + 1,
        };
        let part = || Part {
            register: Register::new(each, 2 * BLOCK * parts),
            sums: vec![0; campaign.sums()],
            tokens: Vec::new(),
            tokens_sum: 0,
            replays: 0,
        };
        Ok(Self {
            campaign,
            share,
            collected: before,
            hash: Hash::new()?,
            parts: (0..parts).map(|_| part()).collect(),
            most,
            adds: true,
        })
    }

    /// The same, which registers tokens and adds nothing: the measure that adding is compared with.
    #[doc(hidden)]
    #[must_use]
    pub fn registering_only(mut self) -> Self {
        self.adds = false;
        self
    }

    /// Notes tokens that were counted before, 16 bytes each. False if one of them was noted already, is zero, or there is no room.
    #[must_use]
    pub fn note(&mut self, tokens: &[u8]) -> bool {
        let parts = self.parts.len();
        for token in tokens.as_chunks::<16>().0 {
            let token = u128::from_le_bytes(*token);
            let hashed = Hashed {
                token,
                hash: self.hash.of(token),
            };
            let is_full = self.tokens() >= self.most;
            let part = &mut self.parts[part_of(hashed.hash, parts)];
            if token == 0 || is_full || !part.register.insert(hashed) {
                return false;
            }
        }
        true
    }

    /// What was collected so far.
    pub fn collected(&self) -> &Collected {
        &self.collected
    }

    /// The same, to note which files were read.
    pub fn collected_mut(&mut self) -> &mut Collected {
        &mut self.collected
    }

    /// Tokens in all registers.
    pub fn tokens(&self) -> u64 {
        self.parts.iter().map(|part| part.register.tokens() as u64).sum()
    }

    /// Memory of all registers, in bytes.
    pub fn register_bytes(&self) -> usize {
        self.parts.iter().map(|part| part.register.bytes()).sum()
    }

    /// Counts the messages in `frames`, each as long as the campaign says. Gives the bytes that were counted (all of them, unless there
    /// is no room for more tokens), and appends the tokens of the messages that counted to `tokens`, 16 bytes each.
    pub fn fold(&mut self, frames: &[u8], tokens: &mut Vec<u8>) -> usize {
        let length = self.campaign.submission_bytes();
        let mut done = 0;
        for frames in frames.chunks(length * BLOCK * self.parts.len()) {
            if self.tokens() >= self.most || frames.len() < length {
                break;
            }
            let frames = &frames[..frames.len() / length * length];
            self.fold_block(frames, length);
            done += frames.len();
        }
        for part in &mut self.parts {
            tokens.append(&mut part.tokens);
            let sums = self.collected.sums.iter_mut().zip(&mut part.sums);
            sums.for_each(|(all, own)| *all = all.wrapping_add(std::mem::take(own)));
            self.collected.tokens_sum = self
                .collected
                .tokens_sum
                .wrapping_add(std::mem::take(&mut part.tokens_sum));
        }
        done
    }

    /// Counts bytes that are too few for a message.
    pub fn refuse_rest(&mut self) {
        self.collected.refused.count(Refusal::Bad(BadSubmission::Length));
    }

    fn fold_block(&mut self, frames: &[u8], length: usize) {
        let parts = self.parts.len();
        let mut block = Block {
            frames,
            length,
            tokens: vec![Hashed { token: 0, hash: 0 }; frames.len() / length],
            parts,
            adds: self.adds,
        };
        let (campaign, share, hash) = (self.campaign, self.share, self.hash);
        let read =
            |frames: &[u8], tokens: &mut [Hashed]| read(campaign, share, hash, (frames, length), tokens);
        let refused = match parts {
            1 => read(frames, &mut block.tokens),
            _ => {
                let frames = frames.par_chunks(length * BLOCK);
                let each = frames.zip(block.tokens.par_chunks_mut(BLOCK));
                let refused = each.map(|(frames, tokens)| read(frames, tokens));
                refused.reduce(Refused::default, |mut all, other| {
                    all.add(&other);
                    all
                })
            }
        };
        match &mut self.parts[..] {
            [part] => part.count(0, &block, campaign),
            parts => {
                let parts = parts.par_iter_mut().enumerate();
                parts.for_each(|(number, part)| part.count(number, &block, campaign));
            }
        }
        self.collected.refused.add(&refused);
        let replays: u64 = self
            .parts
            .iter_mut()
            .map(|part| std::mem::take(&mut part.replays))
            .sum();
        self.collected.refused.count_many(Refusal::Replay, replays);
        let refused = refused.all() + replays;
        self.collected.messages += block.tokens.len() as u64 - refused;
    }
}

/// The part that a hash lies in.
fn part_of(hash: u64, parts: usize) -> usize {
    ((u128::from(hash) * parts as u128) >> 64) as usize
}

/// The tokens of messages that can be counted; zero for those that are refused.
fn read(
    campaign: &Campaign,
    share: Share,
    hash: Hash,
    (frames, length): (&[u8], usize),
    tokens: &mut [Hashed],
) -> Refused {
    let mut refused = Refused::default();
    for (frame, hashed) in frames.chunks_exact(length).zip(tokens) {
        let why = match campaign.check_frame(frame) {
            Ok(token) => {
                let token = u128::from_le_bytes(token.bytes());
                if share.has(token) {
                    *hashed = Hashed {
                        token,
                        hash: hash.of(token),
                    };
                    continue;
                }
                Refusal::OtherShare
            }
            Err(why) => Refusal::Bad(why),
        };
        refused.count(why);
    }
    refused
}

impl Part {
    /// Counts the messages of a block whose tokens lie in this part.
    fn count(&mut self, number: usize, block: &Block<'_>, campaign: &Campaign) {
        let is_own = |hashed: &Hashed| {
            hashed.token != 0 && (block.parts == 1 || part_of(hashed.hash, block.parts) == number)
        };
        let mut own: Vec<Hashed> = Vec::with_capacity(TOGETHER);
        let mut places: Vec<usize> = Vec::with_capacity(TOGETHER);
        let mut messages: Vec<(Token, &[u8])> = Vec::with_capacity(TOGETHER);
        for (first, tokens) in block.tokens.chunks(TOGETHER).enumerate() {
            own.clear();
            places.clear();
            for (place, hashed) in tokens.iter().enumerate().filter(|(_, hashed)| is_own(hashed)) {
                own.push(*hashed);
                places.push(first * TOGETHER + place);
            }
            self.register.fetch(&own);
            messages.clear();
            for (hashed, place) in own.iter().zip(&places) {
                if !self.register.insert(*hashed) {
                    self.replays += 1;
                    continue;
                }
                let token = hashed.token.to_le_bytes();
                self.tokens.extend(token);
                self.tokens_sum = self.tokens_sum.wrapping_add(Collected::sum_of_token(token));
                let frame = &block.frames[place * block.length..][..block.length];
                if let (Some(token), Some(body)) = (Token::from_bytes(token), campaign.body(frame)) {
                    messages.push((token, body));
                }
            }
            if block.adds {
                campaign.add_all(&messages, &mut self.sums);
            }
        }
    }
}

#[cfg(test)]
mod tests;
