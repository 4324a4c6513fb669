//! What the library's learners reach: every figure beside the data user's own rows alone, messages without content, the truth, and a constant.

use std::sync::Arc;

use privet::Error;
use privet::boost::Ensemble;
use privet::data::schema::{Schema, label, number};
use privet::data::{Cells, Frame, Intake, Keep, Table, Target};
use privet::learner::SILENT;
use privet::parameters::Builder;
use privet::privacy::Epsilon;
use privet::setting::local::{
    Algorithm, AlphaSource, Auto, CollectOnce, Crowd, Dealing, GramSource, LdpSgd, Learnt, OnceLearner,
    OwnRows, Samme, Task, VectorMessage, Voice, WeakLearner,
};
use privet::setting::plain::{Algorithm as _, Logistic};
use privet_node::progress::Progress;

use super::boosting::StumpBoosting;
use super::rows::{Points, order};
use super::sets::set;
use super::{ERROR, Named};
use crate::{Data, Measured, coins, compared, public};

/// Rows of an owner.
const EACH: u32 = 4;
/// Test rows at most.
const TEST: usize = 10_000;

/// A way to a classifier.
pub(super) enum Way {
    /// By a course of campaigns.
    Course(Box<dyn Algorithm>, Voice, Dealing),
    /// Stochastic gradient boosting.
    Boosted(StumpBoosting, Voice),
    /// Logistic regression on the own rows.
    OwnRows,
    /// The more frequent class of the own rows.
    Constant,
}

