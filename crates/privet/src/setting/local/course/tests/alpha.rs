//! α from owners who say whether a learner errs.

use super::*;
use crate::setting::local::Message;
use crate::setting::local::params::{AlphaSource, VectorMessage};

/// Centroids of coordinates with α from owners: needs no own rows.
fn told(rounds: u32) -> Samme {
    let samme = Samme::builder()
        .alpha(AlphaSource::Owners)
        .message(VectorMessage::Coordinates);
    samme.rounds(rounds).build().expect("parameters")
}

fn without_own(world: &World, epsilon: f64) -> Task {
    Task::new(&world.schema, Epsilon::new(epsilon).expect("an ε"), 4, "people").expect("a task")
}

fn ask(samme: &Samme, task: &Task, answers: &[Answer]) -> Campaign {
    match samme.next(task, answers).expect("a step") {
        Next::Ask(draft) => Campaign::read("campaign", &draft.to_toml()).expect("a campaign"),
        Next::Done(_) => panic!("there is another round"),
    }
}

/// Every second campaign is randomised response under the whole ε: two bodies, whose probabilities for owners who err on all rows, on none or on some
/// lie in e^ε of each other, attained by the first two, and whose debiased mean is the error. A message that told the truth, or one under a larger ε, is refused.
#[test]
fn errors_are_told_by_randomised_response() {
    let world = world(2);
    let epsilon = 1.0;
    let (task, samme) = (without_own(&world, epsilon), told(3));
    let crowd = Crowd::new(&world.schema, &world.owners, 4, 7);
    let first = ask(&samme, &task, &[]);
    let learner = crowd.answer(&first, 0..1000, Voice::Exact).expect("an answer");
    let campaign = ask(&samme, &task, &[learner]);
    let Message::Signs(signs) = campaign.message() else {
        panic!("{}", campaign.describe());
    };
    assert_eq!(
        (signs.dimension(), campaign.body_bytes(), campaign.radius()),
        (1, 1, 1.0)
    );
    assert_eq!(campaign.epsilon(), task.epsilon());
    assert_eq!(campaign.round().expect("a round").of, 6);
    // The debiasing factor says how likely the true sign is: (1 + 1/factor)/2.
    let truth = |factor: f64| f64::midpoint(1.0, 1.0 / factor);
    let plus = |share: f64, factor: f64| share * truth(factor) + (1.0 - share) * (1.0 - truth(factor));
    let worst = |factor: f64| {
        let shares = [0.0, 0.25, 0.5, 0.75, 1.0];
        let ratios = shares.iter().flat_map(|a| {
            shares.iter().map(move |b| {
                let [a, b] = [a, b].map(|share| plus(*share, factor));
                (a / b).ln().max(((1.0 - a) / (1.0 - b)).ln())
            })
        });
        ratios.fold(f64::NEG_INFINITY, f64::max)
    };
    let factor = campaign.influence();
    let exceeds = |factor: f64| worst(factor) > epsilon;
    assert!(
        !exceeds(factor) && worst(factor) > epsilon - 1e-8,
        "{}",
        worst(factor)
    );
    assert!(exceeds(1.0 + 1e-9) && exceeds(0.99 * factor), "mutants");
    for share in [0.0, 0.3, 1.0] {
        let mean = (2.0 * plus(share, factor) - 1.0) * factor;
        assert!((f64::midpoint(mean, 1.0) - share).abs() < 1e-12);
    }
}

