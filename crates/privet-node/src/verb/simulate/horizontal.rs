//! `privet simulate` where owners have different rows: the protocol beside each owner alone, all rows at one curator, and no privacy.

use privet::Error;
use privet::data::Table;
use privet::privacy::Unprotected;
use privet::setting::central::{self, Budget};
use privet::setting::horizontal::Outcome;
use privet::setting::plain::{self, Constant};

use super::{
    BECAUSE, LAST, MethodFigures, SimulatedMethod, Trainer, allowed, answer_with, figures, judged, mean, seed,
};
use crate::job::HorizontalJob;
use crate::progress::{Progress, going_on};
use crate::verb::exit::Failure;
use crate::verb::gathering::{Traffic, outcome};
use crate::verb::request::Simulate;
use crate::verb::{Answer, permission};

pub(super) fn run(owners: &HorizontalJob, simulate: &Simulate) -> Result<Answer, Failure> {
    if owners.start.is_some() {
        let why = "a simulation judges by rows that it sets aside, and the model that this job starts from may have learnt from them: remove start";
        return Err(Failure::input(why));
    }
    let sources = owners.sources();
    for source in &sources {
        allowed(source, simulate)?;
    }
    let plans = Plans::new(owners)?;
    let tables = owners.owners.iter().map(|owner| owner.read());
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    let permissions = permission::take_all(&sources, BECAUSE, &simulate.ledger)?;
    let count = owners.owners.len();
    let mut methods = [
        SimulatedMethod::new("horizontal", "with the protocol"),
        SimulatedMethod::new("alone", format!("each alone, mean of {count}")),
        SimulatedMethod::new("central", "all rows at one curator"),
        SimulatedMethod::new("open", "all rows, no privacy"),
        SimulatedMethod::new("constant", "the best constant"),
    ];
    let mut reported = SimulatedMethod::new("report", "as the paid report says");
    let mut traffic = None;
    let bar = Progress::steps("Simulating");
    for run in 0..simulate.runs {
        going_on()?;
        bar.at(run.into(), simulate.runs.into());
        let cut = (simulate.test, seed(simulate.seed.wrapping_add(run.into())));
        let halves = Halves::new(owners, &tables, &permissions, cut)?;
        let (now, report, sent) = halves.run(owners, &plans)?;
        reported.runs.extend(report);
        traffic = Some(sent);
        methods
            .iter_mut()
            .zip(now)
            .for_each(|(method, figures)| method.runs.push(figures));
    }
    drop(bar);
    let mut methods = Vec::from(methods);
    if !reported.runs.is_empty() {
        // Beside what it estimates: how the same models do on the rows that were set aside.
        methods.insert(1, reported);
    }
    let who = format!("{count} owners with different rows");
    Ok(answer_with(simulate, &who, &methods, LAST, traffic.as_ref()))
}

/// What is trained besides the protocol, planned before the first run.
struct Plans {
    /// Each owner's trees, with the same ε.
    alone: Vec<central::Plan>,
    /// Trees on all rows, with the same ε.
    central: central::Plan,
    open: plain::Plan,
    constant: plain::Plan,
}

impl Plans {
    fn new(owners: &HorizontalJob) -> Result<Self, Failure> {
        use plain::Algorithm;
        let plan = &owners.plan;
        let curated = |rows: u64| {
            let budget = Budget::with_delta(plan.training_epsilon(), plan.delta(), rows)?;
            central::Algorithm::plan(&owners.trees, plan.schema(), plan.relation(), budget)
        };
        let rows = || plan.owners().iter().map(|owner| owner.rows_about);
        Ok(Self {
            alone: rows().map(curated).collect::<Result<_, Error>>()?,
            central: curated(rows().fold(0, u64::saturating_add))?,
            open: plain::Trees::builder()
                .rounds(80)
                .depth(3)
                .build()?
                .plan(plan.schema())?,
            constant: Constant::default().plan(plan.schema())?,
        })
    }
}

/// The rows of one run: each owner's to train on, all of them together, and those that were set aside.
struct Halves<'a> {
    parts: Vec<Table>,
    train: Table,
    test: Table,
    permission: &'a Unprotected,
}

impl<'a> Halves<'a> {
    fn new(
        owners: &HorizontalJob,
        tables: &[Table],
        permissions: &'a [Unprotected],
        (percent, seed): (u8, [u8; 32]),
    ) -> Result<Self, Failure> {
        let permission = permissions.first();
        let permission = permission.ok_or_else(|| Error::internal("there are owners"))?;
        let (mut parts, mut train, mut test) = (Vec::new(), Vec::new(), Vec::new());
        for (table, own) in tables.iter().zip(permissions) {
            // Schemas differ by the name of the data set, and in columns that nothing is learnt from.
            let table = table.as_of(owners.plan.schema())?;
            let (rest, aside) = table.hold_out(percent, seed, own);
            parts.push(rest.clone());
            train.push((rest, own));
            test.push((aside, own));
        }
        Ok(Self {
            parts,
            train: Table::pooled(&train)?,
            test: Table::pooled(&test)?,
            permission,
        })
    }

    /// Figures of all methods, in their order, and what was sent.
    /// What a paid report says comes between, if the job asks for one; figures that its noise hides are left out.
    fn run(
        &self,
        owners: &HorizontalJob,
        plans: &Plans,
    ) -> Result<([MethodFigures; 5], Option<MethodFigures>, Traffic), Failure> {
        let ended = owners.plan.rehearsed(self.parts.clone())?;
        let names = owners.names();
        let traffic = Traffic::of(&names, &ended);
        let trained = outcome(names, ended, |outcome| matches!(outcome, Outcome::Trained { .. }))?;
        let Outcome::Trained { model, report, .. } = trained else {
            return Err(Error::internal("the miner has a model").into());
        };
        let report = report.map(|report| {
            let figures = report.figures.named().into_iter();
            figures.filter(|(_, value)| !value.is_nan()).collect()
        });
        let judge = |trainer: &Trainer<'_>, train: &Table| {
            figures(trainer, train.clone(), &self.test, self.permission)
        };
        let alone = self.parts.iter().zip(&plans.alone);
        let alone = alone.map(|(part, plan)| judge(&Trainer::Central(plan), part));
        let alone = alone.collect::<Result<Vec<_>, _>>()?;
        let figures = [
            judged(&model, &self.test, self.permission)?,
            mean(&alone),
            judge(&Trainer::Central(&plans.central), &self.train)?,
            judge(&Trainer::Plain(&plans.open), &self.train)?,
            judge(&Trainer::Plain(&plans.constant), &self.train)?,
        ];
        Ok((figures, report, traffic))
    }
}
