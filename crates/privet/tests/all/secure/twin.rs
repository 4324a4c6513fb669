//! The protocol gives the model of the same algorithm in the clear, to the last bit.

use privet::boost::Link;
use privet::data::Target;
use privet::privacy::journal::Event;
use privet::privacy::{AddRemove, Neighbours, Unprotected};
use privet::setting::secure::{
    AttributeChoice, Classifier, CoefficientRule, INITIATOR, Message, Round, Secure, StartWeights, Voter,
};
use privet_testkit::skipped::full;

use super::world::{CLASSES, Line, Net, World, lines, lines_of, options, schema_of, table};

fn agrees(secure: &Secure, rows: [usize; 2], seed: u64) -> usize {
    agrees_on(2, secure, rows, seed).len()
}

/// The rounds, of so many classes, which are those of the twin.
fn agrees_on(classes: usize, secure: &Secure, rows: [usize; 2], seed: u64) -> Vec<Round> {
    let lines = [
        lines_of(classes, rows[0], seed),
        lines_of(classes, rows[1], seed + 1_000_000),
    ];
    let world = World::of(&schema_of(classes), secure, lines);
    let mut outcomes = world.simulation().run().unwrap().all().unwrap();
    let clear = world.in_the_clear(&outcomes[0].rounds);
    for outcome in &outcomes {
        assert_eq!(outcome.rounds, clear, "{secure:?} {seed}");
        assert_eq!(outcome.model.ensemble(), outcomes[0].model.ensemble());
    }
    // Everything that is shown was written down with its most, once.
    for journal in &world.journals {
        let entries = journal.entries();
        let shown = entries.iter().filter_map(|entry| match entry.event() {
            Event::Leak { what, to, count, .. } => Some((what.clone(), to.clone(), *count)),
            _ => None,
        });
        let mut shown: Vec<_> = shown.collect();
        shown.sort();
        let items = world.plan.items();
        let mut declared: Vec<_> = items
            .iter()
            .map(|item| (item.leak.what().to_owned(), item.leak.to().to_owned(), item.most))
            .collect();
        declared.sort();
        assert_eq!(shown, declared);
    }
    outcomes.swap_remove(0).rounds
}

#[test]
fn every_option_gives_the_model_of_the_twin() {
    // The whole run takes ten sets; `PRIVET_SETS` asks for another number.
    let asked = std::env::var("PRIVET_SETS")
        .ok()
        .and_then(|sets| sets.parse().ok());
    let sets: u64 = asked.unwrap_or(if full() { 10 } else { 1 });
    let all = options(if full() { 6 } else { 2 });
    assert!(all.len() > 40, "{}", all.len());
    let mut rounds = 0;
    for seed in 0..sets {
        for (place, secure) in all.iter().enumerate() {
            let rows = [
                5 + (seed as usize * 7 + place) % 20,
                3 + (seed as usize * 5 + place) % 15,
            ];
            rounds += agrees(secure, rows, seed * 1000 + place as u64);
        }
    }
    assert!(rounds > all.len(), "{rounds}");
}

/// Of more than two classes each is told from all others, in the order of the schema and in rounds of its own.
#[test]
fn every_option_gives_the_model_of_the_twin_for_each_class() {
    let sets: u64 = if full() { 4 } else { 1 };
    let all = options(if full() { 4 } else { 2 });
    // The short form takes a third of all options.
    let step = if full() { 1 } else { 3 };
    let mut rounds = [0; 4];
    for seed in 0..sets {
        for (place, secure) in all.iter().enumerate().step_by(step) {
            let classes = 3 + (place / step) % 2;
            let rows = [
                5 + (seed as usize * 7 + place) % 20,
                3 + (seed as usize * 5 + place) % 15,
            ];
            let found = agrees_on(classes, secure, rows, 500_000 + seed * 1000 + place as u64);
            assert!(found.is_sorted_by_key(|round| round.output));
            for (output, all) in rounds.iter_mut().enumerate() {
                let count = found.iter().filter(|round| round.output == output).count();
                assert!(count <= *secure.rounds() as usize);
                *all += count;
            }
        }
    }
    assert!(
        rounds.iter().all(|count| *count > all.len() / (2 * step)),
        "{rounds:?}"
    );
    // A party without rows, and rows of few classes.
    for secure in options(2).iter().step_by(23) {
        agrees_on(3, secure, [0, 6], 7);
        agrees_on(4, secure, [2, 1], 8);
    }
}

