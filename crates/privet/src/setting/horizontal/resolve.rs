//! How parameters, a schema and public facts become a plan.

use std::sync::Arc;

use privet_mpc::sum::{MOST_NUMBERS, SumTerms};

use super::chain::Chain;
use super::evaluation::Judging;
use super::joint::Asked;
use super::plan::{Fixed, OwnerFacts, Plan, Spending, Work, training};
use super::shared::SharedLaws;
use super::{Horizontal, Protocol};
use crate::Error;
use crate::data::Cells;
use crate::data::schema::{Label, Schema};
use crate::noisy::Budget;
use crate::noisy::trees::{self, About, Growth, Splits, Trees, Unchanged};
use crate::parameters::Parameters;
use crate::privacy::account::Caps;
use crate::privacy::{Coins, Delta, Private, Relation, Sharing};

/// How often each feature is asked about by one owner of a chain, unless the number of trees is given; and the learning rate. Measured, as
/// those of averaged models are.
const CHAIN_VISITS: u32 = 3;
const CHAIN_RATE: f64 = 0.1;
/// The learning rate of trees whose questions are chosen for their gain. At the paper's, which is one, more owners make it worse.
const GREEDY_RATE: f64 = 0.5;
const AVERAGED_VISITS: u32 = 4;
const AVERAGED_RATE: f64 = 0.4;
const AVERAGED_RIDGE: f64 = 0.5;

/// The trees of one owner in one round.
#[derive(Debug)]
pub(super) struct Apart {
    /// If it trains alone, or first.
    pub(super) first: trees::Plan,
    /// If it goes on from the trees of others: then it is known where labels lie.
    pub(super) later: trees::Plan,
}

/// What is fixed about joint sums.
#[derive(Debug)]
pub(super) struct Together {
    pub(super) trees: trees::Plan,
    pub(super) sharing: Sharing,
    pub(super) laws: SharedLaws,
    /// Sums of as many numbers as the largest tree needs.
    pub(super) sums: SumTerms,
    /// How many slots all features have: the longest question has as many numbers.
    pub(super) slots: usize,
    questions: u64,
}

impl Together {
    fn new(
        plan: trees::Plan,
        sharing: Sharing,
        blank: &Growth,
        schema: &Schema,
        judging: Option<&Judging>,
    ) -> Result<Self, Error> {
        let [owners, absent, colluding] =
            [sharing.owners(), sharing.absent(), sharing.colluding()].map(|count| count as usize);
        let length = plan.most_numbers().min(MOST_NUMBERS);
        let sums = SumTerms::new(owners, absent, colluding, length);
        let sums = sums.map_err(|e| {
            let wrong = if colluding == 0 { "colluding" } else { "absent" };
            Error::parameter(wrong, e.to_string())
        })?;
        Ok(Self {
            laws: SharedLaws::new(blank, judging, sharing)?,
            questions: plan.draws() + u64::from(judging.is_some()),
            trees: plan,
            sharing,
            sums,
            slots: trees::slots(schema),
        })
    }

    /// How many rounds a question of so many numbers takes: all are summed at the same time.
    pub(super) fn rounds(&self, numbers: usize) -> u32 {
        numbers.div_ceil(self.sums.length()) as u32
    }

    /// How many numbers of rounds a question uses up: for a tree as many as the largest tree needs, whatever its cut is. So which question a
    /// round is about follows from its number alone, also for an owner that was told other sums.
    ///
    /// # Privacy
    /// `docs/proofs/shares.md#joint-sums`: all shares of a sum have one law.
    pub(super) fn numbered(&self, asked: &Asked) -> u32 {
        match asked {
            Asked::Growing(question) if question.about == About::Leaves => {
                self.rounds(self.trees.most_numbers())
            }
            _ => self.rounds(asked.dimension()),
        }
    }

    /// How many questions there are.
    pub(super) fn questions(&self) -> u64 {
        self.questions
    }
}

