//! Several owners with rows of their own: the library's protocols and the paper's chain, beside what an owner reaches alone and what
//! all would reach with their rows in one place.
//!
//! Protocols run as they are: all parties in one process, every message sealed, sent and checked, ledgers in memory. A row comes or
//! goes. How many owners may be absent and how many may collude is what the library says if nothing is given: 2 and 2 of 20.

use std::sync::Arc;

use privet::Error;
use privet::data::schema::Label;
use privet::data::{Schema, Table};
use privet::learner::SILENT;
use privet::model::Model;
use privet::party::Simulation;
use privet::privacy::account::{Caps, MuSquared, Price};
use privet::privacy::signature::{PublicKey, SigningKey};
use privet::privacy::{AddRemove, Coins, Delta, Epsilon, Ledger, Neighbours, Randomness, Sharing};
use privet::setting::central::{self, Budget, Trees};
use privet::setting::horizontal::{
    Horizontal, MINER, Miner, Outcome, Owner, OwnerFacts, Party, Plan, Protocol, Spending, Splits,
};
use privet::setting::plain::{self, Algorithm};
use privet::wire::RunId;

use super::super::{NamedFigures, judged, public, seed};
use super::printed::InPrivate;
use super::{Records, coins};

/// δ of the library's own trees. The paper's are pure.
const DELTA: f64 = 1e-6;
/// Rows are cut into so many folds, one of which judges: so many runs are one of the paper's cross-validations.
const FOLDS: u32 = 5;

/// How a model comes about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// The same for every row.
    Constant,
    /// Plain trees on the rows of all.
    Pooled,
    /// Private trees of the first owner, without the others.
    Alone,
    /// Private trees on the rows of all, with as much noise as joint sums have when nobody is absent.
    Central,
    /// A protocol of the library.
    Together(Protocol),
    /// The library's chain with the paper's trees, as many rounds as the rows are dealt for, in pure ε or with a δ. An owner's trees are left out if
    /// its own paid figure falls with them, if that is judged.
    Greedy { is_pure: bool, judged: bool },
    /// The paper's chain, Algorithm 2, with these trees; without an ε it is the paper's "No-Priv".
    Paper(InPrivate),
}

/// Who has which rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owned {
    pub(super) owners: usize,
    pub(super) rows: usize,
    /// How often the paper's chain goes round, each time with half of the rows that remain; once with all of them if not given.
    pub(super) rounds: Option<u32>,
}

/// Rows of owners, and rows to judge by.
pub(super) struct Deal<'a> {
    records: &'a Records,
    schema: &'a Arc<Schema>,
    /// Those of each owner.
    rows: Vec<Vec<usize>>,
    test: Vec<usize>,
    rounds: Option<u32>,
    run: u32,
}

impl<'a> Deal<'a> {
    /// Deals a run's rows at random. Owners have fewer where there are too few.
    pub(super) fn new(records: &'a Records, schema: &'a Arc<Schema>, owned: Owned, run: u32) -> Self {
        let (mut rows, _) = records.deal(0, (run / FOLDS).into());
        let fold = rows.len() / FOLDS as usize;
        let first = fold * (run % FOLDS) as usize;
        let test = rows.drain(first..first + fold).collect();
        let each = owned.rows.min(rows.len() / owned.owners);
        Self {
            records,
            schema,
            rows: rows
                .chunks(each.max(1))
                .take(owned.owners)
                .map(<[usize]>::to_vec)
                .collect(),
            test,
            rounds: owned.rounds,
            run,
        }
    }

    /// The rows of the first owner, and those to judge by.
    pub(super) fn first(&self) -> Result<[Table; 2], Error> {
        Ok([self.table(&self.rows[0])?, self.table(&self.test)?])
    }

    fn table(&self, rows: &[usize]) -> Result<Table, Error> {
        self.records.table(self.schema, rows)
    }

    /// The rows of each owner.
    fn tables(&self) -> Result<Vec<Table>, Error> {
        self.rows.iter().map(|rows| self.table(rows)).collect()
    }