/// Where no coins are needed, the rounds of a class are those of a run of two classes: this one, and all others.
#[test]
fn a_class_is_learnt_as_if_it_were_told_from_all_others_alone() {
    for coefficient in [
        CoefficientRule::Exact,
        CoefficientRule::Rounded,
        CoefficientRule::Constant,
    ] {
        for start in [StartWeights::Halves, StartWeights::Rows] {
            let secure = Secure::builder()
                .rounds(5)
                .bins(4)
                .attribute(AttributeChoice::All)
                .coefficient(coefficient)
                .start(start)
                .build();
            let Ok(secure) = secure else {
                continue;
            };
            let lines = || [lines_of(4, 40, 1), lines_of(4, 25, 2)];
            let world = World::of(&schema_of(4), &secure, lines());
            let outcome = world.simulation().run().unwrap().all().unwrap().remove(0);
            let ensemble = outcome.model.ensemble();
            assert_eq!((ensemble.link, ensemble.base.len()), (Link::Softmax, 4));
            let mut together = Vec::new();
            for (output, class) in CLASSES.into_iter().enumerate() {
                let told = |mut line: Line| {
                    line[4] = if line[4] == class { "b" } else { "a" }.into();
                    line
                };
                let two = lines().map(|lines| lines.into_iter().map(told).collect::<Vec<Line>>());
                let rounds = World::new(&secure, two).in_the_clear(&[]);
                together.extend(rounds.into_iter().map(|round| Round { output, ..round }));
            }
            assert_eq!(outcome.rounds, together);
            // Some class has another number of rows than some other, so that classes taken for each other would be found.
            assert!(together.len() > 12, "{}", together.len());
        }
    }
}

/// No item is shown more often than was declared, and where nothing ends early as often: of three classes three times.
#[test]
fn items_are_shown_as_often_as_was_declared() {
    let builder = || Secure::builder().rounds(3).bins(4);
    let lines = || [lines_of(3, 20, 1), lines_of(3, 16, 2)];
    let most = |world: &World, word: &str| {
        let items = world.plan.items();
        let found = items.iter().find(|item| item.leak.what().contains(word));
        found.unwrap_or_else(|| panic!("{word}")).most
    };
    let counted = |world: &World| {
        let (mut voters, mut rates, mut outcomes) = (0, 0, 0);
        let mut net = Net::new(world);
        net.carry_to(INITIATOR, |_, message| match message {
            Message::Voter(_) => voters += 1,
            Message::Rates(_) => rates += 1,
            Message::Garbled(_) => outcomes += 1,
            _ => {}
        });
        let outcome = net.finish().remove(0).unwrap();
        let opposite = outcome.rounds.iter().filter(|round| round.weak.is_opposite());
        (opposite.count() as u64, [voters, rates, outcomes])
    };
    let world = World::of(&schema_of(3), &builder().build().unwrap(), lines());
    let (opposite, counts) = counted(&world);
    // What always abstains is not weighed.
    assert_eq!(counts, [9, 9 - opposite, 0]);
    assert!(opposite < 3, "{opposite}");
    assert_eq!([most(&world, "stump"), most(&world, "weights")], [9, 9]);
    // Nothing is good enough: each class is asked about after each of its rounds but the last.
    let secure = builder()
        .coefficient(CoefficientRule::Constant)
        .stop_at(0.0)
        .build();
    let world = World::of(&schema_of(3), &secure.unwrap(), lines());
    assert_eq!(counted(&world).1, [9, 0, 6]);
    assert_eq!(most(&world, "one class from all others"), 6);
    assert_eq!(most(&world, "stumps and coefficients of the model"), 9);
    let secure = builder()
        .attribute(AttributeChoice::RendezvousByHalves)
        .coefficient(CoefficientRule::Constant);
    let world = World::of(&schema_of(3), &secure.build().unwrap(), lines());
    let (_, [voters, _, outcomes]) = counted(&world);
    assert!(voters > 3 && voters <= most(&world, "its own best stump"));
    assert!(outcomes > voters && outcomes <= most(&world, "half of a random order"));
}

#[test]
fn a_party_without_rows_and_rows_of_one_class_end_well() {
    for secure in options(2).iter().step_by(7) {
        agrees(secure, [0, 6], 7);
        agrees(secure, [4, 0], 8);
        agrees(secure, [0, 0], 9);
        agrees(secure, [1, 1], 10);
    }
}

/// With `stop_at`, a run ends after the first round at which the model is wrong about few enough rows, and not before.
#[test]
fn a_run_ends_where_the_model_is_good_enough() {
    for coefficient in [CoefficientRule::Exact, CoefficientRule::Rounded] {
        let build = |stop: Option<f64>| {
            let secure = Secure::builder().rounds(12).bins(4).coefficient(coefficient);
            match stop {
                Some(share) => secure.stop_at(share).build().unwrap(),
                None => secure.build().unwrap(),
            }
        };
        let rows = || [lines(14, 3), lines(11, 4)];
        let whole = World::new(&build(None), rows());
        let rounds = whole.in_the_clear(&[]);
        assert_eq!(rounds.len(), 12);
        for share in [0.5, 0.3, 0.2] {
            let world = World::new(&build(Some(share)), rows());
            let outcome = world.simulation().run().unwrap().all().unwrap().remove(0);
            assert_eq!(outcome.rounds, world.in_the_clear(&[]));
            let wrong = wrong(&world, &outcome.rounds);
            let (last, before) = wrong.split_last().unwrap();
            let enough = |wrong: &usize| *wrong as f64 <= share * 25.0;
            assert!(before.iter().all(|wrong| !enough(wrong)), "{share} {wrong:?}");
            assert!(enough(last) || outcome.rounds.len() == 12, "{share} {wrong:?}");
        }
    }
}