impl Horizontal {
    /// What these owners will do with rows of this schema, under the relation that all of them pay for.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the parameter that does not fit.
    pub fn plan(
        &self,
        schema: &Schema,
        relation: &Relation,
        spending: Spending,
        owners: &[OwnerFacts],
    ) -> Result<Plan, Error> {
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        self.check()?;
        schema.has_features()?;
        schema.has_no_weights("setting = \"horizontal\"")?;
        if schema.label().is_none() {
            return Err(Error::parameter(
                "label",
                "the schema declares no label, which is what a model learns to predict",
            ));
        }
        let schema = Arc::new(schema.spread());
        schema.covered_by(relation)?;
        let count = u32::try_from(owners.len()).unwrap_or(u32::MAX);
        let (absent, sharing) = self.assumed(count)?;
        let rows = owners
            .iter()
            .fold(0_u64, |sum, owner| sum.saturating_add(owner.rows_about));
        let Spending { epsilon, delta } = spending;
        let budget = Budget::with_delta(epsilon, delta, rows)?;
        let judging = self.evaluation.as_ref();
        let judging = judging
            .map(|own| Judging::new(own, &schema, relation, (delta, rows)))
            .transpose()?;
        let (price, all_epsilon) = match &judging {
            None => (budget.price, epsilon),
            Some(judging) => {
                let both = budget.price.checked_add(judging.price());
                let both =
                    both.ok_or_else(|| Error::parameter("epsilon", "so much cannot be paid for in one run"))?;
                (both, Caps::from(both).epsilon(delta))
            }
        };
        let learnt = |rows: u64| judging.as_ref().map_or(rows, |judging| judging.learnt(rows));
        let features = schema.features().count();
        let facts = |rows, counts_labels| trees::Facts {
            price: budget.price,
            rows: learnt(rows),
            features,
            relation,
            unchanged: Unchanged::under(&schema, relation),
            counts_labels,
            one_curator: false,
        };
        let mut horizontal = self.clone();
        let mut chain = None;
        let work = match sharing {
            Some(sharing) => {
                let own = facts(rows, true);
                let plan = self.trees.plan(&schema, &own)?;
                horizontal.trees = self.trees.filled(&plan);
                let nothing = training(&schema, relation, Private::new(Cells::default()), None);
                let blank = Growth::new(&plan, relation, nothing, Coins::from_seed([0; 32]))?;
                let joint = Together::new(plan, sharing, &blank, &schema, judging.as_ref())?;
                Work::Together(Box::new(joint))
            }
            None => {
                let count = owners.len();
                chain = match self.protocol {
                    Protocol::Chain => Some(Chain::new(self, &schema, relation, budget.price, count)?),
                    _ => None,
                };
                let each = owners.iter().enumerate().map(|(place, own)| {
                    Budget::with_delta(epsilon, delta, own.rows_about)?;
                    let rounds = chain.as_ref().map_or(1, |chain| chain.rounds);
                    let of_round = |round| {
                        let (trees, rows) = match &chain {
                            Some(chain) => {
                                let trees = self.chained(features, place + 1 == count);
                                (trees, chain.rows(own.rows_about, round))
                            }
                            None => (
                                self.averaged(&schema, features, delta == Delta::ZERO),
                                own.rows_about,
                            ),
                        };
                        let plan = |counts_labels| trees.plan(&schema, &facts(rows, counts_labels));
                        Ok(Apart {
                            first: plan(true)?,
                            later: plan(false)?,
                        })
                    };
                    (0..rounds).map(of_round).collect::<Result<Vec<_>, Error>>()
                });
                Work::Apart(each.collect::<Result<_, Error>>()?)
            }
        };
        let fixed = Fixed {
            horizontal,
            schema,
            relation: relation.clone(),
            budget,
            price,
            epsilon: all_epsilon,
            judging,
            owners: owners.to_vec(),
            absent,
            work,
            chain,
        };
        Ok(Plan(Arc::new(fixed), None))
    }

