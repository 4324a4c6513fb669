//! Courses on made-up people: what is learnt from drawn messages, and what a model says about it.

use std::sync::Arc;

mod alpha;

use super::*;
use crate::data::schema::{AnyColumn, Schema, category, label, number, ordinal};
use crate::data::{Cells, Frame, Intake, Keep, Table};
use crate::parameters::Builder;
use crate::privacy::mechanism::local::UNIT;
use crate::privacy::{Coins, Guarantee, Unprotected};
use crate::setting::local::params::{Auto, CollectOnce, GramSource, LdpSgd, OnceLearner, Samme, WeakLearner};
use crate::setting::local::plan::{Plan, owners_help};
use crate::setting::local::rehearsal::{Crowd, Voice};
use crate::setting::local::{Campaign, Collected, DataOwner};

fn schema(classes: usize) -> Arc<Schema> {
    let values = ["a", "b", "c"][..classes].to_vec();
    let columns: Vec<AnyColumn> = vec![
        number("x", -1.0..=1.0).into(),
        number("y", 0.0..=10.0).into(),
        category("job", ["nurse", "clerk", "cook"]).into(),
        ordinal("size", ["s", "m", "l"]).into(),
        label("class", values).into(),
    ];
    Arc::new(
        Schema::builder("people")
            .columns(columns)
            .build()
            .expect("a schema"),
    )
}

