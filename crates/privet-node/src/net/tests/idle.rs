//! Before there is an agreement: parties that come again and again, and parties that never agree.

use super::super::link::Event;
use super::*;
use crate::ledger::Store;

fn listening(names: &[&str]) -> (Drive, SocketAddr) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let report = Report::new("a party", names.clone(), ReportFiles::default(), |_| {});
    let seats = Seats {
        me: PartyId(0),
        listens: PartyId(0),
        silence: Duration::from_secs(5),
        names,
    };
    let check = check(seats.names.len());
    let bind = SocketAddr::from(([127, 0, 0, 1], 0));
    let both = (&identity(PartyId(0)), check);
    Drive::listen(bind, both, seats, Arc::new(report)).expect("a port")
}

/// Of a party that dials for frames before anything is agreed on, one connection is held, and none when that is lost.
#[test]
fn a_party_that_dials_early_is_held_once() {
    let (mut drive, address) = listening(&["a", "b"]);
    let dials = 5;
    let hello = Hello {
        purpose: Purpose::Frames(PartyId(0)),
        agreement: [0; 32],
    };
    let all: Vec<_> = (0..dials)
        .map(|_| {
            let mut dialled = dialled(address, &identity(PartyId(1))).expect("it is known");
            record::hello(&mut dialled.1.writer, hello).expect("sent");
            dialled
        })
        .collect();
    let (mut joined, mut lost) = (0, 0);
    let mut events = |drive: &mut Drive, until: &dyn Fn(i32, i32) -> bool| {
        while !until(joined, lost) {
            if let Some(event) = drive.next(Duration::from_secs(1)) {
                joined += i32::from(matches!(event, Event::Joined(_)));
                lost += i32::from(matches!(event, Event::Lost { .. }));
                drive.later(event);
            }
        }
    };
    events(&mut drive, &|joined, _| joined == dials);
    assert_eq!(drive.stash.len(), 1);
    drop(all);
    events(&mut drive, &|_, lost| lost == dials);
    assert!(drive.stash.is_empty());
}

/// A run that nobody else agrees to ends with its deadline, however patient its parties are.
#[test]
fn nobody_waits_for_an_agreement_for_ever() {
    let (mut drive, _) = listening(&["a", "b"]);
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = folder.path().join("ledger.db");
    Store::create(&ledger).expect("a ledger");
    let (agreement, _) = party(0, &MemoryRecord::default(), &journal()).expect("a party");
    let plan = Plan {
        text: "a plan".into(),
        terms: agreement.terms().clone(),
        fingerprints: Vec::new(),
        patience: Duration::from_secs(1 << 20),
        deadline: Duration::from_millis(50),
    };
    let held = HeldRun::open(&ledger, &plan.text, "a").expect("a ledger");
    let ended = agree(&mut drive, &plan, &identity(PartyId(0)), &held);
    assert!(
        matches!(&ended, Err(Error::Peer(e)) if e.parties == ["b"]),
        "{ended:?}"
    );
}

/// A party that asks again and again and reads no answer is cut off, before its answers fill the memory.
#[test]
fn whoever_does_not_read_answers_is_cut_off() {
    let (mut drive, address) = listening(&["a", "b"]);
    let (done, over) = std::sync::mpsc::channel::<()>();
    let attacker = thread::spawn(move || {
        let (_socket, mut secured) = dialled(address, &identity(PartyId(1))).expect("it is known");
        let hello = Hello {
            purpose: Purpose::Control,
            agreement: [0; 32],
        };
        record::hello(&mut secured.writer, hello).expect("sent");
        let asked = Control::Done(PartyId(1)).to_bytes();
        while record::control(&mut secured.writer, &asked).is_ok() && over.try_recv().is_err() {}
    });
    let answer = Control::Refused {
        plan: Some("a line of a plan\n".repeat(1 << 16)),
        why: String::new(),
    };
    let (mut answers, most) = (0, 200);
    let cut = loop {
        match drive.next(Duration::from_secs(20)) {
            Some(Event::Controls(link)) => drive.controlled(link),
            Some(Event::Control(party, link, _)) => {
                drive.tell(party, &answer);
                drive.permit_control(party, link);
                answers += 1;
            }
            Some(Event::Lost { .. }) => break true,
            _ => break false,
        }
        if answers > most {
            break false;
        }
    };
    assert!(cut, "{answers} answers of a mebibyte each are held");
    drop(done);
    drop(drive);
    attacker.join().expect("it ends");
}

/// Connections count for as long as they are held, also those of a party that dials and leaves while nobody listens to events.
#[test]
fn connections_that_nobody_has_taken_count() {
    let (mut drive, address) = listening(&["a", "b", "c"]);
    let hello = Hello {
        purpose: Purpose::Control,
        agreement: [0; 32],
    };
    let dial = |party| {
        let (socket, mut secured) = dialled(address, &identity(party)).ok()?;
        record::hello(&mut secured.writer, hello).ok()?;
        // Not more at once than strangers may be.
        thread::sleep(Duration::from_millis(5));
        Some((socket, secured))
    };
    let most = 64 + 3;
    for dials in [most, 20] {
        let all: Vec<_> = (0..dials).map(|_| dial(PartyId(1))).collect();
        drop(all);
        thread::sleep(Duration::from_millis(300));
    }
    let _last = dial(PartyId(2));
    let (mut taken, until) = (0, Instant::now() + Duration::from_secs(60));
    loop {
        assert!(Instant::now() < until);
        match drive.next(Duration::from_millis(100)) {
            Some(Event::Controls(link)) if link.party == PartyId(2) => break,
            Some(Event::Controls(_)) => taken += 1,
            _ => {}
        }
    }
    assert!((1..=most).contains(&taken), "{taken} connections were held");
}
