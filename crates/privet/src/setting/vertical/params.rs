//! Parameters of the setting.

use privet_mpc::psi;
use sha2::{Digest, Sha256};

use super::desensitisation::Desensitisation;
use crate::Error;
use crate::boost::gradient::Trees;
use crate::parameters::{Parameters, Value, named_values, parameters, plain_values, readable};
use crate::party::{Agreement, Edges, Limits, Member, Terms};
use crate::privacy::Epsilon;
use crate::wire::{RunId, Writer};

parameters! {
    /// Trees over columns of several parties.
    pub struct Vertical("vertical") {
        /// Which messages parties send.
        protocol: Protocol = Protocol::Columns;
        /// How rows of different parties are matched.
        alignment: Alignment = Alignment::Private;
        /// The most rows that each party may bring to `alignment = "private"`, which needs it: as many questions of the form "do you know this
        /// person?" can be put to the other side in one run. Rows in the same order already have no use for it.
        most_ids: Option<u64> = None, in 1..=MOST_IDS;
        /// How feature holders change their columns before they send them. Its ε must be given.
        desensitisation: Desensitisation = Desensitisation::default();
        /// The ε of randomised response on labels; without it, labels are used as they are.
        label_epsilon: Option<Epsilon> = None;
        /// The trees; the defaults are the paper's: 80 rounds at 0.1, depth 3.
        trees: Trees = Trees { rounds: 80, depth: Some(3), ..Trees::default() };
    } where Self::agree
}

/// The most that `most_ids` can be.
const MOST_IDS: u64 = psi::MOST_IDS as u64;

/// What is said where it is missing.
const NO_MOST_IDS: &str = "alignment = \"private\" needs most_ids, the most rows that a party may bring: it bounds how many people the other side \
                           can ask about. Add a line such as most_ids = 100000";

readable! {
    Vertical { protocol: Protocol, alignment: Alignment, most_ids: Option<u64>, desensitisation: Desensitisation, label_epsilon: Option<Epsilon>, trees: Trees }
}

named_values! {
    /// Which messages parties send.
    pub enum Protocol {
        /// Feature holders send their columns and what they mean, and receive nothing.
        Columns = "columns",
        /// Feature holders send ranks; the label holder asks for the values at its splits, which tells them about labels.
        AsPublished = "as_published",
    }

    /// How rows of different parties are matched.
    pub enum Alignment {
        /// By private set intersection of their ids.
        Private = "private",
        /// They are in the same order already.
        Given = "given",
    }
}

// Each has a section of its own in a job.
plain_values! {
    Desensitisation: |_, _| None, |_| None, |own: &Self, _| Parameters::settings(own);
    Trees: |_, _| None, |_| None, |own: &Self, _| own.filled().settings();
}

impl Vertical {
    fn agree(&self) -> Result<(), Error> {
        self.desensitisation.check()?;
        self.trees.check()?;
        if self.alignment == Alignment::Private && self.most_ids.is_none() {
            return Err(Error::parameter("most_ids", NO_MOST_IDS));
        }
        if self.label_epsilon == Some(Epsilon::ZERO) {
            return Err(Error::parameter(
                "label_epsilon",
                "label_epsilon = 0 is invalid: write a number above zero",
            ));
        }
        Ok(())
    }

    /// What the jobs of all parties must say alike, as names and values.
    pub fn shared(&self) -> Vec<(String, String)> {
        let mut all = self.protocol.named("protocol");
        all.extend(self.alignment.named("alignment"));
        if self.alignment == Alignment::Private {
            all.extend(self.most_ids.named("most_ids"));
        }
        all.extend(self.desensitisation.settings());
        all
    }

    /// The agreement of a run of these parties, the label holder first: what all jobs must say alike is in its digest, and so in every
    /// frame and record.
    ///
    /// # Errors
    /// As [`Agreement::of`].
    pub fn agreement(&self, run: RunId, parties: Vec<String>) -> Result<Agreement, Error> {
        let mut job = Writer::default();
        job.settings(&self.shared());
        let job = Sha256::new_with_prefix(b"privet vertical job 1\0").chain_update(job.into_bytes());
        let roles = ["label holder"]
            .into_iter()
            .chain(std::iter::repeat("feature holder"));
        let member = |(name, role): (String, &str)| Member {
            name,
            role: role.into(),
            identity: None,
        };
        Agreement::of(Terms {
            run,
            parties: parties.into_iter().zip(roles).map(member).collect(),
            edges: Edges::All,
            limits: Limits {
                most_ids: self.most_ids.filter(|_| self.alignment == Alignment::Private),
                ..Limits::default()
            },
            job: job.finalize().into(),
        })
    }

    /// That a table is not larger than was agreed on, before anything about its ids is disclosed. `rows` is how many there are, as far as that
    /// is public.
    pub(super) fn check_rows(&self, rows: Option<usize>) -> Result<(), Error> {
        match (self.alignment, self.most_ids, rows) {
            (Alignment::Private, Some(most), Some(rows)) if rows as u64 > most => Err(Error::data(format!(
                "most_ids = {most} is the most rows that a party may bring, and this table has {rows}: agree on a larger number, and write it \
                 into the jobs of all parties"
            ))),
            _ => Ok(()),
        }
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let own = ("setting".to_owned(), "vertical".to_owned());
        [own].into_iter().chain(Parameters::settings(self)).collect()
    }
}
