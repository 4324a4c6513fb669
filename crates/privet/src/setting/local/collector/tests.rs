//! Collectors beside a plain one: a set of tokens, and messages added one by one.

use std::collections::HashSet;

use super::*;
use crate::privacy::Randomness;
use crate::privacy::mechanism::local::LocalMessage;
use crate::setting::local::Message;

fn campaign(rest: &str) -> Campaign {
    let text = format!("version = 1\nname = \"steps\"\nepsilon = 5.0\n{rest}");
    Campaign::read("campaign.toml", &text).expect("a campaign")
}

fn campaigns() -> [Campaign; 5] {
    [
        "message = \"vector\"\ndimension = 50\nradius = 2.0\n",
        "message = \"vector\"\ndimension = 7\ncodewords = 1000\nradius = 2.0\n",
        "message = \"coordinates\"\ndimension = 5\nradius = 2.0\n",
        "message = \"signs\"\ndimension = 11\nradius = 2.0\n",
        "message = \"category\"\ncategories = 300\n",
    ]
    .map(campaign)
}

/// A submission that somebody made up: any token, and a body that can be drawn.
fn made_up(campaign: &Campaign, token: u128, random: &mut Randomness) -> Vec<u8> {
    let token = Token::from_bytes(token.to_le_bytes()).expect("not zero");
    let mut body = vec![0; campaign.body_bytes()];
    loop {
        random.bytes(&mut body);
        if let Message::Coordinates(_) = campaign.message() {
            // Places rise, and outputs are small.
            body = vec![1, 0, body[0], 1, 3, 0, body[1], 2];
        }
        if let Message::Signs(_) = campaign.message() {
            body[1] &= 7;
        }
        let message = LocalMessage {
            token,
            body: body.clone(),
        };
        let submission = campaign.submission(&message);
        if campaign.read_submission(&submission).is_ok() {
            return submission;
        }
    }
}

/// Messages of all sorts: new ones, tokens that come again with other bodies, damaged ones, garbage.
fn messages(campaign: &Campaign, count: usize) -> Vec<u8> {
    let mut random = Randomness::seeded(19);
    let mut frames = Vec::new();
    for i in 0..count {
        let frame = match i % 10 {
            0 => {
                let mut garbage = vec![0; campaign.submission_bytes()];
                random.bytes(&mut garbage);
                garbage
            }
            1 => {
                let mut damaged = made_up(campaign, i as u128, &mut random);
                let place = i / 10 % damaged.len();
                damaged[place] ^= 1 << (i % 8);
                damaged
            }
            2 => made_up(campaign, (7 + (i as u128 % 100)) << 60, &mut random),
            _ => {
                let token = u128::from(random.word()) << 64 | u128::from(random.word()) | 1;
                made_up(campaign, token, &mut random)
            }
        };
        frames.extend(frame);
    }
    frames
}

/// What a collector without registers, blocks and lanes finds.
fn plain(campaign: &Campaign, share: Share, frames: &[u8]) -> Collected {
    let mut all = Collected::new(campaign, share);
    let mut seen = HashSet::new();
    for frame in frames.chunks(campaign.submission_bytes()) {
        match campaign.read_submission(frame) {
            Err(why) => all.refused.count(Refusal::Bad(why)),
            Ok(message) if !share.has(u128::from_le_bytes(message.token.bytes())) => {
                all.refused.count(Refusal::OtherShare);
            }
            Ok(message) if !seen.insert(message.token) => all.refused.count(Refusal::Replay),
            Ok(message) => {
                assert!(campaign.add(&message, &mut all.sums));
                all.messages += 1;
                all.tokens_sum = all
                    .tokens_sum
                    .wrapping_add(Collected::sum_of_token(message.token.bytes()));
            }
        }
    }
    all
}