/// People whose class follows from x and their job, but for one in ten.
fn people(schema: &Arc<Schema>, classes: usize, rows: usize, seed: u8) -> Table {
    let mut coins = Coins::from_seed([seed; 32]);
    let (mut x, mut y, mut job, mut size, mut class) = (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..rows {
        let of = coins.below(classes as u64) as usize;
        let seen = if coins.below(10) == 0 {
            coins.below(classes as u64) as usize
        } else {
            of
        };
        x.push((of as f64 - 0.5 * (classes as f64 - 1.0)) * 0.6 + 0.6 * (coins.unit() - 0.5));
        y.push(10.0 * coins.unit());
        let mut jobs = ["nurse", "clerk", "cook"];
        jobs.swap(0, of % 3);
        job.push(
            jobs[if coins.below(3) == 0 {
                coins.below(3) as usize
            } else {
                0
            }],
        );
        size.push(["s", "m", "l"][coins.below(3) as usize]);
        class.push(["a", "b", "c"][seen]);
    }
    let frame = Frame::new()
        .column("x", &x[..])
        .column("y", &y[..])
        .column("job", &job[..])
        .column("size", &size[..])
        .column("class", &class[..]);
    Table::read(&Intake::everything(Arc::clone(schema), Keep::Values), &frame).expect("a table")
}

fn permission(schema: &Schema) -> Unprotected {
    Unprotected::unrecorded(schema.dataset(), &schema.relation(), "a test")
}

struct World {
    schema: Arc<Schema>,
    owners: Cells,
    test: Cells,
    own: OwnRows,
}

fn world(classes: usize) -> World {
    let schema = schema(classes);
    let cells = |rows, seed| permission(&schema).reveal(people(&schema, classes, rows, seed).into_cells());
    World {
        owners: cells(40_000, 1),
        test: cells(4000, 2),
        own: OwnRows::new(people(&schema, classes, 100, 3), &permission(&schema)).expect("own rows"),
        schema,
    }
}

impl World {
    fn task(&self, epsilon: f64) -> Task {
        let epsilon = Epsilon::new(epsilon).expect("an ε");
        let task = Task::new(&self.schema, epsilon, 4, "people").expect("a task");
        task.with_own(self.own.clone()).expect("own rows")
    }

    fn error(&self, learnt: &Learnt) -> f64 {
        let test = self
            .test
            .in_bins(&self.schema, &learnt.schema)
            .expect("the same columns");
        let scores = learnt.ensemble.scores(&learnt.schema, &test).expect("scores");
        let Some(crate::data::Target::Classes(classes)) = test.target() else {
            panic!("there are labels");
        };
        let rows = scores.chunks_exact(learnt.ensemble.outputs()).zip(classes);
        let wrong =
            rows.filter(|(scores, class)| crate::setting::local::own::called(scores) != usize::from(**class));
        wrong.count() as f64 / classes.len() as f64
    }

    fn play(&self, algorithm: &dyn Algorithm, epsilon: f64, voice: Voice) -> f64 {
        let crowd = Crowd::new(&self.schema, &self.owners, 4, 7);
        let learnt = crowd
            .play(algorithm, &self.task(epsilon), voice)
            .expect("a course");
        self.error(&learnt)
    }
}

fn once(learner: OnceLearner) -> Builder<CollectOnce> {
    CollectOnce::builder().learner(learner)
}

/// Drawn means lie around the true ones as their deviations say, for vectors, coordinates, signs and cells: of all squared distances in units of
/// deviations the mean is 1 ± 6 standard errors. Twice the noise, half of it, and means that are 50 % too large are all refused.
#[test]
fn answers_are_unbiased_and_their_deviations_true() {
    use crate::setting::local::params::VectorMessage::{Coordinates, Signs, Vector};
    let world = world(2);
    let courses: [Box<dyn Algorithm>; 4] = [
        Box::new(
            Samme::builder()
                .message(Vector)
                .radius(3.0)
                .build()
                .expect("parameters"),
        ),
        Box::new(Samme::builder().message(Coordinates).build().expect("parameters")),
        Box::new(Samme::builder().message(Signs).build().expect("parameters")),
        Box::new(once(OnceLearner::Bayes).build().expect("parameters")),
    ];
    for algorithm in courses {
        let Next::Ask(draft) = algorithm.next(&world.task(1.0), &[]).expect("a question") else {
            panic!("the first step is a question");
        };
        let campaign = Campaign::read("campaign", &draft.to_toml()).expect("a campaign");
        let (mut squares, mut count, mut bias) = (0.0, 0.0, 0.0);
        for seed in 0..40 {
            let crowd = Crowd::new(&world.schema, &world.owners, 4, seed).of_owners(500);
            let [drawn, exact] = [Voice::Drawn, Voice::Exact]
                .map(|voice| crowd.answer(&campaign, 0..500, voice).expect("an answer"));
            for ((found, truth), deviation) in drawn.means.iter().zip(&exact.means).zip(&drawn.deviations) {
                let off = (found - truth) / deviation;
                squares += off * off;
                bias += off * truth / deviation;
                count += 1.0;
            }
        }
        let mean: f64 = squares / count;
        // Six standard errors of a mean of squares of normal numbers; a cell's owner is one of four rows, which adds a little.
        let band = 6.0 * (2.0 / count).sqrt() + 0.1;
        // Piecewise varies more at large coordinates than the deviations say, which are those at zero.
        let most = match campaign.message() {
            Message::Coordinates(piecewise) => piecewise.variance(UNIT) / piecewise.variance(0),
            _ => 1.0,
        };
        let is_within = |mean: f64| mean > 1.0 - band && mean < most + band;
        assert!(
            is_within(mean),
            "{}: {mean} is not 1 to {most} ± {band}",
            campaign.describe()
        );
        for wrong in [2.0, 0.5] {
            assert!(
                !is_within(mean / (wrong * wrong)),
                "{}: a deviation {wrong} times as large is found out",
                campaign.describe()
            );
        }
        // In the direction of the truth the errors add up to about nothing.
        let crowd = Crowd::new(&world.schema, &world.owners, 4, 0).of_owners(500);
        let exact = crowd.answer(&campaign, 0..500, Voice::Exact).expect("an answer");
        let drawn = crowd.answer(&campaign, 0..500, Voice::Drawn).expect("an answer");
        let length: f64 = exact
            .means
            .iter()
            .zip(&drawn.deviations)
            .map(|(t, d)| (t / d).powi(2))
            .sum();
        let error = 6.0 * (40.0 * length).sqrt();
        assert!(
            bias.abs() < error,
            "{}: {bias} is not 0 ± {error}",
            algorithm.name()
        );
        assert!(
            (bias + 0.5 * 40.0 * length).abs() > error,
            "means that are 50 % too large are found out"
        );
    }
}

/// Scores of an ensemble are the linear function of φ that it was made of: with categories, ordinals, cuts and axes, and what is missing.
#[test]
fn ensembles_are_the_linear_functions_they_are_made_of() {
    let world = world(2);
    let own = &world.own;
    let mut coins = Coins::from_seed([9; 32]);
    let plain = Features::of(&world.schema);
    let task = world.task(1.0);
    let axes = task.along(plain.clone(), 3).expect("axes");
    let cuts = own.at_quantiles(3).expect("cuts");
    let both = task.along(cuts.clone(), 4).expect("axes of cuts");
    let frame = Frame::new()
        .column("x", &[Some(0.3), None, Some(-0.9)][..])
        .column("y", &[None, Some(4.0), Some(9.5)][..])
        .column("job", &[Some("cook"), None, Some("astronaut")][..])
        .column("size", &[Some("l"), Some("s"), None][..])
        .column("class", &["a", "b", "a"][..]);
    let intake = Intake::everything(Arc::clone(&world.schema), Keep::Values);
    let odd = permission(&world.schema).reveal(Table::read(&intake, &frame).expect("a table").into_cells());
    for features in [plain, axes, cuts, both] {
        let weights: Vec<f64> = (0..features.dimension()).map(|_| coins.unit() - 0.5).collect();
        let ensemble = task
            .linear(&features, std::slice::from_ref(&weights))
            .expect("an ensemble");
        ensemble.check(&world.schema).expect("it fits the schema");
        for cells in [&world.test, &odd] {
            let scores = ensemble.scores(&world.schema, cells).expect("scores");
            for (row, score) in scores.iter().enumerate().take(300) {
                let mut x = Vec::new();
                features.row(cells, row, &mut x);
                let expected: f64 = x.iter().zip(&weights).map(|(x, w)| x * w).sum();
                assert!(
                    (score - expected).abs() < 1e-6,
                    "row {row}: {score} is not {expected}"
                );
            }
        }
    }
}

/// With little noise every algorithm does much better than a constant; messages without content never help one that uses no labels of its own.
#[test]
fn courses_learn_from_messages_and_from_nothing_else() {
    let world = world(2);
    let all: Vec<(Box<dyn Algorithm>, f64)> = vec![
        (
            Box::new(
                once(OnceLearner::Direct)
                    .components(3)
                    .build()
                    .expect("parameters"),
            ),
            0.25,
        ),
        (
            Box::new(
                once(OnceLearner::Centroid)
                    .components(3)
                    .build()
                    .expect("parameters"),
            ),
            0.25,
        ),
        (
            Box::new(
                once(OnceLearner::Ridge)
                    .components(0)
                    .thresholds(3)
                    .build()
                    .expect("parameters"),
            ),
            0.25,
        ),
        (
            Box::new(
                once(OnceLearner::L2Boost)
                    .components(0)
                    .thresholds(3)
                    .build()
                    .expect("parameters"),
            ),
            0.25,
        ),
        (
            Box::new(
                once(OnceLearner::Ridge)
                    .components(0)
                    .gram(GramSource::Owners)
                    .build()
                    .expect("parameters"),
            ),
            0.25,
        ),
        (
            Box::new(once(OnceLearner::Bayes).build().expect("parameters")),
            0.25,
        ),
        (
            Box::new(LdpSgd::builder().components(3).build().expect("parameters")),
            0.25,
        ),
        (Box::new(Samme::builder().build().expect("parameters")), 0.3),
        (
            Box::new(
                Samme::builder()
                    .learner(WeakLearner::Stump)
                    .build()
                    .expect("parameters"),
            ),
            0.3,
        ),
        (
            Box::new(
                Samme::builder()
                    .learner(WeakLearner::Logistic)
                    .rounds(2)
                    .build()
                    .expect("parameters"),
            ),
            0.3,
        ),
    ];
    // Every other one; `PRIVET_FULL=1` plays all of them.
    let step = if privet_testkit::skipped::full() { 1 } else { 2 };
    for (algorithm, most) in all.iter().step_by(step) {
        let error = world.play(&**algorithm, 5.0, Voice::Drawn);
        assert!(
            error < *most,
            "{} {:?}: {error}",
            algorithm.name(),
            algorithm.parameters()
        );
    }
    for algorithm in [&all[0].0, &all[6].0] {
        let error = world.play(&**algorithm, 5.0, Voice::Silent);
        assert!(
            error > 0.3,
            "{}: nothing was said, and {error} was reached",
            algorithm.name()
        );
    }
    // The own rows bound how bad the default can be.
    let regression = world.own.regression(None).expect("a regression");
    let weights: Vec<Vec<f64>> = regression.parts.into_iter().map(|(weights, _)| weights).collect();
    let alone = world
        .task(1.0)
        .linear(&regression.features, &weights)
        .expect("an ensemble");
    let alone = world.error(&Learnt {
        schema: (*world.schema).clone(),
        ensemble: alone,
        rounds: Vec::new(),
    });
    let auto = Auto::builder().build().expect("parameters");
    for voice in [Voice::Drawn, Voice::Silent] {
        let error = world.play(&auto, 1.0, voice);
        assert!(error < alone + 0.03, "{voice:?}: {error} beside {alone} alone");
    }
}

#[test]
fn three_classes_are_learnt() {
    let world = world(3);
    // Three axes are chosen without the labels and lose part of what tells these classes apart; a constant errs on 0.67 of the rows.
    let all: [(Box<dyn Algorithm>, f64); 7] = [
        (
            Box::new(
                once(OnceLearner::Direct)
                    .components(3)
                    .build()
                    .expect("parameters"),
            ),
            0.5,
        ),
        (
            Box::new(
                once(OnceLearner::Centroid)
                    .components(3)
                    .build()
                    .expect("parameters"),
            ),
            0.5,
        ),
        (
            Box::new(LdpSgd::builder().components(3).build().expect("parameters")),
            0.5,
        ),
        (
            Box::new(once(OnceLearner::Bayes).build().expect("parameters")),
            0.2,
        ),
        (Box::new(Auto::builder().build().expect("parameters")), 0.3),
        (
            Box::new(Samme::builder().rounds(3).build().expect("parameters")),
            0.3,
        ),
        (
            Box::new(
                Samme::builder()
                    .learner(WeakLearner::Logistic)
                    .rounds(2)
                    .build()
                    .expect("parameters"),
            ),
            0.3,
        ),
    ];
    for (algorithm, most) in all {
        let error = world.play(&*algorithm, 5.0, Voice::Drawn);
        assert!(error < most, "{}: {error}", algorithm.name());
    }
    let stumps = Samme::builder()
        .learner(WeakLearner::Stump)
        .rounds(4)
        .build()
        .expect("parameters");
    let error = world.play(&stumps, 5.0, Voice::Drawn);
    assert!(error < 0.45, "stumps: {error}");
}

/// A stump of three classes calls on each side the class that is most frequent there, on the column where that errs least, by hand; the ensemble votes as
/// the published learner does, on cuts of numbers, on flags, on ordinals with their middle value, and where cells are missing.
#[test]
fn stumps_of_three_classes_call_what_the_tables_say() {
    let world = world(3);
    let task = world.task(3.0);
    let stumps = |rounds| {
        let stumps = Samme::builder().learner(WeakLearner::Stump).rounds(rounds);
        stumps.build().expect("parameters")
    };
    let Next::Ask(draft) = stumps(2).next(&task, &[]).expect("a question") else {
        panic!("the first step is a question");
    };
    let campaign = Campaign::read("campaign", &draft.to_toml()).expect("a campaign");
    let encoding = campaign.encoding().expect("an encoding");
    let d = encoding.features().dimension();
    let frame = Frame::new()
        .column("x", &[Some(0.3), None, Some(-0.9)][..])
        .column("y", &[None, Some(4.0), Some(9.5)][..])
        .column("job", &[Some("cook"), None, Some("astronaut")][..])
        .column("size", &[Some("m"), Some("s"), None][..])
        .column("class", &["a", "b", "c"][..]);
    let intake = Intake::everything(Arc::clone(&world.schema), Keep::Values);
    let odd = permission(&world.schema).reveal(Table::read(&intake, &frame).expect("a table").into_cells());
    let mut sides = 0;
    for coordinate in 0..d - 1 {
        // Class c above, class b below; one class on both sides; other columns know less.
        for (above, below) in [(2, 1), (0, 2), (1, 1)] {
            let mut means = vec![-0.4; 3 * 2 * d];
            means[above * 2 * d + 2 * coordinate] = 0.3;
            means[below * 2 * d + 2 * coordinate + 1] = 0.2;
            let answer = Answer::exact(means, 100);
            let Next::Ask(second) = stumps(2)
                .next(&task, std::slice::from_ref(&answer))
                .expect("a step")
            else {
                panic!("there is another round");
            };
            let learner = &second.encoding.learners()[0];
            let Next::Done(learnt) = stumps(1).next(&task, &[answer]).expect("a step") else {
                panic!("one round was answered");
            };
            for cells in [&world.test, &odd] {
                let scores = learnt.ensemble.scores(&learnt.schema, cells).expect("scores");
                for (row, scores) in scores.chunks_exact(3).enumerate().take(300) {
                    let mut x = Vec::new();
                    encoding.features().row(cells, row, &mut x);
                    let called = if x[coordinate] > 0.0 { above } else { below };
                    assert_eq!(learner.class(&x), called, "row {row}, coordinate {coordinate}");
                    let votes: Vec<f64> = (0..3)
                        .map(|class| if class == called { learner.alpha } else { 0.0 })
                        .collect();
                    assert_eq!(scores, votes, "row {row}, coordinate {coordinate}");
                    sides += usize::from(learner.alpha > 0.0);
                }
            }
        }
    }
    assert!(sides > 300, "some learners have a vote");
}

/// A learner that is wrong more often than right is turned, its α is above zero, and the next campaign publishes it so; the ensemble votes as the
/// published learners do.
#[test]
fn a_bad_learner_is_turned_and_nobody_is_asked_again() {
    let world = world(2);
    let (task, samme) = (
        world.task(3.0),
        Samme::builder().rounds(2).build().expect("parameters"),
    );
    let crowd = Crowd::new(&world.schema, &world.owners, 4, 7);
    let ask = |answers: &[Answer]| match samme.next(&task, answers).expect("a step") {
        Next::Ask(draft) => Campaign::read("campaign", &draft.to_toml()).expect("a campaign"),
        Next::Done(_) => panic!("there is another round"),
    };
    let mut answer = crowd.answer(&ask(&[]), 0..2000, Voice::Exact).expect("an answer");
    // The classes exchanged: D and b change their signs.
    let d = Features::of(&world.schema).dimension() + 1;
    answer.means[d..].iter_mut().for_each(|mean| *mean = -*mean);
    let second = ask(&[answer.clone()]);
    let learners = second.encoding().expect("an encoding").learners();
    assert_eq!(learners.len(), 1);
    assert!(learners[0].alpha > 0.0);
    assert_eq!(second.round().expect("a round").number, 2);
    let other = crowd
        .answer(&second, 2000..4000, Voice::Exact)
        .expect("an answer");
    let Next::Done(learnt) = samme.next(&task, &[answer, other]).expect("a step") else {
        panic!("two rounds were answered");
    };
    assert_eq!(learnt.rounds.len(), 2);
    assert!(
        learnt
            .rounds
            .iter()
            .all(|(alpha, error)| *alpha > 0.0 && *error <= 0.5)
    );
    assert!(world.error(&learnt) < 0.3, "{}", world.error(&learnt));
}

#[test]
fn certificates_say_who_is_protected_and_who_is_not() {
    let world = world(2);
    let epsilon = Epsilon::new(2.0).expect("an ε");
    let task = |each| Task::new(&world.schema, epsilon, each, "people").expect("a task");
    let bayes = || Arc::new(once(OnceLearner::Bayes).build().expect("parameters"));
    let plan = Plan::new(bayes(), task(4), 5000).expect("a plan");
    let crowd = Crowd::new(&world.schema, &world.owners, 4, 1);
    let learnt = crowd
        .play(plan.algorithm(), plan.task(), Voice::Drawn)
        .expect("a course");
    let open = plan.model(learnt.clone()).expect("a model");
    assert!(!open.certificate().is_void(), "no own rows were used");
    assert_eq!(
        open.certificate().claims[0].guarantee,
        Guarantee::Local { epsilon }
    );
    let plan = plan.with_own(world.own.clone()).expect("own rows");
    let model = plan.model(learnt).expect("a model");
    assert!(model.certificate().is_void(), "own rows are not protected");
    let owners = &model.certificate().parties[0];
    assert_eq!(owners.party, "owners");
    assert_eq!(
        owners.certificate.claims[0].guarantee,
        Guarantee::Local { epsilon }
    );
    assert!(!plan.shown().is_empty());
    // A file that is saved and read says the same.
    let again = crate::model::Model::from_bytes(&model.to_bytes()).expect("a model");
    assert_eq!(again.certificate(), model.certificate());
}

/// Four times the owners halve the noise; the number that is needed has the noise that was asked for, and one less has more.
#[test]
fn owners_that_are_needed_reach_the_noise() {
    let world = world(2);
    let task = |epsilon: f64| {
        Task::new(&world.schema, Epsilon::new(epsilon).expect("an ε"), 4, "people").expect("a task")
    };
    let sgd = || Arc::new(LdpSgd::builder().build().expect("parameters"));
    let plan = Plan::new(sgd(), task(1.0), 10_000).expect("a plan");
    assert_eq!(plan.owners_each(), 1000);
    assert!((plan.noise(4000) * 2.0 - plan.noise(1000)).abs() < 1e-12);
    let needed = plan.owners_needed(0.1);
    assert!(plan.noise(needed) <= 0.1 && plan.noise(needed - 1) > 0.1);
    let easier = Plan::new(sgd(), task(3.0), 10_000).expect("a plan");
    assert!(easier.owners_needed(0.1) < needed);
    assert!(
        Plan::new(sgd(), task(1.0), 9).is_err(),
        "nine owners cannot answer ten rounds"
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_key() {
    let world = world(2);
    let epsilon = Epsilon::new(1.0).expect("an ε");
    let task = Task::new(&world.schema, epsilon, 4, "people").expect("a task");
    let key = |result: Result<Next, Error>| {
        crate::parameters::key(&result.expect_err("it is refused")).map(str::to_owned)
    };
    let sgd = LdpSgd::builder().build().expect("parameters");
    assert_eq!(key(sgd.next(&task, &[])).as_deref(), Some("components"));
    let plain = LdpSgd::builder().components(0).build().expect("parameters");
    assert_eq!(key(plain.next(&task, &[])).as_deref(), Some("radius"));
    let given = LdpSgd::builder()
        .components(0)
        .radius(2.0)
        .build()
        .expect("parameters");
    assert!(matches!(given.next(&task, &[]), Ok(Next::Ask(_))));
    let other = Answer::exact(vec![0.0; 3], 10);
    assert!(matches!(given.next(&task, &[other]), Err(Error::Data(_))));
    assert!(once(OnceLearner::Bayes).thresholds(2).build().is_err());
    assert!(Task::new(&world.schema, epsilon, 0, "people").is_err());
}

#[test]
fn help_is_told_from_luck() {
    assert!(owners_help(&[0.10, 0.11, 0.09], &[0.20, 0.21, 0.19]));
    assert!(!owners_help(&[0.10, 0.30, 0.20], &[0.20, 0.21, 0.19]));
    assert!(!owners_help(&[0.2; 3], &[0.2; 3]));
}

/// What owners with ledgers of their own send, counted by a collector, gives a model: the whole way without a simulation.
#[test]
fn collected_messages_of_real_owners_train_a_model() {
    use crate::privacy::account::Caps;
    use crate::privacy::{Delta, Ledger, Randomness};
    let epsilon = Epsilon::new(8.0).expect("an ε");
    let task = Task::new(&schema(2), epsilon, 1, "people").expect("a task");
    let plan = Plan::new(
        Arc::new(once(OnceLearner::Bayes).bins(2).build().expect("parameters")),
        task,
        400,
    );
    let plan = plan.expect("a plan");
    let Next::Ask(draft) = plan.next(&[]).expect("a question") else {
        panic!("a course begins with a question");
    };
    let campaign = Campaign::read("campaign", &draft.to_toml()).expect("a campaign");
    let mut sums = vec![0; campaign.sums()];
    for owner in 0..100u8 {
        let rows = people(campaign.encoding().expect("an encoding").schema(), 2, 1, owner);
        let caps = Caps {
            pure: epsilon,
            ..Caps::ZERO
        };
        let random = Randomness::from_os().expect("randomness");
        let ledger = Ledger::volatile(crate::privacy::Relation::Owner, caps, Delta::ZERO, random);
        let mut ledger = ledger.expect("a ledger");
        let sent = DataOwner::new(&campaign)
            .contribute_rows(&mut ledger, &rows)
            .expect("a message");
        let message = campaign.read_submission(&sent.submission).expect("a submission");
        assert!(campaign.add(&message, &mut sums));
    }
    let answer = Answer::of(&campaign, &sums, 100);
    let Next::Done(learnt) = plan.next(&[answer]).expect("a step") else {
        panic!("one round was answered");
    };
    let model = plan.model(*learnt).expect("a model");
    assert_eq!(
        model.certificate().claims[0].guarantee,
        Guarantee::Local { epsilon }
    );
    let _: fn(&str, &[u8]) -> Result<Collected, Error> = Collected::from_file;
}

/// Rows in other bins are those of a table that was read so.
#[test]
fn rows_keep_their_values_in_other_bins() {
    let schema = schema(2);
    let coarse = Arc::new(schema.coarse(4));
    let moved = people(&schema, 2, 500, 5).in_bins(&coarse).expect("other bins");
    let [found, expected] =
        [moved, people(&coarse, 2, 500, 5)].map(|table| permission(&schema).reveal(table.into_cells()));
    assert_eq!(found, expected);
    let other = Schema::builder("d").columns([number("size", 0.0..=1.0)]).build();
    assert!(
        people(&schema, 2, 5, 5)
            .in_bins(&Arc::new(other.expect("a schema")))
            .is_err()
    );
}

/// Owners of different ε: weights are the inverses of variances, which no answer decides; nobody's answer counts nothing; what is of different
/// rounds is refused.
#[test]
fn answers_are_pooled_by_what_is_known_of_their_noise() {
    let answer = |mean: f64, deviation: f64, messages| Answer {
        means: vec![mean],
        deviations: vec![deviation],
        messages,
    };
    let [near, far, none] = [answer(1.0, 1.0, 50), answer(3.0, 2.0, 70), answer(9.0, 0.1, 0)];
    let pooled = Answer::pooled(&[near.clone(), far, none]).expect("an answer");
    assert!((pooled.means[0] - 1.4).abs() < 1e-12);
    assert!((pooled.deviations[0] - 0.8f64.sqrt()).abs() < 1e-12);
    assert_eq!(pooled.messages, 120);
    assert_eq!(
        Answer::pooled(std::slice::from_ref(&near)).expect("an answer"),
        near
    );
    let exact = [Answer::exact(vec![1.0], 30), Answer::exact(vec![5.0], 10)];
    assert!((Answer::pooled(&exact).expect("an answer").means[0] - 2.0).abs() < 1e-12);
    assert!(Answer::pooled(&[near, Answer::exact(vec![1.0; 2], 5)]).is_err());
    assert!(Answer::pooled(&[]).is_err());
}

/// Two columns, of which no message of the first campaign is of the second one: this counts as nothing, and not as a message of frequency zero. What
/// nobody is of stays unknown, and all its bins are alike to naive Bayes.
#[test]
fn a_column_without_messages_says_nothing() {
    let unheard = f64::INFINITY;
    let answer = |means: [f64; 2], deviations: [f64; 2], messages| Answer {
        means: means.to_vec(),
        deviations: deviations.to_vec(),
        messages,
    };
    let [one, other] = [
        answer([0.25, 0.0], [0.5, unheard], 3),
        answer([0.75, 0.8], [0.5, 2.0], 4),
    ];
    let pooled = Answer::pooled(&[one.clone(), other]).expect("an answer");
    assert!((pooled.means[0] - 0.5).abs() < 1e-12);
    assert_eq!(pooled.means[1], 0.8);
    assert_eq!(pooled.deviations[1], 2.0);
    let alone = Answer::pooled(&[one.clone(), one]).expect("an answer");
    assert_eq!((alone.means[1], alone.deviations[1]), (0.0, unheard));

    let task = world(2).task(1.0);
    let bayes = once(OnceLearner::Bayes).bins(2).build().expect("parameters");
    let Next::Ask(draft) = bayes.next(&task, &[]).expect("a question") else {
        panic!("naive Bayes asks once");
    };
    let campaign = Campaign::read("campaign", &draft.to_toml()).expect("a campaign");
    let answer = Answer::of(&campaign, &vec![0; campaign.sums()], 0);
    assert!(answer.deviations.iter().all(|deviation| *deviation == unheard));
    let Next::Done(learnt) = bayes.next(&task, &[answer]).expect("a model") else {
        panic!("naive Bayes is done after one answer");
    };
    let text = format!("{:?}", learnt.ensemble);
    assert!(!text.contains("NaN"), "{text}");
}

/// A round has a campaign for each ε, all of one series; what is pooled lies around the truth as its deviations say, which are below those of either
/// half, and a plan's noise is that of all of them.
#[test]
fn owners_of_different_epsilon_are_asked_side_by_side() {
    let world = world(2);
    let [small, large] = [1.0, 3.0].map(|epsilon| Epsilon::new(epsilon).expect("an ε"));
    let task = world.task(1.0).with_epsilons(&[large, small]).expect("a task");
    assert_eq!(task.epsilons(), [small, large]);
    assert_eq!(task.epsilon(), large, "what is claimed for all is the largest");
    assert!(world.task(1.0).with_epsilons(&[small, small]).is_err());
    assert!(world.task(1.0).with_epsilons(&[]).is_err());
    let direct = || {
        once(OnceLearner::Direct)
            .components(0)
            .radius(3.0)
            .build()
            .expect("parameters")
    };
    let Next::Ask(draft) = direct().next(&task, &[]).expect("a question") else {
        panic!("the first step is a question");
    };
    let read = |draft: &CampaignDraft| Campaign::read("campaign", &draft.to_toml()).expect("a campaign");
    let campaigns: Vec<Campaign> = task.campaigns(&draft).iter().map(read).collect();
    assert_eq!(
        campaigns.iter().map(Campaign::epsilon).collect::<Vec<_>>(),
        [small, large]
    );
    assert!(
        campaigns[0].round().is_some() && campaigns[0].round() == campaigns[1].round(),
        "one series keeps owners to one of them"
    );
    let (mut squares, mut count) = (0.0, 0.0);
    let crowd = Crowd::new(&world.schema, &world.owners, 4, 3);
    for block in 0..40 {
        let first = 200 * block;
        let ask = |place: usize, owners| {
            let found = crowd.answer(&campaigns[place], owners, Voice::Drawn);
            found.expect("an answer")
        };
        let halves = [ask(0, first..first + 100), ask(1, first + 100..first + 200)];
        let pooled = Answer::pooled(&halves).expect("an answer");
        let truth = crowd
            .answer(&campaigns[0], first..first + 200, Voice::Exact)
            .expect("an answer");
        for (place, truth) in truth.means.iter().enumerate() {
            let deviation = pooled.deviations[place];
            assert!(halves.iter().all(|half| deviation < half.deviations[place]));
            squares += ((pooled.means[place] - truth) / deviation).powi(2);
            count += 1.0;
        }
    }
    // The halves' own truths differ a little from that of all.
    let (mean, band) = (squares / count, 6.0 * (2.0f64 / count).sqrt() + 0.1);
    assert!((mean - 1.0).abs() < band, "{mean} is not 1 ± {band}");
    assert!(
        (mean / 4.0 - 1.0).abs() > band && (mean * 4.0 - 1.0).abs() > band,
        "deviations twice or half as large are found out"
    );
    let plan = |task: Task| Plan::new(Arc::new(direct()), task, 800).expect("a plan");
    let [both, low, high] = [task, world.task(1.0), world.task(3.0)].map(plan);
    assert_eq!(both.messages().len(), 2);
    let together = (low.noise(400).powi(-2) + high.noise(400).powi(-2)).powf(-0.5);
    assert!((both.noise(800) / together - 1.0).abs() < 1e-12);
    let play = |task: &Task| {
        let crowd = Crowd::new(&world.schema, &world.owners, 4, 7).of_owners(2000);
        crowd.play(&direct(), task, Voice::Drawn).expect("a course")
    };
    let learnt = play(both.task());
    let (mixed, error) = (world.error(&learnt), world.error(&play(high.task())));
    assert!(mixed < error + 0.1, "{mixed} beside {error}");
    let model = both.model(learnt).expect("a model");
    assert_eq!(
        model.certificate().parties[0].certificate.claims[0].guarantee,
        Guarantee::Local { epsilon: large }
    );
}

/// An owner that answered under one ε is not asked under another, though its ledger has room for both.
#[test]
fn an_owner_answers_one_of_several_epsilon() {
    use crate::privacy::account::Caps;
    use crate::privacy::{Delta, Ledger, Randomness};
    let epsilons = [1.0, 2.0].map(|epsilon| Epsilon::new(epsilon).expect("an ε"));
    let task = Task::new(&schema(2), epsilons[0], 1, "people").expect("a task");
    let task = task.with_epsilons(&epsilons).expect("a task");
    let bayes = once(OnceLearner::Bayes).bins(2).build().expect("parameters");
    let Next::Ask(draft) = bayes.next(&task, &[]).expect("a question") else {
        panic!("a course begins with a question");
    };
    let read = |draft: &CampaignDraft| Campaign::read("campaign", &draft.to_toml()).expect("a campaign");
    let campaigns: Vec<Campaign> = task.campaigns(&draft).iter().map(read).collect();
    let caps = Caps {
        pure: Epsilon::new(8.0).expect("an ε"),
        ..Caps::ZERO
    };
    let random = Randomness::from_os().expect("randomness");
    let mut ledger =
        Ledger::volatile(crate::privacy::Relation::Owner, caps, Delta::ZERO, random).expect("a ledger");
    let rows = people(campaigns[0].encoding().expect("an encoding").schema(), 2, 1, 4);
    let mut ask = |campaign| DataOwner::new(campaign).contribute_rows(&mut ledger, &rows);
    assert!(ask(&campaigns[0]).is_ok());
    assert!(ask(&campaigns[1]).is_err(), "one of them is answered");
    assert!(ask(&campaigns[0]).is_ok(), "and is sent again");
}
