//! Owners that deal shares and hold none: they are asked nothing, and whoever is absent, holder or not, sums go on.

use std::collections::BTreeSet;

use privet::Error;
use privet::party::PartyId;
use privet::setting::horizontal::{MINER, Message};

use super::drops::aggregated;
use super::net::Net;
use super::protocols::rows;
use super::world::{Labels, Noise, World, spending};

fn net(owners: usize, absent: u32) -> Net {
    let rows = rows(Labels::Two, owners, 12);
    let spend = spending("4", "1e-6");
    let world = World::new(&aggregated(3, absent), Labels::Two, spend, rows, Noise::Drawn);
    Net::new(&world, |place| world.ledger(place))
}

/// Who answers in a run in which nobody is absent; only these are told survivors.
fn holders(owners: usize, absent: u32) -> BTreeSet<PartyId> {
    let mut net = net(owners, absent);
    let (mut told, mut answered) = (BTreeSet::new(), BTreeSet::new());
    let look = |from, to, message: Message| {
        match &message {
            Message::Survivors { .. } => told.insert(to),
            Message::Answer { .. } => answered.insert(from),
            _ => false,
        };
        message
    };
    net.carry(look, |_| false);
    assert!(net.finish().iter().all(Result::is_ok));
    assert_eq!(told, answered);
    answered
}

#[test]
fn an_owner_that_holds_no_shares_is_asked_nothing_and_its_answer_is_refused() {
    let last = PartyId(5);
    let holders = holders(5, 1);
    assert_eq!(holders, (1..5).map(PartyId).collect());
    // The miner asks it all the same.
    let mut net = net(5, 1);
    let mut other = None;
    let ask = |_, to, message: Message| match message {
        Message::Survivors { .. } => {
            other = Some(message.clone());
            message
        }
        Message::Opened { .. } if to == last => other.take().unwrap_or(message),
        message => message,
    };
    net.carry(ask, |_| false);
    let outcomes = net.finish();
    let refused = matches!(&outcomes[5], Err(Error::Peer(e)) if e.parties == ["miner"]);
    assert!(refused, "{:?}", outcomes[5]);
    // It answers in place of sharing: it is left out, and the others go on.
    let mut net = self::net(5, 1);
    let mut before = None;
    let answer = |from, to, message: Message| match message {
        Message::Answer { number: 0, sum } if to == MINER => {
            before = Some(sum.clone());
            Message::Answer { number: 0, sum }
        }
        Message::Shares { number: 1, .. } if from == last => Message::Answer {
            number: 1,
            sum: before.clone().unwrap(),
        },
        message => message,
    };
    net.carry(answer, |_| false);
    let outcomes = net.finish();
    assert!(outcomes[..5].iter().all(Result::is_ok) && outcomes[5].is_err());
}

/// Two of fifteen may be absent: two holders, two that are none, or one of each, before they have answered or after.
#[test]
fn whoever_is_absent_sums_go_on() {
    let holders = holders(15, 2);
    let others: Vec<PartyId> = (1..=15)
        .map(PartyId)
        .filter(|one| !holders.contains(one))
        .collect();
    let holders: Vec<PartyId> = holders.into_iter().collect();
    assert!(holders.len() >= 4 && others.len() >= 2, "{holders:?}");
    let last = holders[holders.len() - 1];
    for leaving in [
        [holders[0], last],
        [others[0], others[1]],
        [holders[1], others[0]],
    ] {
        for answered in [false, true] {
            let mut net = net(15, 2);
            let stop = |message: &Message| match message {
                Message::Survivors { number: 1, .. } => !answered,
                Message::Answer { number: 1, .. } => answered,
                _ => false,
            };
            net.carry(|_, _, message| message, stop);
            leaving.iter().for_each(|party| net.leave(*party));
            net.carry(|_, _, message| message, |_| false);
            let outcomes = net.finish();
            for (party, outcome) in (0..).map(PartyId).zip(&outcomes) {
                assert_eq!(
                    outcome.is_ok(),
                    !leaving.contains(&party),
                    "{leaving:?} {outcome:?}"
                );
            }
        }
    }
}
