//! All parties come to one agreement, signed by all of them, before any of them draws anything; or they say what differs.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use privet::Error;
use privet::party::{Agreement, PartyId};
use privet::privacy::signature::{Purpose, Signature};
use privet::wire::RunId;
use sha2::{Digest, Sha256};

use super::control::Bundle;
use super::link::{Event, Link};
use super::plan::{Plan, signed};
use super::{Control, Drive, Held, HeldRun, Identity, Opening};
use crate::progress::going_on;

/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(100);

/// A signature of each party, in the order of their numbers.
pub type Signed = Vec<[u8; 64]>;

/// What all have agreed on.
#[derive(Debug, Clone)]
pub struct Agreed {
    /// The agreement.
    pub agreement: Agreement,
    /// All signatures of its digest.
    pub signatures: Signed,
    /// Whether this party had agreed before, and goes on.
    pub is_resumed: bool,
}

fn sign(identity: &Identity, agreement: &Agreement, me: PartyId) -> [u8; 64] {
    identity
        .key()
        .sign_raw(Purpose::Agreement, &signed(agreement, me))
}

/// The number of a run: everybody has a part in it.
fn run_of(plan: &Plan, nonces: &[[u8; 16]]) -> RunId {
    let hash = Sha256::new_with_prefix(b"privet run 1\0").chain_update(plan.digest());
    let hash: [u8; 32] = hash.chain_update(nonces.concat()).finalize().into();
    RunId(std::array::from_fn(|place| hash[place]))
}

fn nonce() -> Result<[u8; 16], Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(Error::randomness)?;
    Ok(bytes)
}

/// Comes to an agreement with all other parties, or goes on with the one that all have signed before.
///
/// # Errors
/// [`Error::Peer`] if a plan differs, a party is not there in time, or somebody is not who it should be; [`Error::Stopped`]; and
/// [`Error::Journal`] if the agreement cannot be written.
pub fn agree(drive: &mut Drive, plan: &Plan, identity: &Identity, held: &HeldRun) -> Result<Agreed, Error> {
    let before = held.get()?;
    if let Held::Agreed(bundle) = &before {
        let agreement = plan.verified(bundle, &drive.seats)?;
        let opening = Opening {
            plan: plan.text.clone(),
            nonce: nonce()?,
            held: Some(bundle.clone()),
        };
        drive.open_with(Control::Opening(Box::new(opening)), agreement.digest());
        return Ok(Agreed {
            agreement,
            signatures: bundle.signatures.clone(),
            is_resumed: true,
        });
    }
    match drive.seats.is_listener() {
        true => Gathering::new(plan, identity, held, before)?.run(drive),
        false => follow(drive, plan, identity, held, before),
    }
}

/// The listener: waits until all are there, proposes, and gathers signatures.
struct Gathering<'a> {
    plan: &'a Plan,
    identity: &'a Identity,
    held: &'a HeldRun,
    before: Held,
    own: [u8; 16],
    openings: BTreeMap<PartyId, Opening>,
    proposed: Option<(Agreement, BTreeMap<PartyId, [u8; 64]>)>,
}

impl<'a> Gathering<'a> {
    fn new(plan: &'a Plan, identity: &'a Identity, held: &'a HeldRun, before: Held) -> Result<Self, Error> {
        Ok(Self {
            plan,
            identity,
            held,
            before,
            own: nonce()?,
            openings: BTreeMap::new(),
            proposed: None,
        })
    }

    fn run(mut self, drive: &mut Drive) -> Result<Agreed, Error> {
        let (began, mut last) = (Instant::now(), Instant::now());
        loop {
            going_on()?;
            let missing: Vec<PartyId> = drive
                .seats
                .all()
                .filter(|party| *party != drive.seats.me)
                .collect();
            let missing = missing
                .into_iter()
                .filter(|party| !self.openings.contains_key(party));
            let missing: Vec<&str> = missing.map(|party| drive.seats.name(party)).collect();
            drive.report.waiting_for(&missing);
            // A party that comes and goes, or says something now and then, does not hold up all others for ever.
            if last.elapsed() > self.plan.patience || began.elapsed() > self.plan.deadline {
                let mut names: Vec<String> = missing.iter().map(|name| (*name).to_owned()).collect();
                if let (true, Some((_, signatures))) = (names.is_empty(), &self.proposed) {
                    let unsigned = drive.seats.all().filter(|party| !signatures.contains_key(party));
                    names = unsigned.map(|party| drive.seats.name(party).to_owned()).collect();
                }
                drive.tell_all(&refused("not all parties came in time"));
                return Err(late(names));
            }
            if missing.is_empty()
                && self.proposed.is_none()
                && let Some(agreed) = self.all_here(drive)?
            {
                return Ok(agreed);
            }
            let Some(event) = drive.next(TICK) else { continue };
            match event {
                Event::Controls(link) => drive.controlled(link),
                Event::Control(party, link, message) => {
                    last = Instant::now();
                    drive.permit_control(party, link);
                    if let Some(agreed) = self.told(drive, party, message)? {
                        return Ok(agreed);
                    }
                }
                Event::Lost { party, link, .. } if drive.lost_control(party, link) => {
                    self.openings.remove(&party);
                    // Whoever comes again is proposed the same terms, or new ones if nobody had signed.
                    self.proposed = None;
                }
                event => drive.later(event),
            }
        }
    }

