//! Campaigns, owners and what they send.

use super::*;
use crate::Error;
use crate::privacy::account::{Caps, Price};
use crate::privacy::mechanism::local::UNIT;
use crate::privacy::{Delta, Guarantee, Ledger, Owner, Private, Randomness, Relation};

fn campaign(rest: &str) -> Campaign {
    read(rest).expect("a campaign")
}

fn read(rest: &str) -> Result<Campaign, Error> {
    Campaign::read("campaign.toml", &format!("version = 1\nname = \"steps\"\n{rest}"))
}

fn ledger(cap: &str) -> Ledger<Owner> {
    let caps = Caps::from(Price::Pure(cap.parse().expect("an ε")));
    Ledger::volatile(
        Owner,
        caps,
        Delta::ZERO,
        Randomness::from_os().expect("randomness"),
    )
    .expect("opens")
}

const KINDS: [&str; 4] = [
    "epsilon = 1.0\nmessage = \"vector\"\ndimension = 5\nradius = 2.0\n",
    "epsilon = 5.0\nmessage = \"coordinates\"\ndimension = 5\nradius = 2.0\n",
    "epsilon = 1.0\nmessage = \"signs\"\ndimension = 5\nradius = 2.0\n",
    "epsilon = 1.0\nmessage = \"category\"\ncategories = 5\n",
];

fn contribute(campaign: &Campaign, ledger: &mut Ledger<Owner>) -> Result<Contributed, Error> {
    let owner = DataOwner::new(campaign);
    match campaign.message() {
        Message::Category(_) => owner.contribute_category(ledger, || Private::new(3)),
        _ => owner.contribute_vector(ledger, || Private::new(vec![1.0, -0.5, 0.0, 0.25, 1.5])),
    }
}

#[test]
fn an_owner_answers_a_campaign_once() {
    for rest in KINDS {
        let campaign = campaign(rest);
        let mut ledger = ledger("6");
        let first = contribute(&campaign, &mut ledger).expect("drawn");
        assert_eq!(first.submission.len(), campaign.submission_bytes());
        assert!(first.submission.len() <= LONGEST_SUBMISSION);
        let claims = &first.certificate.claims;
        assert_eq!(claims[0].protects, Relation::Owner);
        assert_eq!(
            claims[0].guarantee,
            Guarantee::Local {
                epsilon: campaign.epsilon()
            }
        );
        for _ in 0..3 {
            let again = contribute(&campaign, &mut ledger).expect("kept");
            assert_eq!(again.submission, first.submission);
        }
        let mut sums = vec![0; campaign.sums()];
        let message = campaign.read_submission(&first.submission).expect("a submission");
        assert!(campaign.add(&message, &mut sums));
        assert_eq!(campaign.submission(&message), first.submission);
        assert!(sums.iter().any(|sum| *sum != 0));
    }
    const { assert!(LONGEST_SUBMISSION <= 96) };
}

#[test]
fn what_another_kind_asks_for_is_misuse_and_costs_nothing() {
    let mut ledger = ledger("1");
    let of_vectors = campaign(KINDS[0]);
    let category = DataOwner::new(&of_vectors).contribute_category(&mut ledger, || panic!("looked at"));
    assert!(matches!(category, Err(Error::Misuse(_))));
    let of_categories = campaign(KINDS[3]);
    let vector = DataOwner::new(&of_categories).contribute_vector(&mut ledger, || panic!("looked at"));
    assert!(matches!(vector, Err(Error::Misuse(_))));
    contribute(&of_vectors, &mut ledger).expect("the whole cap is left");
    assert!(matches!(
        contribute(&of_categories, &mut ledger),
        Err(Error::Budget(_))
    ));
}