    /// The rows of all in one table.
    fn pooled(&self) -> Result<Table, Error> {
        self.table(&self.rows.concat())
    }

    /// What the paper's chain learns from, tree by tree.
    fn chain(&self, halving: Halving) -> Result<Vec<Table>, Error> {
        let mut coins = coins((self.run + 7).into());
        let Some(rounds) = self.rounds else {
            return self.rows.iter().map(|own| self.table(own)).collect();
        };
        let cut = self
            .rows
            .iter()
            .map(|own| halving.portions(own, rounds, &mut coins));
        let cut: Vec<Vec<Vec<usize>>> = cut.collect();
        // Line 3: every owner of a round, then the next round.
        let order = (0..rounds as usize).flat_map(|round| cut.iter().map(move |own| &own[round]));
        order.map(|rows| self.table(rows)).collect()
    }
}

/// Which rows a round takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halving {
    /// Half of those that remain, by their places: where a row comes, others change their round.
    ByPlace,
    /// Each with a coin of its own.
    ByCoin,
}

impl Halving {
    /// Rows of each round.
    fn portions(self, rows: &[usize], rounds: u32, coins: &mut Coins) -> Vec<Vec<usize>> {
        let mut rest = rows.to_vec();
        let take = |_| match self {
            Self::ByPlace => rest.drain(..rest.len() / 2).collect(),
            Self::ByCoin => {
                let (taken, left) = rest.iter().partition(|_| coins.below(2) == 0);
                rest = left;
                taken
            }
        };
        (0..rounds).map(take).collect()
    }
}

impl Way {
    /// Whether so many owners can go this way.
    pub(super) fn fits(self, owned: Owned) -> bool {
        match self {
            Self::Together(Protocol::Aggregated) | Self::Central => {
                owned.owners > 2 && owned.rounds.is_none()
            }
            Self::Together(_) => owned.owners > 1 && owned.rounds.is_none(),
            Self::Greedy { .. } => owned.owners > 1,
            Self::Constant | Self::Pooled | Self::Alone | Self::Paper(_) => true,
        }
    }

    /// Whether it has noise.
    pub(super) fn spends(self) -> bool {
        match self {
            Self::Constant | Self::Pooled => false,
            Self::Alone | Self::Central | Self::Together(_) | Self::Greedy { .. } => true,
            Self::Paper(trees) => trees.epsilon.is_some(),
        }
    }

    /// How good the model is: accuracy and AUC of classes, MAE and RMSE of numbers, in the label's measure.
    pub(super) fn figures(self, deal: &Deal<'_>, epsilon: f64) -> Result<NamedFigures, Error> {
        let test = deal.table(&deal.test)?;
        let model = match self {
            Self::Paper(trees) => {
                let trees = InPrivate {
                    epsilon: trees.epsilon.map(|_| epsilon),
                    ..trees
                };
                return chained(trees, deal, &test);
            }
            Self::Constant => plainly(&plain::Constant::default(), deal.pooled()?)?,
            Self::Pooled => {
                let trees = plain::Trees::builder().rounds(300).depth(5).learning_rate(0.1);
                plainly(&trees.build()?, deal.pooled()?)?
            }
            Self::Alone => {
                let rows = deal.rows[0].len() as u64;
                let budget = Budget::with_delta(Epsilon::new(epsilon)?, Delta::new(DELTA)?, rows)?;
                privately(&Trees::default(), deal.table(&deal.rows[0])?, budget)?
            }
            Self::Central => central(deal, epsilon)?,
            Self::Together(protocol) => together(protocol, deal, epsilon)?,
            Self::Greedy { is_pure, judged } => {
                let trees = Trees::builder().splits(Splits::NoisyGreedy).build()?;
                let chain = Horizontal::builder().protocol(Protocol::Chain).trees(trees);
                let chain = chain.rounds(deal.rounds.unwrap_or(1));
                let chain = if judged { chain.quality(0.0) } else { chain };
                let delta = if is_pure { Delta::ZERO } else { Delta::new(DELTA)? };
                let owners = facts(deal);
                let plan = planned(&chain.build()?, deal.schema, &owners, (epsilon, delta))?;
                simulated(&plan, deal.tables()?, deal.run)?
            }
        };
        judged(&model, &test)
    }
}