    fn told(&mut self, drive: &mut Drive, party: PartyId, message: Control) -> Result<Option<Agreed>, Error> {
        let name = drive.seats.name(party).to_owned();
        match message {
            Control::Opening(opening) if opening.plan != self.plan.text => {
                let why = self.plan.differences(&opening.plan, &name);
                drive.report.note("other-plan", &why);
                drive.tell(
                    party,
                    &Control::Refused {
                        plan: Some(self.plan.text.clone()),
                        why: "the plans differ".into(),
                    },
                );
                Ok(None)
            }
            Control::Opening(opening) => {
                self.openings.insert(party, *opening);
                self.proposed = None;
                Ok(None)
            }
            Control::Signed(signature) => {
                let Some((agreement, signatures)) = &mut self.proposed else {
                    return Ok(None);
                };
                let member = agreement.member(party).and_then(|member| member.identity);
                let key = member.ok_or_else(|| Error::internal("every party has a key"))?;
                let bytes = signed(agreement, party);
                if Signature::from_bytes(key, &signature)
                    .verify(Purpose::Agreement, &bytes)
                    .is_err()
                {
                    drive
                        .report
                        .note("bad-signature", &format!("{name} did not sign the agreement"));
                    return Ok(None);
                }
                signatures.insert(party, signature);
                if signatures.len() < agreement.terms().parties.len() {
                    return Ok(None);
                }
                let bundle = Bundle {
                    terms: agreement.terms().clone(),
                    signatures: signatures.values().copied().collect(),
                };
                self.agreed(drive, bundle).map(Some)
            }
            _ => {
                drive.report.note(
                    "out-of-turn",
                    &format!("{name} sent a control message out of turn"),
                );
                Ok(None)
            }
        }
    }

    /// Everybody is there: goes on with a run that all have signed, or proposes a new one.
    fn all_here(&mut self, drive: &mut Drive) -> Result<Option<Agreed>, Error> {
        let complete = |opening: &&Opening| {
            opening
                .held
                .as_ref()
                .is_some_and(|held| !held.signatures.is_empty())
        };
        if let Some(bundle) = self
            .openings
            .values()
            .find(complete)
            .and_then(|opening| opening.held.clone())
        {
            let same = |held: Option<&Bundle>| held.is_some_and(|held| held.terms == bundle.terms);
            let without = drive.seats.all().filter(|party| match self.openings.get(party) {
                Some(opening) => !same(opening.held.as_ref()),
                None => !same(self.before.bundle()),
            });
            let without: Vec<String> = without.map(|party| drive.seats.name(party).to_owned()).collect();
            if !without.is_empty() {
                let why = format!(
                    "a run of this plan is not over, and {} has no record of it: whoever has one gives it up with --abandon, and what it has spent stays spent",
                    without.join(", ")
                );
                drive.tell_all(&refused(&why));
                return Err(Error::peer(without.join(", "), why));
            }
            return self.agreed(drive, bundle).map(Some);
        }
        let mut nonces = Vec::new();
        let mut keys = Vec::new();
        for party in drive.seats.all() {
            nonces.push(
                self.openings
                    .get(&party)
                    .map_or(self.own, |opening| opening.nonce),
            );
            let key = match party == drive.seats.me {
                true => Some(self.identity.public()),
                false => drive.controls.get(&party).map(|link| link.key),
            };
            match key {
                Some(key) => keys.push(key),
                // It has just gone, and the event that says so comes next.
                None => return Ok(None),
            }
        }
        let terms = self.plan.terms(run_of(self.plan, &nonces), &keys)?;
        let agreement = Agreement::of(terms.clone())?;
        let own = sign(self.identity, &agreement, drive.seats.me);
        let plan = self.plan.text.clone();
        drive.tell_all(&Control::Proposal { plan, terms, nonces });
        self.proposed = Some((agreement, [(drive.seats.me, own)].into()));
        Ok(None)
    }

