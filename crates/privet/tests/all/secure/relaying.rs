//! An initiator of three parties that does not relay what it got.

use privet::Error;
use privet::learner::{Call, StumpRule};
use privet::party::{PartyId, RunKey};
use privet::setting::secure::{INITIATOR, Message, Outcome, Secure, Voter};
use privet::wire::{RunId, Wire};
use privet_mpc::sealed::SealingKey;

use super::world::{NAMES, Net, World, identity, lines};

fn world() -> World {
    let secure = Secure::builder().rounds(2).bins(4).build().unwrap();
    World::new(&secure, [lines(6, 1), lines(5, 2), lines(4, 3)])
}

fn names(outcome: &Result<Outcome, Error>, party: usize) -> bool {
    matches!(outcome, Err(Error::Peer(e)) if e.parties == [NAMES[party]])
}

/// An initiator with a key of its own in another's place could read all that is sealed for that party. It knows no identity but its own: it may sign
/// itself, or relay what the other has signed for another run or another party. Nobody tells anything then, and the initiator is named.
#[test]
fn a_relay_puts_no_key_of_its_own_in_anothers_place() {
    let world = world();
    let public = [0, 1, 2].map(|place| Some(identity(place).public()));
    let other = world
        .plan
        .agreement(RunId([4; 16]), &NAMES[..3], &public)
        .unwrap();
    let own = SealingKey::new([9; 32]).public();
    let forged = [
        RunKey::sign(&identity(0), &world.agreement, PartyId(2), own),
        RunKey::sign(&identity(2), &other, PartyId(2), own),
        RunKey::sign(&identity(2), &world.agreement, PartyId(1), own),
    ];
    for (number, key) in forged.iter().enumerate() {
        let mut net = Net::new(&world);
        let (mut lied, mut told) = (false, false);
        net.carry_all(|from, to, mut message| {
            if let (Message::Keys(keys), PartyId(1)) = (&mut message, to) {
                lied = true;
                keys[2] = key.clone();
            }
            told |= from == PartyId(1) && matches!(message, Message::Voter(_) | Message::Sum(_));
            Some(message)
        });
        assert!(lied && !told, "{number}");
        assert!(names(&net.finish()[1], 0), "{number}");
    }
    // A key that its party has not signed goes no further than to an honest initiator, which names the party.
    let mut net = Net::new(&world);
    net.carry(|from, mut message| {
        if let (Message::Begin { transfer, .. }, PartyId(2)) = (&mut message, from) {
            *transfer = forged[0].to_bytes();
        }
        assert!(!matches!(message, Message::Keys(_)));
        Some(message)
    });
    assert!(names(&net.finish()[0], 2));
}

/// An initiator that tells one party other classifiers than the others, or another sum, would have them count different things, and could find one
/// party's weights from a total. Shares are sealed under what was told: they do not open, nobody answers, and no sum is opened.
#[test]
fn parties_that_were_told_different_things_open_no_sum() {
    type Lie = fn(&mut Message) -> bool;
    let lies: [Lie; 2] = [
        |message| match message {
            Message::Voters(all) => {
                let Voter::Stump(call) = &all[0] else {
                    return false;
                };
                let class = 1 - call.left;
                all[0] = Voter::Stump(Call {
                    feature: call.feature,
                    rule: StumpRule::All,
                    left: class,
                    right: class,
                });
                true
            }
            _ => false,
        },
        |message| match message {
            Message::Rates(total) => {
                total.right += 1 << 28;
                true
            }
            _ => false,
        },
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        let mut net = Net::new(&world());
        let (mut lied, mut steps, mut answers) = (false, [0; 3], 0);
        net.carry_all(|from, to, mut message| {
            if to == PartyId(1) && !lied {
                lied = lie(&mut message);
            }
            if from != INITIATOR && matches!(message, Message::Sum(_)) {
                let steps = &mut steps[usize::from(from.0)];
                *steps += 1;
                // First shares, then an answer.
                answers += u32::from(lied && *steps % 2 == 0);
            }
            Some(message)
        });
        assert!(lied, "{number}");
        assert_eq!(answers, 0, "{number}");
        let outcomes = net.finish();
        assert!(outcomes.iter().all(Result::is_err), "{number}");
        assert!(names(&outcomes[1], 0) && names(&outcomes[2], 0), "{number}");
    }
}

/// Without an identity there is no party of three, and no agreement about one.
#[test]
fn three_parties_need_identities() {
    let world = world();
    let public = [Some(identity(0).public()), None, Some(identity(2).public())];
    let refused = world.plan.agreement(RunId([4; 16]), &NAMES[..3], &public);
    assert!(matches!(refused, Err(Error::Parameter(_))));
}