fn collect(campaign: &Campaign, share: Share, frames: &[u8], cut: usize, parts: usize) -> Collected {
    let before = Collected::new(campaign, share);
    let mut collector = Collector::new(campaign, before, 10_000, parts).expect("a collector");
    let mut tokens = Vec::new();
    for frames in frames.chunks(cut * campaign.submission_bytes()) {
        assert_eq!(collector.fold(frames, &mut tokens), frames.len());
    }
    let sum = tokens.as_chunks().0.iter().fold(0u64, |sum, token| {
        sum.wrapping_add(Collected::sum_of_token(*token))
    });
    assert_eq!(tokens.len() as u64, 16 * collector.collected().messages());
    assert_eq!(sum, collector.collected().tokens_sum());
    assert_eq!(collector.tokens(), collector.collected().messages());
    collector.collected().clone()
}

#[test]
fn blocks_and_threads_change_nothing() {
    for campaign in campaigns() {
        let frames = messages(&campaign, 3000);
        let expected = plain(&campaign, Share::ALL, &frames);
        assert!(expected.messages() > 2000 && expected.refused().of(Refusal::Replay) > 50);
        assert!(expected.sums().iter().any(|sum| *sum != 0));
        for (cut, parts) in [(3000, 1), (1, 1), (77, 1), (3000, 2), (1100, 3)] {
            assert_eq!(collect(&campaign, Share::ALL, &frames, cut, parts), expected);
        }
    }
}

/// A collection that goes on from what was kept ends as one that was never interrupted.
#[test]
fn a_collection_goes_on_from_its_tokens() {
    let [campaign, ..] = campaigns();
    let frames = messages(&campaign, 2000);
    let expected = plain(&campaign, Share::ALL, &frames);
    let (first, rest) = frames.split_at(900 * campaign.submission_bytes());
    let mut tokens = Vec::new();
    let before = Collected::new(&campaign, Share::ALL);
    let mut collector = Collector::new(&campaign, before, 10_000, 1).expect("a collector");
    collector.fold(first, &mut tokens);
    let kept = Collected::from_file("kept", &collector.collected().to_file()).expect("a file");
    let mut next = Collector::new(&campaign, kept, 10_000, 2).expect("a collector");
    assert!(next.note(&tokens));
    assert!(!next.note(&tokens[..16]), "a token is noted once");
    next.fold(rest, &mut tokens);
    assert_eq!(next.collected(), &expected);
}

#[test]
fn shares_are_merged_exactly_in_any_order_and_never_twice() {
    let [campaign, ..] = campaigns();
    let frames = messages(&campaign, 2000);
    let whole = plain(&campaign, Share::ALL, &frames);
    for of in [1, 2, 3, 7] {
        let parts: Vec<Collected> = (1..=of)
            .map(|number| {
                let share = Share::new(number, of).expect("a share");
                collect(&campaign, share, &frames, 500, 1)
            })
            .collect();
        let mut merged = parts[0].clone();
        for part in &parts[1..] {
            assert!(!merged.is_whole());
            merged = merged.merge(part).expect("different shares");
        }
        assert!(merged.is_whole());
        assert_eq!(merged.sums(), whole.sums());
        assert_eq!(merged.messages(), whole.messages());
        assert_eq!(
            merged.refused().of(Refusal::Replay),
            whole.refused().of(Refusal::Replay)
        );
        // Each message is of the share of one collector.
        let others = u64::from(of - 1) * (whole.messages() + whole.refused().of(Refusal::Replay));
        assert_eq!(merged.refused().of(Refusal::OtherShare), others);
        let backwards = parts
            .iter()
            .rev()
            .cloned()
            .reduce(|a, b| a.merge(&b).expect("shares"));
        assert_eq!(backwards.as_ref(), Some(&merged));
        for part in &parts {
            assert!(matches!(merged.merge(part), Err(Error::Data(_))));
        }
    }
    let halves = [1, 2].map(|number| Share::new(number, 2).expect("a share"));
    let third = Collected::new(&campaign, Share::new(2, 3).expect("a share"));
    for half in halves {
        assert!(
            Collected::new(&campaign, half).merge(&third).is_err(),
            "they overlap"
        );
    }
    let [_, other, ..] = campaigns();
    assert!(
        Collected::new(&campaign, halves[0])
            .merge(&Collected::new(&other, halves[1]))
            .is_err()
    );
    assert!(Share::new(0, 2).is_err() && Share::new(3, 2).is_err() && Share::new(1, 0).is_err());
}