/// What owners tell of a learner's error, over 100 groups, lies around the true one as `told_errors` says, or by up to a tenth less: the sum of squares in units of the
/// deviation is about chi-squared with 100 degrees of freedom, outside 40 to 185 once in a million times. Twice the noise and half of it lie outside.
#[test]
fn told_errors_vary_as_planned() {
    let world = world(2);
    let samme = told(3);
    let crowd = Crowd::new(&world.schema, &world.owners, 4, 7);
    let (groups, each) = (100, 80);
    let plan = Plan::new(Arc::new(samme.clone()), without_own(&world, 1.0), 6 * each).expect("a plan");
    let first = ask(&samme, plan.task(), &[]);
    let learner = crowd.answer(&first, 0..1000, Voice::Exact).expect("an answer");
    let campaign = ask(&samme, plan.task(), &[learner]);
    let (rounds, deviation) = plan.told_errors().expect("told").expect("from owners");
    assert_eq!(rounds, 3);
    let mut square = 0.0;
    for group in 0..groups {
        let owners = group * each as usize..(group + 1) * each as usize;
        let [drawn, exact] = [Voice::Drawn, Voice::Exact].map(|voice| {
            let answer = crowd.answer(&campaign, owners.clone(), voice).expect("an answer");
            f64::midpoint(answer.means[0], 1.0)
        });
        assert!((0.05..0.45).contains(&exact), "{exact}");
        square += ((drawn - exact) / deviation).powi(2);
    }
    let outside = |square: f64| !(40.0..185.0).contains(&square);
    assert!(!outside(square), "{square}");
    assert!(outside(4.0 * square) && outside(square / 4.0));
}

/// Without own rows a course learns, and its certificate is the owners' alone; it turns a learner that owners say is wrong; with noise that hides
/// everything α is small.
#[test]
fn owners_alone_judge_learners() {
    let world = world(2);
    let crowd = Crowd::new(&world.schema, &world.owners, 4, 7);
    let plan = Plan::new(Arc::new(told(3)), without_own(&world, 5.0), 10_000).expect("a plan");
    assert!(!plan.algorithm().needs_own_rows() && plan.algorithm().rounds() == 6);
    let learnt = crowd
        .play(plan.algorithm(), plan.task(), Voice::Drawn)
        .expect("a course");
    assert_eq!(learnt.rounds.len(), 3);
    assert!(learnt.rounds[0].0 > 0.5, "{:?}", learnt.rounds);
    assert!(world.error(&learnt) < 0.3, "{}", world.error(&learnt));
    assert!(!plan.model(learnt).expect("a model").certificate().is_void());
    // Owners who say nothing give no learner a vote: 10,000 owners at ε = 5 tell an error of one half within 0.01 each.
    let silent = crowd
        .play(plan.algorithm(), plan.task(), Voice::Silent)
        .expect("a course");
    assert!(
        silent.rounds.iter().all(|(alpha, _)| *alpha < 0.3),
        "{:?}",
        silent.rounds
    );

    let (samme, task) = (told(1), without_own(&world, 5.0));
    let mut learner = crowd
        .answer(&ask(&samme, &task, &[]), 0..2000, Voice::Exact)
        .expect("an answer");
    let d = Features::of(&world.schema).dimension() + 1;
    learner.means[d..].iter_mut().for_each(|mean| *mean = -*mean);
    let errors = ask(&samme, &task, std::slice::from_ref(&learner));
    let errors = crowd
        .answer(&errors, 2000..4000, Voice::Drawn)
        .expect("an answer");
    assert!(errors.means[0] > 0.0, "the classes were exchanged");
    let Next::Done(learnt) = samme.next(&task, &[learner, errors]).expect("a step") else {
        panic!("all was answered");
    };
    assert!(learnt.rounds[0].0 > 0.0 && world.error(&learnt) < 0.3);

    // Own rows are asked for where something comes from them.
    let needs = |samme: Builder<Samme>| samme.build().expect("parameters").needs_own_rows();
    let owners = || Samme::builder().alpha(AlphaSource::Owners);
    assert!(needs(owners()) && !needs(owners().radius(1.0)));
    assert!(needs(owners().radius(1.0).learner(WeakLearner::Stump)));
    assert!(needs(Samme::builder().radius(1.0)));
    // Noise is no small error.
    let noisy = Answer {
        means: vec![-1.5],
        deviations: vec![0.5],
        messages: 4,
    };
    let learner = crowd
        .answer(&ask(&samme, &task, &[]), 0..2000, Voice::Exact)
        .expect("an answer");
    let Next::Done(learnt) = samme.next(&task, &[learner, noisy]).expect("a step") else {
        panic!("all was answered");
    };
    assert!((learnt.rounds[0].1 - 0.25).abs() < 1e-12, "{:?}", learnt.rounds);
}