fn plainly(algorithm: &dyn Algorithm, table: Table) -> Result<Model, Error> {
    let permission = public(table.schema());
    algorithm.plan(table.schema())?.fit(table, &permission, SILENT)
}

fn privately(trees: &Trees, table: Table, budget: Budget) -> Result<Model, Error> {
    let relation = AddRemove::row().relation();
    central::Algorithm::plan(trees, table.schema(), &relation, budget)?.rehearse(table)
}

/// What owners plan.
fn plan(protocol: Protocol, deal: &Deal<'_>, epsilon: f64) -> Result<Plan, Error> {
    plan_of(protocol, deal.schema, &facts(deal), epsilon)
}

fn facts(deal: &Deal<'_>) -> Vec<OwnerFacts> {
    let facts = |(place, rows): (usize, &Vec<usize>)| OwnerFacts {
        name: format!("owner {}", place + 1),
        rows_about: rows.len() as u64,
    };
    deal.rows.iter().enumerate().map(facts).collect()
}

fn plan_of(protocol: Protocol, schema: &Schema, owners: &[OwnerFacts], epsilon: f64) -> Result<Plan, Error> {
    let horizontal = Horizontal::builder().protocol(protocol).build()?;
    planned(&horizontal, schema, owners, (epsilon, Delta::new(DELTA)?))
}

fn planned(
    horizontal: &Horizontal,
    schema: &Schema,
    owners: &[OwnerFacts],
    (epsilon, delta): (f64, Delta),
) -> Result<Plan, Error> {
    let epsilon = Epsilon::new(epsilon)?;
    let spending = Spending { epsilon, delta };
    horizontal.plan(schema, &AddRemove::row().relation(), spending, owners)
}

/// A protocol of the library, from the first message to the miner's model.
fn together(protocol: Protocol, deal: &Deal<'_>, epsilon: f64) -> Result<Model, Error> {
    simulated(&plan(protocol, deal, epsilon)?, deal.tables()?, deal.run)
}

/// The library's chain over tables of one schema, with three questions about each feature by each owner.
pub(super) fn chain(tables: Vec<Table>, epsilon: f64, run: u32) -> Result<Model, Error> {
    let none = || Error::misuse("there is no table to grow trees on");
    let schema = tables.first().ok_or_else(none)?.schema().clone();
    let facts = |place: usize| OwnerFacts {
        name: format!("owner {}", place + 1),
        rows_about: super::ROWS as u64,
    };
    let owners: Vec<OwnerFacts> = (0..tables.len()).map(facts).collect();
    let plan = plan_of(Protocol::Chain, &schema, &owners, epsilon)?;
    simulated(&plan, tables, run)
}

/// All parties of a plan. Cuts follow from the run's number; noise does not.
pub(super) fn simulated(plan: &Plan, tables: Vec<Table>, run: u32) -> Result<Model, Error> {
    let identity = |place: usize| SigningKey::from_bytes(&seed(place as u64 + 1));
    let identities = (0..tables.len()).map(|place| Some(identity(place).public()));
    let identities: Vec<Option<PublicKey>> = identities.collect();
    let name = RunId(u128::from(run).to_le_bytes());
    let agreement = plan.agreement(name, "miner", &identities)?;
    let simulation = Simulation::of(agreement, |party, run| -> Result<Party, Error> {
        if party == MINER {
            return Ok(Miner::party(&plan.miner()));
        }
        let place = usize::from(party.0) - 1;
        let (caps, random) = (Caps::from(plan.price()), Randomness::from_os()?);
        let ledger = Ledger::volatile(AddRemove::row(), caps, plan.delta(), random)?;
        let table = tables[place].clone();
        Owner::party(plan.owner(place)?, table, ledger, &run, Some(identity(place)))
    });
    let trained = simulation.run()?.all()?.into_iter().find_map(Outcome::into_model);
    trained.ok_or_else(|| Error::internal("the miner gets the model"))
}