#[test]
fn a_file_that_was_changed_is_refused() {
    let [campaign, other, ..] = campaigns();
    let mut collected = collect(&campaign, Share::ALL, &messages(&campaign, 100), 100, 1);
    collected.note(super::super::Input {
        name: "a file".into(),
        position: 3100,
        head: [7; 32],
    });
    let file = collected.to_file();
    assert_eq!(Collected::from_file("x", &file).expect("a file"), collected);
    for place in 0..file.len() {
        assert!(Collected::from_file("x", &file[..place]).is_err());
        let mut changed = file.clone();
        changed[place] ^= 1;
        assert!(matches!(Collected::from_file("x", &changed), Err(Error::Data(_))));
    }
    assert!(matches!(collected.means(&other), Err(Error::Data(_))));
    assert_eq!(collected.means(&campaign).expect("means").len(), 50);
}

/// Nothing is lost where there is no room: the messages that were not counted are still there to be counted.
#[test]
fn a_full_register_stops_and_says_where() {
    let [campaign, ..] = campaigns();
    let length = campaign.submission_bytes();
    let mut random = Randomness::seeded(3);
    let frames: Vec<u8> = (1..=5000)
        .flat_map(|i| made_up(&campaign, i, &mut random))
        .collect();
    let before = Collected::new(&campaign, Share::ALL);
    let mut collector = Collector::new(&campaign, before, 2000, 1).expect("a collector");
    let mut tokens = Vec::new();
    let done = collector.fold(&frames, &mut tokens);
    let counted = collector.collected().messages();
    assert_eq!(done as u64, counted * length as u64);
    assert!((2000..5000).contains(&counted), "{counted}");
    assert_eq!(collector.fold(&frames[done..], &mut tokens), 0);
    let kept = collector.collected().clone();
    let mut larger = Collector::new(&campaign, kept, 10_000, 1).expect("a collector");
    assert!(larger.note(&tokens));
    assert_eq!(larger.fold(&frames[done..], &mut tokens), frames.len() - done);
    assert_eq!(larger.collected(), &plain(&campaign, Share::ALL, &frames));
}

/// A million frames of garbage, and a million with one token: all are refused and counted, but for the first with its token.
#[test]
fn floods_are_refused_and_counted() {
    let [_, _, campaign, ..] = campaigns();
    let length = campaign.submission_bytes();
    let mut random = Randomness::seeded(5);
    let before = Collected::new(&campaign, Share::ALL);
    let mut collector = Collector::new(&campaign, before, 100, 2).expect("a collector");
    let mut tokens = Vec::new();
    let mut garbage = vec![0; 100_000 * length];
    for _ in 0..10 {
        random.bytes(&mut garbage);
        assert_eq!(collector.fold(&garbage, &mut tokens), garbage.len());
    }
    assert_eq!(collector.collected().messages(), 0);
    assert_eq!(collector.collected().refused().all(), 1_000_000);
    let same = made_up(&campaign, 17, &mut random).repeat(100_000);
    for _ in 0..10 {
        assert_eq!(collector.fold(&same, &mut tokens), same.len());
    }
    assert_eq!(collector.collected().messages(), 1);
    assert_eq!(collector.collected().refused().of(Refusal::Replay), 999_999);
    assert_eq!(tokens.len(), 16);
}

/// No message moves a mean by more than is stated, and some message moves one by as much.
#[test]
fn influence_is_bounded_and_attained() {
    let mut random = Randomness::seeded(8);
    for campaign in campaigns() {
        let mut largest = 0f64;
        for token in 1..=2000 {
            let submission = made_up(&campaign, token, &mut random);
            let message = campaign.read_submission(&submission).expect("a submission");
            let mut sums = vec![0; campaign.sums()];
            assert!(campaign.add(&message, &mut sums));
            let means = campaign.means(&sums, 1);
            largest = means
                .iter()
                .fold(largest, |largest, mean| largest.max(mean.abs()));
        }
        let stated = campaign.influence();
        assert!(largest <= stated * (1.0 + 1e-9), "{largest}, {stated}");
        // A codeword has its whole length in one coordinate in no codebook, but a good part of it; bodies here are small for coordinates.
        assert!(largest > 0.05 * stated, "{largest}, {stated}");
    }
}