/// Nothing is asked after the last round, so that one round asks nothing: no item is declared for it, and the run ends well.
#[test]
fn a_run_of_one_round_asks_nothing_about_its_end() {
    let builder = || Secure::builder().rounds(1).bins(4);
    let secure = builder().stop_at(0.1).build().unwrap();
    assert_eq!(agrees(&secure, [14, 11], 3), 1);
    let schema = super::world::schema();
    let items = |secure: &Secure| secure.plan(&schema).unwrap().items().len();
    assert_eq!(items(&secure), items(&builder().build().unwrap()));
    assert!(!secure.plan(&schema).unwrap().has_circuits());
}

/// How many rows the model is wrong or undecided about after each round.
fn wrong(world: &World, rounds: &[Round]) -> Vec<usize> {
    let permission = Unprotected::unrecorded("rows", &AddRemove::row().relation(), "a test");
    let cells = world
        .rows
        .iter()
        .map(|rows| permission.reveal(table(&world.plan, rows).into_cells()));
    let cells: Vec<_> = cells.collect();
    let mut scores: Vec<Vec<i64>> = cells.iter().map(|cells| vec![0; cells.rows()]).collect();
    let mut all = Vec::new();
    for round in rounds {
        let mut count = 0;
        for (cells, scores) in cells.iter().zip(&mut scores) {
            let Some(Target::Classes(classes)) = cells.target() else {
                panic!("classes");
            };
            for (row, score) in scores.iter_mut().enumerate() {
                *score += i64::from(round.weak.vote(cells.features(), row)) * round.alpha.0;
                let right = if classes[row] == 0 { *score < 0 } else { *score > 0 };
                count += usize::from(!right);
            }
        }
        all.push(count);
    }
    all
}

/// Trees of both parties are merged, and abstain where they differ; some coefficient of theirs may be negative.
#[test]
fn trees_ask_about_their_group_and_on_the_grid() {
    let secure = Secure::builder()
        .rounds(8)
        .bins(4)
        .depth(3)
        .group(2)
        .build()
        .unwrap();
    let world = World::new(&secure, [lines(40, 5), lines(30, 6)]);
    let outcomes = world.simulation().run().unwrap().all().unwrap();
    assert_eq!(outcomes[0].rounds, world.in_the_clear(&[]));
    let mut nodes = 0;
    for round in &outcomes[0].rounds {
        for voter in round.weak.voters() {
            let Voter::Tree(tree) = voter else {
                panic!("{voter:?}");
            };
            let groups: std::collections::BTreeSet<usize> =
                tree.nodes.iter().map(|node| node.feature / 2).collect();
            assert!(groups.len() <= 1, "{tree:?}");
            nodes += tree.nodes.len();
        }
    }
    assert!(nodes > 16, "{nodes}");
    // The model says what the rounds say.
    let shapes = privet::learner::Shape::of(world.plan.schema());
    let permission = Unprotected::unrecorded("rows", &AddRemove::row().relation(), "a test");
    let cells = permission.reveal(table(&world.plan, &lines(40, 99)).into_cells());
    for row in 0..40 {
        let rounds = outcomes[0].rounds.iter();
        let voted: f64 = rounds
            .map(|round| f64::from(round.weak.vote(cells.features(), row)) * round.alpha.to_f64())
            .sum();
        let members = outcomes[0].model.ensemble().members.iter();
        let scored: f64 = members
            .map(|member| member.weight * member.learner.vote(&shapes, cells.features(), row))
            .sum();
        assert!((voted - scored).abs() < 1e-9, "{row}");
    }
}

/// Where nothing can be learned, a run over all attributes ends at once in place of doing the same round again and again.
#[test]
fn a_round_that_would_repeat_itself_ends_the_run() {
    for (_, classifier) in Classifier::NAMES {
        for coefficient in [CoefficientRule::Exact, CoefficientRule::Rounded] {
            let secure = Secure::builder()
                .rounds(4)
                .bins(4)
                .classifier(classifier)
                .attribute(AttributeChoice::All)
                .coefficient(coefficient);
            let row = |class: &str| ["1", "1", "red", "true", class].map(String::from).to_vec();
            let rows = [vec![row("a"), row("b")], vec![row("b"), row("a")]];
            let world = World::new(&secure.build().unwrap(), rows);
            for outcome in world.simulation().run().unwrap().all().unwrap() {
                assert_eq!(outcome.rounds, world.in_the_clear(&[]));
                assert!(outcome.rounds.is_empty(), "{classifier:?} {coefficient:?}");
            }
        }
    }
}
