//! What all parties of a run agree on before the first message.

use std::collections::BTreeSet;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::PartyId;
use crate::Error;
use crate::privacy::signature::PublicKey;
use crate::privacy::texts::{check_name, shown};
use crate::wire::{MOST_BYTES, Malformed, Reader, RunId, Wire, Writer};

/// The most parties of one agreement.
pub const MOST_PARTIES: usize = 10_000;
/// The most bytes of a name.
const LONGEST_NAME: usize = 100;

/// The terms of an agreement, before they are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// The run.
    pub run: RunId,
    /// The parties; a party's number is its place.
    pub parties: Vec<Member>,
    /// Who speaks to whom.
    pub edges: Edges,
    /// What nobody exceeds.
    pub limits: Limits,
    /// A digest of everything that all jobs must say alike.
    pub job: [u8; 32],
}

/// One party of an agreement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// What it does in the protocol.
    pub role: String,
    /// The Ed25519 key that it is known by; none in a simulation.
    pub identity: Option<PublicKey>,
}

/// Who speaks to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edges {
    /// Everybody to everybody.
    All,
    /// Everybody to this party only, which relays what others tell each other.
    Hub(PartyId),
}

/// What nobody exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one message. A role bounds messages further by what it waits for.
    pub message_bytes: u64,
    /// The most ids that a party may enter into a private set intersection; none if ids are not matched.
    pub most_ids: Option<u64>,
}

impl Default for Limits {
    /// Messages of 2 GiB, no ids.
    fn default() -> Self {
        Self {
            message_bytes: MOST_BYTES as u64,
            most_ids: None,
        }
    }
}

/// Who takes part in which run, and how: the same for all of them. A copy is cheap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement(Arc<Checked>);

#[derive(Debug, PartialEq, Eq)]
struct Checked {
    terms: Terms,
    digest: [u8; 32],
}

impl Agreement {
    /// These parties, by name, without keys; everybody speaks to everybody.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn new(run: RunId, parties: Vec<String>) -> Result<Self, Error> {
        let member = |name| Member {
            name,
            role: String::new(),
            identity: None,
        };
        Self::of(Terms {
            run,
            parties: parties.into_iter().map(member).collect(),
            edges: Edges::All,
            limits: Limits::default(),
            job: [0; 32],
        })
    }

    /// An agreement on these terms.
    ///
    /// # Errors
    /// [`Error::Parameter`] for fewer than two parties or more than 10,000; for names that are empty, too long or alike, or have
    /// characters that cannot be seen; for an
    /// identity that occurs twice; for a hub that is no party.
    pub fn of(terms: Terms) -> Result<Self, Error> {
        let bad = |why: String| Err(Error::parameter("parties", why));
        let count = terms.parties.len();
        if !(2..=MOST_PARTIES).contains(&count) {
            return bad(format!("{count} parties: 2 to {MOST_PARTIES} can take part"));
        }
        let (mut names, mut identities) = (BTreeSet::new(), BTreeSet::new());
        for Member { name, role, identity } in &terms.parties {
            let check = |text: &str, longest| match text.len() > longest {
                true => Err(format!("it must have at most {longest} bytes")),
                false => check_name(text, longest),
            };
            if let Err(why) = check(name, LONGEST_NAME) {
                return bad(format!("'{}' cannot name a party: {why}", shown(name)));
            }
            if !role.is_empty()
                && let Err(why) = check(role, LONGEST_NAME)
            {
                return bad(format!("'{}' cannot name a role: {why}", shown(role)));
            }
            if !names.insert(name) {
                return bad(format!("two parties are called '{name}'"));
            }
            if let Some(identity) = identity
                && !identities.insert(identity.to_bytes())
            {
                return bad(format!("'{name}' has the same identity as another party"));
            }
        }
        if let Edges::Hub(hub) = terms.edges
            && usize::from(hub.0) >= count
        {
            return bad(format!("the hub, party {}, is not among the parties", hub.0));
        }
        if terms.limits.message_bytes == 0 {
            return Err(Error::parameter(
                "message_bytes",
                "messages need at least one byte",
            ));
        }
        let digest = Sha256::new_with_prefix(b"privet agreement 1\0").chain_update(terms.to_bytes());
        let digest = digest.finalize().into();
        Ok(Self(Arc::new(Checked { terms, digest })))
    }

    /// What was agreed on.
    pub fn terms(&self) -> &Terms {
        &self.0.terms
    }

    /// SHA-256 over the encoding of the terms: it is in every frame and in every record.
    pub fn digest(&self) -> [u8; 32] {
        self.0.digest
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.terms().run
    }

    /// A party, if there is one of this number.
    pub fn member(&self, party: PartyId) -> Option<&Member> {
        self.terms().parties.get(usize::from(party.0))
    }

    /// A party's name.
    pub fn name(&self, party: PartyId) -> &str {
        self.member(party).map_or("a stranger", |member| &member.name)
    }

    /// All parties.
    pub fn parties(&self) -> impl Iterator<Item = PartyId> + use<> {
        (0..self.terms().parties.len() as u16).map(PartyId)
    }

    /// Whether two parties send each other messages.
    pub fn speaks(&self, one: PartyId, other: PartyId) -> bool {
        let both = one != other && self.member(one).is_some() && self.member(other).is_some();
        both && match self.terms().edges {
            Edges::All => true,
            Edges::Hub(hub) => one == hub || other == hub,
        }
    }

    /// The parties that a party sends messages to.
    pub fn neighbours(&self, party: PartyId) -> impl Iterator<Item = PartyId> + use<> {
        let (first, count) = match self.terms().edges {
            Edges::Hub(hub) if hub != party => (hub.0, 1),
            _ => (0, self.terms().parties.len() as u16),
        };
        (first..first + count)
            .map(PartyId)
            .filter(move |other| *other != party)
    }
}

impl Wire for Terms {
    fn write(&self, to: &mut Writer) {
        to.fixed(&self.run.0);
        to.list(&self.parties, |member, to| {
            to.text(&member.name);
            to.text(&member.role);
            match &member.identity {
                None => to.byte(0),
                Some(identity) => {
                    to.byte(1);
                    to.fixed(&identity.to_bytes());
                }
            }
        });
        match self.edges {
            Edges::All => to.byte(0),
            Edges::Hub(hub) => {
                to.byte(1);
                to.word(hub.0.into());
            }
        }
        to.long(self.limits.message_bytes);
        match self.limits.most_ids {
            None => to.byte(0),
            Some(most) => {
                to.byte(1);
                to.long(most);
            }
        }
        to.fixed(&self.job);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let unknown = || Malformed::new("not the terms of an agreement");
        Ok(Self {
            run: RunId(from.array()?),
            parties: from.at_most(MOST_PARTIES, 17, |from| {
                Ok(Member {
                    name: from.text(LONGEST_NAME)?,
                    role: from.text(LONGEST_NAME)?,
                    identity: match from.byte()? {
                        0 => None,
                        1 => Some(PublicKey::from_bytes(from.array()?)),
                        _ => return Err(unknown()),
                    },
                })
            })?,
            edges: match from.byte()? {
                0 => Edges::All,
                1 => Edges::Hub(PartyId::read(from)?),
                _ => return Err(unknown()),
            },
            limits: Limits {
                message_bytes: from.long()?,
                most_ids: match from.byte()? {
                    0 => None,
                    1 => Some(from.long()?),
                    _ => return Err(unknown()),
                },
            },
            job: from.array()?,
        })
    }
}