    /// How many of so many owners may be absent, and what joint sums assume, if there are any.
    fn assumed(&self, owners: u32) -> Result<(u32, Option<Sharing>), Error> {
        let tenth = owners / 10;
        if self.protocol == Protocol::Aggregated {
            let colluding = self.colluding.unwrap_or(tenth.max(1));
            let sharing = Sharing::new(owners, self.absent.unwrap_or(tenth), colluding)?;
            return Ok((sharing.absent(), Some(sharing)));
        }
        let absent = self.absent.unwrap_or(tenth);
        if owners < 2 || absent >= owners {
            let why = format!(
                "{owners} owners of which {absent} may be absent: two owners are needed, and one of them must be there"
            );
            return Err(Error::parameter("absent", why));
        }
        Ok((absent, None))
    }

    /// The trees of one owner whose model is averaged with others'. Noise averages out, so values are shrunk less than where one model stands
    /// alone; fewer trees at a higher rate were measured to be best for classes.
    fn averaged(&self, schema: &Schema, features: usize, is_pure: bool) -> Trees {
        let own = &self.trees;
        let greedy = own.splits == Some(Splits::NoisyGreedy);
        let measured = !is_pure && !greedy && matches!(schema.label(), Some((_, Label::Classes(_))));
        Trees {
            trees: own
                .trees
                .or(measured.then_some(AVERAGED_VISITS * features.max(1) as u32)),
            learning_rate: own.learning_rate.or(measured.then_some(AVERAGED_RATE)),
            ridge: own.ridge.or(Some(AVERAGED_RIDGE)),
            shrinkage: own.shrinkage.or(Some(0.0)),
            ..own.clone()
        }
    }

    /// The trees of one owner in a chain.
    fn chained(&self, features: usize, is_last: bool) -> Trees {
        let splits = self.trees.splits.unwrap_or_default();
        let (trees, rate) = match splits {
            // The paper's: one tree in a turn. It has no learning rate.
            Splits::NoisyGreedy => (1, GREEDY_RATE),
            _ => (CHAIN_VISITS * features.max(1) as u32, CHAIN_RATE),
        };
        Trees {
            trees: Some(self.trees.trees.unwrap_or(trees)),
            splits: Some(splits),
            learning_rate: Some(self.trees.learning_rate.unwrap_or(rate)),
            // The scores of a chain are recalibrated once, by its last owner.
            calibrate: if is_last {
                self.trees.calibrate
            } else {
                Some(false)
            },
            ..self.trees.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::schema::{category, label, number};
    use crate::noisy::trees::Question;
    use crate::privacy::{AddRemove, Neighbours};

    /// A tree of one cut and one of many use up the same numbers of rounds: else a miner could tell owners different sums, and have one answer
    /// about a tree where others answer about held-out rows, with other noise.
    #[test]
    fn which_question_a_round_is_about_follows_from_its_number() -> Result<(), Error> {
        let classes: Vec<String> = (0..200).map(|class| format!("class {class}")).collect();
        let schema = Schema::builder("rows").columns([
            number("x", 0..=100),
            category("colour", ["red", "blue"]),
            label("y", classes),
        ]);
        let schema = schema.build()?;
        let owners = (0..4).map(|place| OwnerFacts {
            name: format!("owner {place}"),
            rows_about: 100_000,
        });
        let owners: Vec<OwnerFacts> = owners.collect();
        let spending = Spending {
            epsilon: "1".parse()?,
            delta: "1e-6".parse()?,
        };
        let trees = Trees::builder()
            .splits(Splits::OneFeature)
            .trees(5)
            .leaves(12)
            .build()?;
        let horizontal = Horizontal::builder().trees(trees).absent(0).build()?;
        let plan = horizontal.plan(&schema, &AddRemove::row().relation(), spending, &owners)?;
        let together = plan.joint()?;
        let tree = |leaves: usize| {
            Asked::Growing(Question {
                about: About::Leaves,
                tree: 0,
                dimension: 2 * 200 * leaves,
            })
        };
        assert!(together.rounds(tree(2).dimension()) < together.rounds(tree(12).dimension()));
        assert_eq!(together.numbered(&tree(2)), together.numbered(&tree(12)));
        assert_eq!(
            together.numbered(&tree(12)),
            together.rounds(tree(12).dimension())
        );
        Ok(())
    }
}
