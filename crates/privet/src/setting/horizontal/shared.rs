//! The laws of joint sums: for each kind of question the grid that owners' numbers are put on, and the noise that they share.

use sha2::{Digest, Sha256};

use super::evaluation::Judging;
use super::joint::{Asked, Joint};
use super::schemas;
use crate::Error;
use crate::data::Schema;
use crate::noisy::trees::{About, Growth, Law};
use crate::party::Agreement;
use crate::privacy::account::Price;
use crate::privacy::mechanism::{SharedGaussian, SharedLaplace, SharedMechanism};
use crate::privacy::{Contribution, Ledger, Norm, Query, ShareAllowance, Sharing};
use crate::wire::Writer;

/// A share of Gaussian noise has this deviation at least: twice what is needed.
const LEAST_DEVIATION: f64 = 8.0;
/// The largest scale of Laplace noise in shares.
const MOST_SCALE: f64 = 23_800.0;

/// The laws of all joint sums of a run.
#[derive(Debug)]
pub(super) struct SharedLaws {
    of_trees: [Option<SharedLaw>; 4],
    /// Of the counts of held-out rows, if there are any.
    of_report: Option<SharedLaw>,
}

/// What is claimed of a joint sum, and the noise that pays for it.
#[derive(Debug)]
pub(super) struct SharedLaw {
    law: Law,
    noise: SharedNoise,
    grid: SharedGrid,
}

#[derive(Debug)]
enum SharedNoise {
    Gaussian(SharedGaussian),
    Laplace(SharedLaplace),
}

/// How an owner's numbers are changed before noise, so that shares of noise can be drawn for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SharedGrid {
    /// Times a number: for shares of Gaussian noise that would be too narrow.
    Finer(u32),
    /// Rounded to multiples of a number: for shares of Laplace noise that would be too wide.
    Coarser(u64),
}

impl SharedLaws {
    /// Of all questions that a run asks.
    ///
    /// # Privacy
    /// `docs/proofs/horizontal.md#grid`.
    pub(super) fn new(growth: &Growth, judging: Option<&Judging>, sharing: Sharing) -> Result<Self, Error> {
        let mut of_trees = [None, None, None, None];
        for about in About::ALL {
            let law = growth.law(about);
            of_trees[about as usize] = law.map(|law| SharedLaw::new(law, sharing)).transpose()?;
        }
        let of_report = judging.map(|judging| SharedLaw::new(judging.law(), sharing));
        Ok(Self {
            of_trees,
            of_report: of_report.transpose()?,
        })
    }

    /// The law of a question.
    pub(super) fn of(&self, asked: &Asked) -> Result<&SharedLaw, Error> {
        let law = match asked {
            Asked::Growing(question) => self
                .of_trees
                .get(question.about as usize)
                .and_then(Option::as_ref),
            Asked::Judging(_) => self.of_report.as_ref(),
        };
        law.ok_or_else(|| Error::internal("every question that is asked has its law"))
    }

    /// The deviation of the noise in the sums of a tree of so many owners.
    pub(super) fn leaf_deviation(&self, contributions: u32) -> Option<f64> {
        let law = self.of_trees[About::Leaves as usize].as_ref();
        law.map(|law| law.deviation(contributions))
    }

    /// The deviation of the noise in the counts of held-out rows of so many owners.
    pub(super) fn report_deviation(&self, contributions: u32) -> Option<f64> {
        let law = self.of_report.as_ref();
        law.map(|law| law.deviation(contributions))
    }

    /// What the envelopes of joint sums are sealed under: the agreement, the lines of the schema that all must have alike, and the laws that
    /// this owner draws from. The agreement names no schema, and only the miner compares them: an owner that asks something else, or adds less
    /// noise, must not be in a sum because a miner passes over the difference. Its envelopes do not open.
    ///
    /// # Privacy
    /// `docs/proofs/shares.md#joint-sums`: all shares of a sum have one law.
    pub(super) fn sealed_under(&self, agreement: &Agreement, schema: &Schema) -> Result<[u8; 32], Error> {
        let mut told = Writer::default();
        told.fixed(&agreement.digest());
        told.list(&schemas::lines(schema)?, |line, to| to.text(line));
        told.list(&self.of_trees, |law, to| match law {
            None => to.byte(0),
            Some(law) => law.write(to),
        });
        if let Some(law) = &self.of_report {
            law.write(&mut told);
        }
        let hash = Sha256::new_with_prefix(b"privet horizontal sums 1\0").chain_update(told.into_bytes());
        Ok(hash.finalize().into())
    }

    /// Pays for all joint sums of a run, or finds that they were paid for; `trees` is how many trees there are.
    ///
    /// # Errors
    /// As [`Ledger::share_allowance`].
    pub(super) fn pay(
        &self,
        ledger: &mut Ledger,
        trees: u32,
        sharing: Sharing,
    ) -> Result<ShareAllowances, Error> {
        let mut of_trees = [None, None, None, None];
        for about in About::ALL {
            let Some(law) = &self.of_trees[about as usize] else {
                continue;
            };
            let (what, draws) = match about {
                About::Labels => ("counts of the labels of all owners".to_owned(), 1),
                About::Counts => ("rows of all owners by column".to_owned(), 1),
                About::Leaves => (format!("{trees} noisy trees of all owners"), trees.into()),
                About::Calibration => ("rows of all owners by score".to_owned(), 1),
                About::Spikes | About::LaterLeaves => continue,
            };
            let paid = ledger.share_allowance_also_added(&what, law.law.price(), draws, sharing)?;
            of_trees[about as usize] = Some(paid);
        }
        let what = "evaluation of the model on held-out rows of all owners";
        let of_report = self.of_report.as_ref();
        let of_report =
            of_report.map(|law| ledger.share_allowance_also_added(what, law.law.price(), 1, sharing));
        Ok(ShareAllowances {
            of_trees,
            of_report: of_report.transpose()?,
        })
    }
}