/// 300 owners with the same vector: each mean is within six standard errors of it. A false-alarm rate below 10⁻⁷ for each of 18 numbers.
#[test]
fn means_of_many_owners_are_theirs() {
    let owners = 300;
    for rest in KINDS {
        let campaign = campaign(rest);
        let mut sums = vec![0; campaign.sums()];
        for _ in 0..owners {
            let sent = contribute(&campaign, &mut ledger("6")).expect("drawn");
            let message = campaign.read_submission(&sent.submission).expect("a submission");
            assert!(campaign.add(&message, &mut sums));
        }
        let means = campaign.means(&sums, owners);
        let on_grid = |x: f64| (x / 2.0 * f64::from(UNIT)) as i32;
        let truth = [1.0, -0.5, 0.0, 0.25, 1.5];
        for (place, mean) in means.iter().enumerate() {
            let (expected, variance) = match campaign.message() {
                Message::Vector(closest) => (truth[place], 4.0 * closest.variance(0.0)),
                Message::Coordinates(piecewise) => {
                    (truth[place], 4.0 * piecewise.variance(on_grid(truth[place])))
                }
                Message::Signs(signs) => (truth[place], 4.0 * signs.variance(on_grid(truth[place]))),
                Message::Category(oracle) => (f64::from(u8::from(place == 3)), oracle.variance()),
                Message::Cells(_) => continue,
            };
            let error = 6.0 * (variance / owners as f64).sqrt();
            assert!(
                (mean - expected).abs() < error,
                "{}, {place}: {mean}",
                campaign.describe()
            );
        }
    }
}

#[test]
fn what_is_damaged_or_foreign_is_refused_and_adds_nothing() {
    let campaign = campaign(KINDS[1]);
    let sent = contribute(&campaign, &mut ledger("5")).expect("drawn").submission;
    for place in 0..sent.len() {
        assert_eq!(
            campaign.read_submission(&sent[..place]),
            Err(BadSubmission::Length)
        );
        for change in 1..=255 {
            let mut damaged = sent.clone();
            damaged[place] ^= change;
            assert!(campaign.read_submission(&damaged).is_err(), "{place}, {change}");
        }
    }
    let longer = [&sent[..], &[0]].concat();
    assert_eq!(campaign.read_submission(&longer), Err(BadSubmission::Length));
    let renamed = read(&format!("{}# another file\n", KINDS[1])).expect("a campaign");
    assert_eq!(renamed.read_submission(&sent), Err(BadSubmission::OtherCampaign));
    // A body that is never drawn, in a frame that is whole.
    let mut message = campaign.read_submission(&sent).expect("a submission");
    message.body[1] = 0xff;
    assert_eq!(
        campaign.read_submission(&campaign.submission(&message)),
        Err(BadSubmission::Body)
    );
    let mut sums = vec![0; campaign.sums()];
    assert!(!campaign.add(&message, &mut sums));
    assert_eq!(sums, vec![0; campaign.sums()]);
}

#[test]
fn a_campaign_that_cannot_be_is_refused_with_all_its_errors() {
    for (rest, lines) in [
        ("", 2),
        (
            "epsilon = 0.0\nmessage = \"signs\"\ndimension = 5\nradius = 1.0\n",
            1,
        ),
        (
            "epsilon = 1.0\nmessage = \"signs\"\ndimension = -5\nradius = 0.0\n",
            1,
        ),
        (
            "epsilon = 1.0\nmessage = \"vector\"\ndimension = 5\ncodewords = -1\nradius = 1.0\n",
            1,
        ),
        ("epsilon = 1.0\nmessage = \"vector\"\ndimension = 5\n", 1),
        (
            "epsilon = 1.0\nmessage = \"vector\"\ndimension = 5\nradius = -2.0\n",
            1,
        ),
        ("epsilon = 1.0\nmessage = \"category\"\ncategories = 1\n", 1),
        (
            "epsilon = 17.0\nmessage = \"category\"\ncategories = 5\nradios = 1.0\n",
            2,
        ),
    ] {
        let Err(Error::Data(e)) = read(rest) else {
            panic!("{rest:?} was read");
        };
        assert!(e.findings().len() >= lines, "{rest:?}: {e}");
    }
    // One byte makes another campaign.
    let [one, other] = [KINDS[0].to_owned(), format!("{}\n", KINDS[0])].map(|rest| campaign(&rest));
    assert_ne!(one.digest(), other.digest());
}

/// Long vectors keep their direction, and what is no number is zero.
#[test]
fn vectors_are_clipped_before_they_are_drawn() {
    let campaign = campaign(KINDS[0]);
    for values in [
        vec![f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300],
        Vec::new(),
        vec![3.0; 50],
    ] {
        let mut ledger = ledger("1");
        let sent = DataOwner::new(&campaign).contribute_vector(&mut ledger, || Private::new(values.clone()));
        let mut sums = vec![0; campaign.sums()];
        let message = campaign.read_submission(&sent.expect("drawn").submission);
        assert!(campaign.add(&message.expect("a submission"), &mut sums));
    }
}
