//! What all owners are asked together, one question after another: about trees, then how good the model is, if that was planned.

use sha2::{Digest, Sha256};

use super::evaluation::Judging;
use super::message::OpenedSum;
use super::plan::Plan;
use super::resolve::Together;
use crate::Error;
use crate::boost::Ensemble;
use crate::data::{Cells, Table};
use crate::noisy::evaluation::PaidReport;
use crate::noisy::trees::{About, Growth, Question, Step};
use crate::party::Agreement;
use crate::privacy::Private;
use crate::wire::Wire;

/// What is asked now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Something that trees need.
    Growing(Question),
    /// How good the model is: so many counts.
    Judging(usize),
}

impl Asked {
    /// How many numbers the answer has.
    pub(super) fn dimension(&self) -> usize {
        match self {
            Self::Growing(question) => question.dimension,
            Self::Judging(dimension) => *dimension,
        }
    }

    /// Which of the draws that were paid for it is.
    pub(super) fn draw(&self) -> u64 {
        match self {
            Self::Growing(Question {
                about: About::Leaves,
                tree,
                ..
            }) => (*tree).into(),
            _ => 0,
        }
    }
}

/// A joint run, as far as sums were opened.
pub(super) struct Joint {
    plan: Plan,
    growth: Growth,
    /// An owner's rows that judge the model.
    held_out: Private<Cells>,
    /// The opened counts of all owners' held-out rows, and the deviation of the noise in them.
    judged: Option<(Vec<i64>, f64)>,
    digest: [u8; 32],
}

impl Joint {
    /// Without rows: what the miner knows.
    pub(super) fn blank(plan: &Plan, agreement: &Agreement) -> Result<Self, Error> {
        Ok(Self::of(
            plan,
            plan.blank(agreement)?,
            Private::new(Cells::default()),
        ))
    }

    /// With an owner's rows. `seed` decides which of them judge.
    pub(super) fn new(
        plan: &Plan,
        agreement: &Agreement,
        table: Table,
        seed: Option<[u8; 32]>,
    ) -> Result<Self, Error> {
        let (learnt, held_out) = match (plan.judging(), seed) {
            (Some(judging), Some(seed)) => judging.cut(&table, seed),
            (Some(_), None) => return Err(Error::internal("who is held out was decided")),
            (None, _) => (table, Private::new(Cells::default())),
        };
        let growth = plan.growth(agreement, learnt.into_cells())?;
        Ok(Self::of(plan, growth, held_out))
    }

    fn of(plan: &Plan, growth: Growth, held_out: Private<Cells>) -> Self {
        Self {
            plan: plan.clone(),
            digest: growth.digest(),
            growth,
            held_out,
            judged: None,
        }
    }

    /// What is asked now; nothing at the end.
    pub(super) fn asked(&self) -> Option<Asked> {
        match (self.growth.step(), self.plan.judging(), &self.judged) {
            (Step::Ask(question), ..) => Some(Asked::Growing(question)),
            (Step::Done, Some(judging), None) => Some(Asked::Judging(judging.dimension())),
            _ => None,
        }
    }

    /// What this owner's rows answer, without noise.
    pub(super) fn answer(&mut self, asked: &Asked) -> Private<Vec<i64>> {
        match (asked, self.plan.judging()) {
            (Asked::Judging(_), Some(judging)) => {
                judging.counts(&self.growth.ensemble(), self.plan.schema(), &self.held_out)
            }
            _ => self.growth.answer(),
        }
    }

    /// Goes on from an opened sum.
    pub(super) fn take(&mut self, together: &Together, asked: &Asked, sum: &OpenedSum) -> Result<(), Error> {
        let law = together.laws.of(asked)?;
        let (values, deviation) = (law.values(&sum.values), law.deviation(sum.contributions));
        match asked {
            Asked::Growing(_) => {
                self.growth.take(&values, deviation)?;
                self.digest = self.growth.digest();
            }
            Asked::Judging(_) => {
                let hash = Sha256::new_with_prefix(b"privet horizontal report 1\0").chain_update(self.digest);
                self.digest = hash.chain_update(sum.to_bytes()).finalize().into();
                self.judged = Some((values, deviation));
            }
        }
        Ok(())
    }

    /// A digest of everything that was opened so far, and of the trees that followed from it.
    pub(super) fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The model, and how good it is if that was asked.
    pub(super) fn finish(self) -> (Ensemble, Option<Box<PaidReport>>) {
        let report = self.plan.judging().zip(self.judged);
        let report = report.map(|(judging, (counts, deviation)): (&Judging, _)| {
            Box::new(judging.report(&counts, deviation))
        });
        (self.growth.finish(), report)
    }
}