/// The ways that are compared, for these ε.
type WaysOf = fn(&'static [f64]) -> Result<Vec<Named<Way>>, Error>;

/// One experiment: a data set, how many owners and own labels there are, and at which ε.
pub(super) struct Comparison {
    pub(super) dataset: &'static str,
    pub(super) owners: usize,
    pub(super) labels: usize,
    pub(super) epsilons: &'static [f64],
    pub(super) ways: WaysOf,
}

/// Points as rows of a schema of numbers from −1 to 1.
fn schema(width: usize) -> Result<Schema, Error> {
    let columns = (0..width).map(|place| number(format!("x{place}"), -1.0..=1.0));
    let builder = Schema::builder("points").columns(columns);
    builder.columns([label("class", ["0", "1"])]).build()
}

fn table(schema: &Arc<Schema>, points: &Points) -> Result<Table, Error> {
    let columns: Vec<Vec<f64>> = (0..points.width)
        .map(|place| {
            (0..points.len())
                .map(|row| points.point(row)[place].into())
                .collect()
        })
        .collect();
    let classes: Vec<&str> = points
        .classes
        .iter()
        .map(|class| ["0", "1"][usize::from(*class)])
        .collect();
    let mut frame = Frame::new();
    for (place, column) in columns.iter().enumerate() {
        frame = frame.column(format!("x{place}"), column);
    }
    let frame = frame.column("class", &classes);
    Table::read(&Intake::everything(Arc::clone(schema), Keep::Values), &frame)
}

fn cells(schema: &Arc<Schema>, points: &Points) -> Result<Cells, Error> {
    Ok(public(schema).reveal(table(schema, points)?.into_cells()))
}

/// The share of rows that an ensemble calls wrongly.
fn error(ensemble: &Ensemble, schema: &Schema, cells: &Cells) -> Result<f64, Error> {
    let scores = ensemble.scores(schema, cells)?;
    let Some(Target::Classes(classes)) = cells.target() else {
        return Err(Error::misuse("test rows have classes"));
    };
    let wrong = scores
        .iter()
        .zip(classes)
        .filter(|(score, class)| u16::from(**score > 0.0) != **class);
    Ok(wrong.count() as f64 / classes.len().max(1) as f64)
}

impl Comparison {
    pub(super) fn measure(&self, data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
        let set = set(data, self.dataset)?;
        let schema = Arc::new(schema(set.width())?);
        let owners = cells(&schema, &set.owners)?;
        let test = cells(&schema, &set.test.head(TEST))?;
        let ways = (self.ways)(self.epsilons)?;
        compared(&ways, &[ERROR], (runs, bar), |way, epsilon, run| {
            let mut coins = coins(0x100 + u64::from(run));
            let own = &order(set.own.len(), &mut coins)[..self.labels.min(set.own.len())];
            let own = set.own.take(own);
            let found = match way {
                Way::Constant => {
                    let ones = own.classes.iter().filter(|class| **class == 1).count();
                    let more = u8::from(2 * ones > own.len());
                    let test = &set.test.classes[..TEST.min(set.test.len())];
                    test.iter().filter(|class| **class != more).count() as f64 / test.len() as f64
                }
                Way::OwnRows => {
                    let plan = Builder::of(Logistic::default()).build()?.plan(&schema)?;
                    let model = plan.fit(table(&schema, &own)?, &public(&schema), SILENT)?;
                    error(model.ensemble(), model.schema(), &test)?
                }
                Way::Boosted(boosting, voice) => {
                    let epsilon = Epsilon::new(epsilon.unwrap_or(1.0))?;
                    let crowd = Crowd::new(&schema, &owners, EACH, u64::from(run)).of_owners(self.owners);
                    boosting.error(&schema, (&own, EACH), (&crowd, *voice), epsilon, &test)?
                }
                Way::Course(algorithm, voice, dealing) => {
                    let epsilon = Epsilon::new(epsilon.unwrap_or(1.0))?;
                    let own = OwnRows::new(table(&schema, &own)?, &public(&schema))?;
                    let task = Task::new(&schema, epsilon, EACH, "points")?.with_own(own)?;
                    let crowd =
                        Crowd::dealt(&schema, &owners, *dealing, u64::from(run)).of_owners(self.owners);
                    let learnt: Learnt = crowd.play(&**algorithm, &task, *voice)?;
                    let test = test.in_bins(&schema, &learnt.schema)?;
                    error(&learnt.ensemble, &learnt.schema, &test)?
                }
            };
            Ok(vec![(ERROR, found)])
        })
    }
}

fn course(algorithm: impl Algorithm + 'static, voice: Voice) -> Way {
    Way::Course(Box::new(algorithm), voice, Dealing::even(EACH))
}

/// The baselines of every comparison.
fn baselines(ways: &mut Vec<Named<Way>>, epsilons: &'static [f64]) -> Result<(), Error> {
    let sgd = || LdpSgd::builder().build();
    ways.extend([
        ("constant", Way::Constant, &[][..]),
        ("own rows alone", Way::OwnRows, &[][..]),
    ]);
    if epsilons.is_empty() {
        return Ok(());
    }
    ways.extend([
        (
            "ldp-sgd, messages without content",
            course(sgd()?, Voice::Silent),
            epsilons,
        ),
        ("ldp-sgd, not private", course(sgd()?, Voice::Exact), &[][..]),
        (
            "auto, messages without content",
            course(Auto::builder().build()?, Voice::Silent),
            epsilons,
        ),
        (
            "auto, not private",
            course(Auto::builder().build()?, Voice::Exact),
            &[][..],
        ),
    ]);
    Ok(())
}

/// The defaults.
pub(super) fn defaults(epsilons: &'static [f64]) -> Result<Vec<Named<Way>>, Error> {
    let mut ways = vec![
        ("auto", course(Auto::builder().build()?, Voice::Drawn), epsilons),
        (
            "ldp-sgd",
            course(LdpSgd::builder().build()?, Voice::Drawn),
            epsilons,
        ),
    ];
    baselines(&mut ways, epsilons)?;
    Ok(ways)
}

/// All others.
pub(super) fn others(epsilons: &'static [f64]) -> Result<Vec<Named<Way>>, Error> {
    let once = |learner| CollectOnce::builder().learner(learner);
    let mut ways = vec![
        (
            "ldp-sgd, 5 axes",
            course(LdpSgd::builder().components(5).build()?, Voice::Drawn),
            epsilons,
        ),
        (
            "once, direct",
            course(once(OnceLearner::Direct).build()?, Voice::Drawn),
            epsilons,
        ),
        (
            "once, ridge",
            course(once(OnceLearner::Ridge).components(0).build()?, Voice::Drawn),
            epsilons,
        ),
        (
            "once, ridge on 3 cuts",
            course(
                once(OnceLearner::Ridge).components(0).thresholds(3).build()?,
                Voice::Drawn,
            ),
            epsilons,
        ),
        (
            "once, boosted stumps",
            course(
                once(OnceLearner::L2Boost).components(0).thresholds(1).build()?,
                Voice::Drawn,
            ),
            epsilons,
        ),
        (
            "once, bayes",
            course(once(OnceLearner::Bayes).build()?, Voice::Drawn),
            epsilons,
        ),
        (
            "once, bayes, 2 bins",
            course(once(OnceLearner::Bayes).bins(2).build()?, Voice::Drawn),
            epsilons,
        ),
        (
            "once, centroid",
            course(once(OnceLearner::Centroid).build()?, Voice::Drawn),
            epsilons,
        ),
        (
            "samme, centroids, coordinates",
            course(
                Samme::builder().message(VectorMessage::Coordinates).build()?,
                Voice::Drawn,
            ),
            epsilons,
        ),
        (
            "samme, centroids",
            course(Samme::builder().build()?, Voice::Drawn),
            epsilons,
        ),
        (
            "samme, stumps",
            course(
                Samme::builder().learner(WeakLearner::Stump).build()?,
                Voice::Drawn,
            ),
            epsilons,
        ),
        (
            "samme, stumps, messages without content",
            course(
                Samme::builder().learner(WeakLearner::Stump).build()?,
                Voice::Silent,
            ),
            epsilons,
        ),
        (
            "samme, centroids, not private",
            course(Samme::builder().build()?, Voice::Exact),
            &[][..],
        ),
        (
            "once, bayes, not private",
            course(once(OnceLearner::Bayes).build()?, Voice::Exact),
            &[][..],
        ),
    ];
    baselines(&mut ways, &[])?;
    Ok(ways)
}

/// Owners who have different numbers of rows, or know one class each; beside them owners who have as many and are alike.
pub(super) fn unlike(epsilons: &'static [f64]) -> Result<Vec<Named<Way>>, Error> {
    macro_rules! dealt {
        ($owners:literal, $dealing:expr) => {{
            let way = |algorithm: Box<dyn Algorithm>| Way::Course(algorithm, Voice::Drawn, $dealing);
            let samme = |learner| Samme::builder().learner(learner).build();
            [
                (
                    concat!("auto, ", $owners),
                    way(Box::new(Auto::builder().build()?)),
                    epsilons,
                ),
                (
                    concat!("ldp-sgd, ", $owners),
                    way(Box::new(LdpSgd::builder().build()?)),
                    epsilons,
                ),
                (
                    concat!("samme, centroids, ", $owners),
                    way(Box::new(samme(WeakLearner::Centroid)?)),
                    epsilons,
                ),
                (
                    concat!("samme, stumps, ", $owners),
                    way(Box::new(samme(WeakLearner::Stump)?)),
                    epsilons,
                ),
                (
                    concat!("samme, logistic, ", $owners),
                    way(Box::new(samme(WeakLearner::Logistic)?)),
                    epsilons,
                ),
            ]
        }};
    }
    let spread = |skew| Dealing {
        least: 1,
        most: 2 * EACH - 1,
        skew,
    };
    let by_class = Dealing {
        skew: 1.0,
        ..Dealing::even(EACH)
    };
    let mut ways = Vec::new();
    ways.extend(dealt!("4 rows", Dealing::even(EACH)));
    ways.extend(dealt!("1 to 7 rows", spread(0.0)));
    ways.extend(dealt!("4 rows of one class", by_class));
    ways.extend(dealt!("1 to 7 rows of one class", spread(1.0)));
    baselines(&mut ways, epsilons)?;
    Ok(ways)
}

/// α from owners beside α from own rows, with as many owners in all.
pub(super) fn judged(epsilons: &'static [f64]) -> Result<Vec<Named<Way>>, Error> {
    let samme = |learner, alpha, rounds| {
        Samme::builder()
            .learner(learner)
            .alpha(alpha)
            .rounds(rounds)
            .build()
    };
    let mut ways = Vec::new();
    for (learner, names) in [
        (
            WeakLearner::Centroid,
            [
                "samme, centroids, α from own rows",
                "samme, centroids, α from owners",
                "samme, centroids, α from owners, 5 rounds",
                "samme, centroids, α from own rows, messages without content",
                "samme, centroids, α from owners, messages without content",
            ],
        ),
        (
            WeakLearner::Stump,
            [
                "samme, stumps, α from own rows",
                "samme, stumps, α from owners",
                "samme, stumps, α from owners, 5 rounds",
                "samme, stumps, α from own rows, messages without content",
                "samme, stumps, α from owners, messages without content",
            ],
        ),
    ] {
        let cases = [
            (AlphaSource::Own, 10, Voice::Drawn),
            (AlphaSource::Owners, 10, Voice::Drawn),
            (AlphaSource::Owners, 5, Voice::Drawn),
            (AlphaSource::Own, 10, Voice::Silent),
            (AlphaSource::Owners, 10, Voice::Silent),
        ];
        for (name, (alpha, rounds, voice)) in names.into_iter().zip(cases) {
            ways.push((name, course(samme(learner, alpha, rounds)?, voice), epsilons));
        }
    }
    baselines(&mut ways, &[])?;
    Ok(ways)
}

/// Stochastic gradient boosting beside what it would replace.
pub(super) fn boosted(epsilons: &'static [f64]) -> Result<Vec<Named<Way>>, Error> {
    let boosting = |rounds, cuts, shrinkage, voice| {
        let boosting = StumpBoosting {
            rounds,
            cuts,
            shrinkage,
        };
        Way::Boosted(boosting, voice)
    };
    let mut ways = vec![
        (
            "gradient boosting, 10 rounds",
            boosting(10, 1, 0.5, Voice::Drawn),
            epsilons,
        ),
        (
            "gradient boosting, 20 rounds",
            boosting(20, 1, 0.5, Voice::Drawn),
            epsilons,
        ),
        (
            "gradient boosting, 10 rounds, 3 cuts",
            boosting(10, 3, 0.5, Voice::Drawn),
            epsilons,
        ),
        (
            "gradient boosting, messages without content",
            boosting(10, 1, 0.5, Voice::Silent),
            epsilons,
        ),
        (
            "gradient boosting, not private",
            boosting(10, 1, 0.5, Voice::Exact),
            &[][..],
        ),
        (
            "samme, centroids",
            course(Samme::builder().build()?, Voice::Drawn),
            epsilons,
        ),
        (
            "samme, stumps",
            course(
                Samme::builder().learner(WeakLearner::Stump).build()?,
                Voice::Drawn,
            ),
            epsilons,
        ),
    ];
    ways.extend(defaults(epsilons)?);
    Ok(ways)
}

/// With many owners: the second moments are collected, too.
pub(super) fn many(epsilons: &'static [f64]) -> Result<Vec<Named<Way>>, Error> {
    let gram = CollectOnce::builder()
        .learner(OnceLearner::Ridge)
        .components(0)
        .gram(GramSource::Owners);
    let mut ways = vec![(
        "once, all from owners",
        course(gram.build()?, Voice::Drawn),
        epsilons,
    )];
    ways.extend(defaults(epsilons)?);
    Ok(ways)
}