    /// Holds the agreement before anybody is told that all have signed it.
    fn agreed(&mut self, drive: &mut Drive, bundle: Bundle) -> Result<Agreed, Error> {
        let agreement = self.plan.verified(&bundle, &drive.seats)?;
        self.held.put(&bundle)?;
        let signatures = bundle.signatures.clone();
        drive.tell_all(&Control::Agreed {
            bundle,
            done: Vec::new(),
        });
        Ok(Agreed {
            agreement,
            signatures,
            is_resumed: false,
        })
    }
}

fn refused(why: &str) -> Control {
    Control::Refused {
        plan: None,
        why: why.to_owned(),
    }
}

fn late(parties: Vec<String>) -> Error {
    Error::Peer(privet::error::PeerError {
        parties,
        what: "it did not come in time; nothing was begun".into(),
    })
}

/// A dialling party: opens, checks what the listener proposes, signs.
fn follow(
    drive: &mut Drive,
    plan: &Plan,
    identity: &Identity,
    held: &HeldRun,
    before: Held,
) -> Result<Agreed, Error> {
    let own = nonce()?;
    let mut mine = before.bundle().cloned();
    let opening = |held: Option<Bundle>| {
        Control::Opening(Box::new(Opening {
            plan: plan.text.clone(),
            nonce: own,
            held,
        }))
    };
    drive.open_with(opening(mine.clone()), [0; 32]);
    let (mut since, listener) = (Instant::now(), drive.seats.name(drive.seats.listens).to_owned());
    let began = since;
    loop {
        going_on()?;
        drive.report.waiting_for(&[&listener]);
        if since.elapsed() > plan.patience || began.elapsed() > plan.deadline {
            return Err(late(vec![listener]));
        }
        let Some(event) = drive.next(TICK) else { continue };
        let message = match event {
            Event::Controls(link) => {
                since = Instant::now();
                drive.controlled(link);
                continue;
            }
            Event::Control(party, link, message) => {
                drive.permit_control(party, link);
                message
            }
            Event::Lost { party, link, .. } if drive.lost_control(party, link) => continue,
            Event::Refused(why) => return Err(Error::peer(listener, why)),
            event => {
                drive.later(event);
                continue;
            }
        };
        since = Instant::now();
        match message {
            Control::Refused {
                plan: Some(theirs), ..
            } => {
                return Err(Error::peer(&listener, plan.differences(&theirs, &listener)));
            }
            Control::Refused { plan: None, why } => return Err(Error::peer(listener, why)),
            Control::Proposal { plan: theirs, .. } if theirs != plan.text => {
                return Err(Error::peer(&listener, plan.differences(&theirs, &listener)));
            }
            Control::Proposal { terms, nonces, .. } => {
                let place = usize::from(drive.seats.me.0);
                if nonces.get(place) != Some(&own) || terms.run != run_of(plan, &nonces) {
                    return Err(Error::peer(listener, "it proposes a run that is not new"));
                }
                plan.admits(&terms, &drive.seats)?;
                let agreement = Agreement::of(terms.clone())?;
                let bundle = Bundle {
                    terms,
                    signatures: Vec::new(),
                };
                held.put(&bundle)?;
                mine = Some(bundle);
                if let Some(dialer) = &drive.dialer {
                    *dialer.opening.lock().unwrap_or_else(PoisonError::into_inner) = opening(mine.clone());
                }
                let signature = sign(identity, &agreement, drive.seats.me);
                drive.tell_all(&Control::Signed(signature));
            }
            Control::Agreed { bundle, done } => {
                if mine.as_ref().is_none_or(|mine| mine.terms != bundle.terms) {
                    return Err(Error::peer(
                        listener,
                        "it goes on with a run that this party has not signed",
                    ));
                }
                let agreement = plan.verified(&bundle, &drive.seats)?;
                held.put(&bundle)?;
                drive.done(done);
                if let Some(dialer) = &drive.dialer {
                    dialer.is_opening.store(false, Ordering::SeqCst);
                    *dialer.opening.lock().unwrap_or_else(PoisonError::into_inner) =
                        opening(Some(bundle.clone()));
                    *dialer.agreement.lock().unwrap_or_else(PoisonError::into_inner) = agreement.digest();
                }
                return Ok(Agreed {
                    agreement,
                    signatures: bundle.signatures,
                    is_resumed: false,
                });
            }
            Control::Opening(_) | Control::Signed(_) | Control::Done(_) => {
                return Err(Error::peer(listener, "it sent a control message out of turn"));
            }
        }
    }
}

/// Whether a connection is for control messages, and still the one that counts.
pub(super) fn is_current(controls: &BTreeMap<PartyId, Link>, party: PartyId, link: u64) -> bool {
    controls.get(&party).is_some_and(|own| own.id == link)
}