/// What an owner has paid for.
pub(super) struct ShareAllowances {
    of_trees: [Option<ShareAllowance>; 4],
    of_report: Option<ShareAllowance>,
}

impl ShareAllowances {
    fn of(&self, asked: &Asked) -> Result<&ShareAllowance, Error> {
        let paid = match asked {
            Asked::Growing(question) => self.of_trees[question.about as usize].as_ref(),
            Asked::Judging(_) => self.of_report.as_ref(),
        };
        paid.ok_or_else(|| Error::internal("every question that is asked was paid for"))
    }
}

impl SharedLaw {
    fn new(law: &Law, sharing: Sharing) -> Result<Self, Error> {
        let (norm, price) = (law.claim().norm(), law.price());
        let overflow = || {
            Error::parameter(
                "rows_per_unit",
                "so many rows of one person are beyond what sums carry",
            )
        };
        let (noise, grid) = match (price, norm) {
            (Price::Gaussian(mu_squared), Norm::L2Squared(l2)) => {
                let share = (l2 as f64 / mu_squared.to_f64() / f64::from(sharing.honest())).sqrt();
                let by = (LEAST_DEVIATION / share).ceil().clamp(1.0, 1e6) as u32;
                let Some(Norm::L2Squared(l2)) = norm.multiplied(by) else {
                    return Err(overflow());
                };
                let noise = SharedGaussian::calibrated(mu_squared, l2, sharing)?;
                (SharedNoise::Gaussian(noise), SharedGrid::Finer(by))
            }
            (Price::Pure(epsilon), Norm::L1(l1)) => {
                let mut step = (l1 as f64 / epsilon.to_f64() / MOST_SCALE).ceil().max(1.0) as u64;
                loop {
                    let Some(Norm::L1(l1)) = norm.floored(step, law.moves()) else {
                        return Err(overflow());
                    };
                    if l1 as f64 / epsilon.to_f64() <= MOST_SCALE {
                        let noise = SharedLaplace::calibrated(epsilon, l1, sharing)?;
                        break (SharedNoise::Laplace(noise), SharedGrid::Coarser(step));
                    }
                    if l1 <= law.moves() {
                        return Err(Error::parameter(
                            "epsilon",
                            format!(
                                "ε = {epsilon} for one joint sum is too little: raise epsilon, or ask for fewer trees"
                            ),
                        ));
                    }
                    step += step.div_ceil(8);
                }
            }
            _ => return Err(Error::internal("trees are paid for in ε or in μ²")),
        };
        Ok(Self {
            law: law.clone(),
            noise,
            grid,
        })
    }

    /// The law of a share, on its grid.
    fn write(&self, to: &mut Writer) {
        let (kind, width) = match &self.noise {
            SharedNoise::Gaussian(noise) => (1, noise.share()),
            SharedNoise::Laplace(noise) => (2, noise.scale()),
        };
        to.byte(kind);
        to.text(&width.to_string());
        to.long(match self.grid {
            SharedGrid::Finer(by) => by.into(),
            SharedGrid::Coarser(step) => step,
        });
    }

    /// An owner's numbers for what a run asks now, with its share of noise.
    ///
    /// # Privacy
    /// What was paid for; `docs/proofs/horizontal.md#aggregated`. To be drawn once, and stored before anything of it is sent.
    ///
    /// # Errors
    /// As [`Ledger::share`].
    pub(super) fn contribution(
        &self,
        joint: &mut Joint,
        asked: &Asked,
        ledger: &mut Ledger,
        paid: &ShareAllowances,
    ) -> Result<Contribution, Error> {
        let (paid, draw) = (paid.of(asked)?, asked.draw());
        let claim = self.law.claim().clone();
        let half = match self.grid {
            SharedGrid::Finer(_) => 0,
            // Rounded down after that, a number is rounded to the nearest.
            SharedGrid::Coarser(step) => (step / 2) as i64,
        };
        let answer = || {
            joint
                .answer(asked)
                .map(|numbers| numbers.into_iter().map(|x| x.saturating_add(half)).collect())
        };
        let query = Query::new(asked.dimension(), claim, answer);
        let query = match self.grid {
            SharedGrid::Finer(by) => query.multiplied(by)?,
            SharedGrid::Coarser(step) => query.floored(step, self.law.moves())?,
        };
        match &self.noise {
            SharedNoise::Gaussian(noise) => ledger.share(paid, draw, noise, query),
            SharedNoise::Laplace(noise) => ledger.share(paid, draw, noise, query),
        }
    }

    /// An opened sum on the grid of the question.
    pub(super) fn values(&self, opened: &[i64]) -> Vec<i64> {
        let value = |&x: &i64| match self.grid {
            SharedGrid::Finer(by) => {
                let by = i64::from(by);
                x.saturating_add(by / 2).div_euclid(by)
            }
            SharedGrid::Coarser(step) => x.saturating_mul(i64::try_from(step).unwrap_or(i64::MAX)),
        };
        opened.iter().map(value).collect()
    }

    /// The deviation of the noise in each number of a sum of so many owners' numbers, on the grid of the question.
    pub(super) fn deviation(&self, contributions: u32) -> f64 {
        let shared = match &self.noise {
            SharedNoise::Gaussian(noise) => noise.deviation(contributions),
            SharedNoise::Laplace(noise) => noise.deviation(contributions),
        };
        match self.grid {
            SharedGrid::Finer(by) => shared / f64::from(by),
            SharedGrid::Coarser(step) => shared * step as f64,
        }
    }
}