/// Trees on the rows of all: as many, as large and at the same rate as owners would grow together, with the noise of all their shares.
fn central(deal: &Deal<'_>, epsilon: f64) -> Result<Model, Error> {
    let plan = plan(Protocol::Aggregated, deal, epsilon)?;
    let none = || Error::internal("aggregated trees have shares of noise");
    let sharing = plan.sharing().ok_or_else(none)?;
    let rows = deal.rows.iter().map(Vec::len).sum::<usize>() as u64;
    let less = Budget::with_delta(equal_noise(plan.price(), sharing)?, Delta::new(DELTA)?, rows)?;
    privately(plan.horizontal().trees(), deal.pooled()?, less)
}

/// The ε at which one noise is as large as the shares of all owners, of which those absent or colluding are not counted when they are priced.
fn equal_noise(price: Price, sharing: Sharing) -> Result<Epsilon, Error> {
    let Price::Gaussian(mu_squared) = price else {
        return Err(Error::internal("with a δ, trees are paid for in μ²"));
    };
    let [owners, absent, colluding] =
        [sharing.owners(), sharing.absent(), sharing.colluding()].map(f64::from);
    let wanted = mu_squared.to_f64() * (owners - absent - colluding) / owners;
    // In billionths, of which an ε has a whole number.
    let epsilon = |billionths: u64| Epsilon::new(billionths as f64 / 1e9);
    let (mut low, mut high) = (1_000_u64, 100_000_000_000);
    while high - low > 1 {
        let middle = low.midpoint(high);
        match MuSquared::for_budget(epsilon(middle)?, Delta::new(DELTA)?)?.to_f64() <= wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    epsilon(low)
}

/// The paper's chain.
fn chained(trees: InPrivate, deal: &Deal<'_>, test: &Table) -> Result<NamedFigures, Error> {
    let halving = match trees.corrected {
        Some(_) => Halving::ByCoin,
        None => Halving::ByPlace,
    };
    let published = trees.fit(deal.chain(halving)?, &mut coins(deal.run.into()))?;
    let off = published.off(test);
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    Ok(match test.schema().label() {
        Some((_, Label::Number { min, max })) => vec![("MAE", mean * (max - min) / 2.0)],
        _ => vec![("accuracy", 1.0 - mean)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row is in one round at most; by place, one row more at the front moves others to another round.
    #[test]
    fn a_new_row_moves_others_where_halves_are_cut_by_place() {
        let rows: Vec<usize> = (1..1001).collect();
        let more: Vec<usize> = (0..1001).collect();
        for halving in [Halving::ByPlace, Halving::ByCoin] {
            let portions = |rows: &[usize]| halving.portions(rows, 5, &mut coins(3));
            let mut all = portions(&rows).concat();
            assert!(all.len() > 900 && all.len() < 1000, "{}", all.len());
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), portions(&rows).concat().len());
        }
        let moved = |from: &[Vec<usize>], to: &[Vec<usize>]| {
            let pairs = from.iter().zip(to);
            pairs
                .map(|(from, to)| from.iter().filter(|row| !to.contains(row)).count())
                .sum::<usize>()
        };
        let by_place = |rows: &[usize]| Halving::ByPlace.portions(rows, 5, &mut coins(3));
        assert!(moved(&by_place(&rows), &by_place(&more)) > 0);
    }

    /// Sixteen of twenty shares are priced, and all twenty are there.
    #[test]
    fn equal_noise_is_that_of_all_shares() -> Result<(), Error> {
        let delta = Delta::new(DELTA)?;
        let whole = MuSquared::for_budget(Epsilon::new(1.0)?, delta)?;
        let epsilon = equal_noise(Price::Gaussian(whole), Sharing::new(20, 2, 2)?)?;
        let found = MuSquared::for_budget(epsilon, delta)?.to_f64();
        assert!((found / whole.to_f64() - 0.8).abs() < 1e-4, "{epsilon}");
        assert!(equal_noise(Price::Pure(epsilon), Sharing::new(20, 2, 2)?).is_err());
        Ok(())
    }
}
