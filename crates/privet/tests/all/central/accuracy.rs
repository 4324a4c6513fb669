//! Generated laws on which earlier rules failed: each test shows the failure of a rule beside the rule that replaced it. Labels are classes.
//!
//! Rows and noise come from seeds, so these tests say the same in every run.

use privet::data::schema::{Domain, category, number};
use privet::model::Model;
use privet::privacy::Coins;
use privet::setting::central::{
    Algorithm, Auto, Forest, HistogramBayes, MomentSelect, Select, Splits, Trees,
};

use crate::central::laws::{Law, Rows, accuracy, auc_and_log_loss, columns, normal};

/// Which of the amounts below are those of the positive class: some beside others, so that the bins of the schema differ, and hold some of both.
const POSITIVE: u64 = 0b0110_1001_1101_0010_1100_0101_1010_0111_0100_1011;

/// Seven rows of ten have no gain. The others have one of forty amounts, and these decide.
fn amounts() -> Law {
    let columns = [
        number("gain", 0..=100_000).into(),
        number("age", 0.0..=1.0).into(),
        number("hours", 0.0..=1.0).into(),
    ];
    Law::new(columns, Domain::from(["no", "yes"]), |coins| {
        let (age, hours) = (coins.unit(), coins.unit());
        let amount = coins.below(40);
        let has = coins.below(10) < 3;
        let decides = if (POSITIVE >> amount) & 1 == 1 { 2.5 } else { -2.5 };
        let odds = if has { decides } else { -0.5 } + 2.0 * (age - 0.5);
        let yes = coins.unit() < 1.0 / (1.0 + (-odds).exp());
        let gain = if has { (20_000 + 977 * amount) as f64 } else { 0.0 };
        (vec![gain, age, hours], if yes { "yes" } else { "no" }.into())
    })
}

#[test]
fn values_that_many_rows_share_get_bins_of_their_own_where_they_decide() {
    let law = amounts();
    let (train, test) = (law.rows(20_000, 1), law.rows(5000, 2));
    let without = Trees::builder().spikes(false).build().expect("trees");
    let fit = |trees: &Trees| {
        let model = law.model(trees, &train, "2", "1e-6");
        let [auc, _] = auc_and_log_loss(&law, &model, &test);
        (auc, model)
    };
    let [(before, plain), (after, model)] = [&without, &Trees::default()].map(fit);
    println!("AUC {before:.3} without bins of their own, {after:.3} with them");
    assert!(after > before + 0.05, "{before} {after}");
    assert!(plain.ensemble().spikes.is_empty());
    // Whoever reads the model is told of them: most amounts, and hardly anything else.
    let [spikes] = &model.ensemble().spikes[..] else {
        panic!("one column has spikes")
    };
    let (column, values) = spikes.values(model.schema()).expect("a number");
    let is_amount = |x: u64| (0..40).any(|amount| x == 20_000 + 977 * amount);
    let amounts = values
        .iter()
        .filter(|[low, high]| (*low as u64..=*high as u64).any(is_amount));
    let amounts = amounts.count();
    assert_eq!(column, "gain");
    assert!(
        amounts >= 30 && values.len() - amounts <= 12,
        "{amounts} of {values:?}"
    );
    let again = Model::from_bytes(&model.to_bytes()).expect("the model");
    assert_eq!(again.ensemble(), model.ensemble());
}

/// One row of twenty is positive: nobody is called positive unless such rows count more. The order of rows hardly changes.
#[test]
fn rare_classes_are_found_where_they_count_more() {
    let law = Law::new(columns(3, 0.0, 1.0), Domain::from(["no", "yes"]), |coins| {
        let x: Vec<f64> = (0..3).map(|_| coins.unit()).collect();
        let yes = coins.unit() < 1.0 / (1.0 + (5.6 - 5.0 * x[0]).exp());
        (x, if yes { "yes" } else { "no" }.into())
    });
    let (train, test) = (law.rows(10_000, 1), law.rows(5000, 2));
    let found = |weight: f64| {
        let trees = Trees::builder().positive_weight(weight).build().expect("trees");
        let model = law.model(&trees, &train, "1", "1e-6");
        let said = model.predict(&law.frame(&test)).expect("predictions");
        let said = said.classes().expect("classes").to_vec();
        let positive = |row: &&usize| test.labels[**row] == "yes";
        let rows: Vec<usize> = (0..said.len()).collect();
        let hits = rows
            .iter()
            .filter(positive)
            .filter(|&&row| said[row] == 1)
            .count() as f64;
        [
            hits / rows.iter().filter(positive).count() as f64,
            auc_and_log_loss(&law, &model, &test)[0],
        ]
    };
    let [[missed, before], [hit, after]] = [1.0, 15.0].map(found);
    println!("recall {missed:.2} and {hit:.2}, AUC {before:.3} and {after:.3}");
    assert!(
        missed < 0.1 && hit > 0.6 && after > before - 0.03,
        "{missed} {hit} {before} {after}"
    );
}

/// Ages between 0 and 100, of whom most are old and few are young; one in nineteen is positive, the old more often. Two columns say nothing.
fn ages() -> Law {
    let age = || number("age", 0..=100).into();
    let columns = [
        age(),
        category("flag", ["0", "1"]).into(),
        number("other", 0..=100).into(),
    ];
    Law::new(columns, Domain::from(["no", "yes"]), |coins| {
        let age = (100.0 + 22.0 * (1.0 - coins.unit()).ln())
            .clamp(0.0, 100.0)
            .round();
        let yes = coins.unit() < 1.0 / (1.0 + (2.9 - 0.06 * (age - 80.0)).exp());
        let others = [coins.below(2) as f64, coins.below(101) as f64];
        (
            vec![age, others[0], others[1]],
            if yes { "yes" } else { "no" }.into(),
        )
    })
}

/// Leaves of the young have few rows. When each leaf was pulled towards even odds on its own, they stayed nearer to these than leaves of the old, although
/// the young are rarely positive: an AUC of .63. Pulled towards their neighbours they are ranked rightly: .67. The mean of twelve runs, whose deviation is .018.
#[test]
fn leaves_with_few_rows_are_not_ranked_by_that() {
    let law = ages();
    let test = law.rows(10_000, 2);
    let each = (0..12).map(|seed| {
        let train = law.rows(12_000, 20 + seed);
        let model = law.model_by(seed.into(), &Trees::default(), &train, ["0.3", "1e-6"]);
        auc_and_log_loss(&law, &model, &test)[0]
    });
    let auc = each.sum::<f64>() / 12.0;
    println!("AUC {auc:.3}");
    assert!(auc > 0.65, "{auc}");
}

/// Where effects are smooth nothing is counted, and nothing is lost: the model is that of trees that do not look for spikes, but for coins.
#[test]
fn smooth_columns_have_no_spikes() {
    let law = Law::new(columns(3, 0.0, 1000.0), Domain::from(["no", "yes"]), |coins| {
        let x: Vec<f64> = (0..3).map(|_| 1000.0 * coins.unit()).collect();
        let odds = x[0] / 250.0 - 2.0 + (x[1] / 160.0).sin();
        let yes = coins.unit() < 1.0 / (1.0 + (-odds).exp());
        (x, if yes { "yes" } else { "no" }.into())
    });
    let rows = law.rows(12_000, 1);
    for seed in 0..4 {
        let model = law.model_by(seed, &Trees::default(), &rows, ["2", "1e-6"]);
        assert!(model.ensemble().spikes.is_empty());
        let job = model.settings().job();
        assert!(
            job.iter().any(|(key, value)| key == "spikes" && value == "true"),
            "{job:?}"
        );
    }
}

/// Twelve classes by which corner of pairs of columns a row is in: no column alone tells anything.
#[test]
fn many_classes_that_depend_on_several_columns_are_learnt() {
    let names: Vec<String> = (0..12).map(|class| format!("k{class}")).collect();
    let law = Law::new(columns(4, 0.0, 1.0), Domain::from(names), |coins| {
        let x: Vec<f64> = (0..4).map(|_| coins.unit()).collect();
        let half = |x: f64| usize::from(x > 0.5);
        let first = half(x[0]) ^ half(x[1]);
        let third = ((x[2] * 3.0) as usize + (x[3] * 3.0) as usize) % 3;
        let class = 6 * first + 2 * third + (half(x[0]) ^ half(x[2]));
        (x, format!("k{class}"))
    });
    let (train, test) = (law.rows(6000, 5), law.rows(2000, 6));
    let fit = |trees: Trees| accuracy(&law, &law.model(&trees, &train, "4", "1e-6"), &test);
    let before = fit(Trees::builder()
        .splits(Splits::OneFeature)
        .build()
        .expect("trees"));
    let now = fit(Trees::default());
    println!(
        "one feature {before:.3}, by default {now:.3}, constant {:.3}",
        1.0 / 12.0
    );
    assert!(now > before + 0.15, "{now} {before}");
}

/// Eight classes around centres of their own in six columns, and two columns that say nothing: each question of boosting would be drowned in noise.
#[test]
fn many_classes_are_counted_in_random_trees_under_pure_epsilon() {
    const CENTRES: [[f64; 6]; 8] = [
        [0.2, 0.3, 0.7, 0.5, 0.2, 0.8],
        [0.7, 0.2, 0.3, 0.8, 0.5, 0.3],
        [0.3, 0.8, 0.2, 0.2, 0.7, 0.5],
        [0.8, 0.7, 0.8, 0.3, 0.3, 0.2],
        [0.5, 0.5, 0.2, 0.7, 0.8, 0.7],
        [0.2, 0.7, 0.5, 0.8, 0.3, 0.3],
        [0.7, 0.4, 0.7, 0.2, 0.8, 0.7],
        [0.4, 0.2, 0.4, 0.4, 0.4, 0.5],
    ];
    let names: Vec<String> = (0..8).map(|class| format!("k{class}")).collect();
    let law = Law::new(columns(8, 0.0, 1.0), Domain::from(names), |coins| {
        let class = coins.below(8) as usize;
        let mut x: Vec<f64> = CENTRES[class]
            .iter()
            .map(|centre| centre + 0.12 * normal(coins))
            .collect();
        x.extend([coins.unit(), coins.unit()]);
        (x, format!("k{class}"))
    });
    let (train, test) = (law.rows(5000, 7), law.rows(2000, 8));
    let fit = |algorithm: &dyn Algorithm| accuracy(&law, &law.model(algorithm, &train, "0.2", "0"), &test);
    let [boosted, counted] = [fit(&Trees::default()), fit(&Forest::default())];
    println!(
        "boosted {boosted:.3}, counted in random trees {counted:.3}, constant {:.3}",
        1.0 / 8.0
    );
    assert!(counted > boosted + 0.15, "{counted} {boosted}");
    let model = law.model(&Auto::default(), &train, "0.2", "0");
    let chosen = model
        .settings()
        .job()
        .iter()
        .find(|(key, _)| key == "algorithm")
        .map(|(_, value)| value.clone());
    assert_eq!(chosen.as_deref(), Some("forest"));
}

/// Where classes say nothing about columns, random trees call every row by the most frequent class, as a constant does.
#[test]
fn random_trees_are_no_worse_than_a_constant_where_nothing_can_be_learnt() {
    let names: Vec<String> = (0..3).map(|class| format!("k{class}")).collect();
    let law = Law::new(columns(6, 0.0, 1.0), Domain::from(names), |coins| {
        let x: Vec<f64> = (0..6).map(|_| coins.unit()).collect();
        let class = match coins.unit() {
            u if u < 0.6 => 0,
            u if u < 0.95 => 1,
            _ => 2,
        };
        (x, format!("k{class}"))
    });
    let (train, test) = (law.rows(8000, 9), law.rows(4000, 10));
    for epsilon in ["0.1", "1"] {
        let found = accuracy(&law, &law.model(&Forest::default(), &train, epsilon, "0"), &test);
        println!("at ε = {epsilon}: {found:.3}, constant about 0.6");
        // Three standard errors of so many rows.
        assert!(found > 0.6 - 0.024, "ε = {epsilon}: {found}");
    }
}

/// Three classes whose odds change by a little with one of eight columns, and not with the others.
fn hardly_told_apart() -> Law {
    let names: Vec<String> = (0..3).map(|class| format!("k{class}")).collect();
    Law::new(columns(8, 0.0, 1.0), Domain::from(names), |coins| {
        let x: Vec<f64> = (0..8).map(|_| coins.unit()).collect();
        let first = 0.55 + 0.1 * (x[0] - 0.5);
        let class = match coins.unit() {
            u if u < first => 0,
            u if u < first + 0.3 => 1,
            _ => 2,
        };
        (x, format!("k{class}"))
    })
}

/// Where three classes can hardly be told apart, rows are called by the most frequent one, as a constant does; where they can be, nothing changes.
#[test]
fn scores_of_several_classes_are_believed_where_rows_say_so() {
    let rate = |law: &Law, rows: [&Rows; 2], (algorithm, epsilon, delta): (&dyn Algorithm, &str, &str)| {
        accuracy(law, &law.model(algorithm, rows[0], epsilon, delta), rows[1])
    };
    let trees = |calibrate: bool| Trees::builder().calibrate(calibrate).build().expect("trees");
    let forest = |calibrate: bool| Forest::builder().calibrate(calibrate).build().expect("a forest");
    let law = hardly_told_apart();
    let (train, test) = (law.rows(3000, 11), law.rows(20_000, 12));
    let constant = test.labels.iter().filter(|label| *label == "k0").count() as f64 / 20_000.0;
    let mut lost: f64 = 0.0;
    for (epsilon, delta) in [
        ("0.5", "1e-6"),
        ("2", "1e-6"),
        ("8", "1e-6"),
        ("0.5", "0"),
        ("4", "0"),
    ] {
        let off =
            |algorithm: &dyn Algorithm| rate(&law, [&train, &test], (algorithm, epsilon, delta)) - constant;
        let [with, without] =
            [true, false].map(|calibrate| [off(&trees(calibrate)), off(&forest(calibrate))]);
        println!(
            "ε = {epsilon}, δ = {delta}: trees and a forest beside the constant {constant:.3}: {with:.4?}, not recalibrated {without:.4?}"
        );
        assert!(
            with.into_iter().all(|off| off > -0.004),
            "ε = {epsilon}, δ = {delta}: {with:?}"
        );
        lost = without.into_iter().fold(lost, f64::min);
    }
    assert!(lost < -0.01, "the law shows nothing: {lost}");
}

/// Twenty heavy-tailed columns with many zeros, declared far too wide; 25 % of positives.
fn two_classes() -> Law {
    heavy_tails::<25>()
}

/// The same with so many of a hundred.
fn heavy_tails<const POSITIVE: u64>() -> Law {
    Law::new(columns(20, 0.0, 100.0), Domain::from(["no", "yes"]), |coins| {
        let positive = coins.below(100) < POSITIVE;
        let x = (0..20).map(|i| {
            let zero = coins.unit() < if positive && i < 8 { 0.45 } else { 0.7 };
            if zero {
                0.0
            } else {
                (normal(coins) - 1.0 + f64::from(u8::from(positive && i < 8))).exp()
            }
        });
        let x: Vec<f64> = x.collect();
        (x, if positive { "yes" } else { "no" }.to_owned())
    })
}

/// Most rows are far below the middle of the declared range: bins of equal width would hold them all in one.
#[test]
fn heavy_tails_are_learnt_under_pure_epsilon() {
    let law = two_classes();
    let (train, test) = (law.rows(5000, 7), law.rows(2000, 8));
    let fit = |algorithm: &dyn Algorithm| {
        ["1", "4", "8"].map(|epsilon| {
            let model = law.model(algorithm, &train, epsilon, "0");
            auc_and_log_loss(&law, &model, &test)[0]
        })
    };
    let trees = fit(&Trees::default());
    for found in [fit(&Auto::default()), fit(&HistogramBayes::default())] {
        println!("AUC at ε = 1, 4 and 8: {found:.3?}, trees {trees:.3?}");
        assert!(found[0] > 0.8 && found[1] > 0.85 && found[1] > found[0] - 0.01);
        assert!(
            found
                .iter()
                .zip(&trees)
                .all(|(found, trees)| *found > trees - 0.02),
            "{found:?} {trees:?}"
        );
    }
}

/// 6 % of positives: values that hardly any row has are not taken for a sign of the rare class. Mean of eight models.
#[test]
fn rare_values_do_not_speak_for_the_rare_class() {
    let law = heavy_tails::<6>();
    let test = law.rows(4000, 8);
    let aucs = (0..8).map(|seed| {
        let model = law.model(&HistogramBayes::default(), &law.rows(5000, 20 + seed), "0.5", "0");
        auc_and_log_loss(&law, &model, &test)[0]
    });
    let mean = aucs.sum::<f64>() / 8.0;
    println!("AUC {mean:.3}");
    assert!(mean > 0.6, "{mean}");
}

/// 6 % of positives, and columns that mostly say the same.
fn uneven() -> Law {
    let values = ["0", "1", "2", "3", "4", "5"];
    let columns = (0..12).map(|i| category(format!("c{i}"), values).into());
    Law::new(columns, Domain::from(["no", "yes"]), |coins| {
        let positive = coins.unit() < 0.06;
        // One hidden number, which every column repeats with a little noise.
        let hidden = normal(coins) + if positive { 1.5 } else { 0.0 };
        let cell = |coins: &mut Coins| (hidden + 0.5 * normal(coins) + 2.5).clamp(0.0, 5.0).floor();
        (
            (0..12).map(|_| cell(coins)).collect(),
            if positive { "yes" } else { "no" }.to_owned(),
        )
    })
}

#[test]
fn naive_bayes_is_recalibrated_where_classes_are_uneven() {
    let law = uneven();
    let (train, test) = (law.rows(10_000, 9), law.rows(4000, 10));
    let fit = |calibrate: bool| {
        let bayes = HistogramBayes::builder()
            .calibrate(calibrate)
            .build()
            .expect("bayes");
        let model = law.model(&bayes, &train, "1", "0");
        let [auc, loss] = auc_and_log_loss(&law, &model, &test);
        (auc, loss, accuracy(&law, &model, &test))
    };
    let (before, now) = (fit(false), fit(true));
    let p = test.labels.iter().filter(|label| *label == "yes").count() as f64 / 4000.0;
    let constant = -p * p.ln() - (1.0 - p) * (1.0 - p).ln();
    println!(
        "AUC, log loss, accuracy: {before:?}, recalibrated {now:?}; constant {constant:.3}, {:.3}",
        1.0 - p
    );
    assert!(now.1 < before.1 - 0.005, "{before:?} {now:?}");
    assert!(
        now.1 < constant && now.2 > 1.0 - p - 0.005 && now.0 > before.0 - 0.02,
        "{now:?}"
    );
}

/// Why `select` and `moment-select` can rank backwards. Nine of ten rows are negative, and all rows lie on one side of the declared range. `select` chooses
/// by hits: planes that call every row negative are equally good, and more of them point away from the rows than along what tells classes apart.
/// `moment-select` adds up rows times half their sign, which is the mean of the larger class wherever that lies. Neither is a wrong sign: on even classes
/// around the middle of the range both rank well.
#[test]
fn planes_rank_backwards_where_classes_are_uneven_and_rows_lie_off_the_middle() {
    fn row(coins: &mut Coins, share: f64, middle: f64) -> (Vec<f64>, String) {
        let positive = coins.unit() < share;
        let up = if positive { 0.12 } else { 0.0 };
        let x = (0..2).map(|_| (middle + up + 0.15 * normal(coins)).clamp(-1.0, 1.0));
        (x.collect(), if positive { "yes" } else { "no" }.to_owned())
    }
    let law = |row| Law::new(columns(2, -1.0, 1.0), Domain::from(["no", "yes"]), row);
    let (even, uneven) = (
        law(|coins| row(coins, 0.5, 0.0)),
        law(|coins| row(coins, 0.1, 0.5)),
    );
    // The mean of nine runs: which plane is chosen among equals is a matter of coins.
    let auc = |law: &Law, algorithm: &dyn Algorithm| {
        let (train, test) = (law.rows(4000, 11), law.rows(2000, 12));
        let each = (0..9).map(|seed| {
            let model = law.model_by(seed, algorithm, &train, ["0.2", "0"]);
            auc_and_log_loss(law, &model, &test)[0]
        });
        each.sum::<f64>() / 9.0
    };
    let each: [(&str, Box<dyn Algorithm>, bool); 3] = [
        ("select", Box::new(Select::default()), true),
        ("moment-select", Box::new(MomentSelect::default()), true),
        ("trees", Box::new(Trees::default()), false),
    ];
    for (name, algorithm, backwards) in each {
        let [good, bad] = [&even, &uneven].map(|law| auc(law, algorithm.as_ref()));
        println!("{name}: AUC {good:.3} on even classes, {bad:.3} on uneven ones off the middle");
        assert!(good > 0.65, "{name} {good}");
        assert_eq!(bad < 0.5, backwards, "the cause that is documented: {name} {bad}");
    }
}

/// Which class a row has follows from products of columns, and hardly from any column alone: trees about one column, and half of them about two that are drawn
/// evenly, find less of it than pairs that are drawn by what they have gained.
#[test]
fn products_of_columns_are_learnt_for_classes() {
    let law = Law::new(columns(10, 0.0, 1.0), Domain::from(["no", "yes"]), |coins| {
        let x: Vec<f64> = (0..10).map(|_| coins.unit()).collect();
        let odds = 24.0 * (x[0] - 0.5) * (x[1] - 0.5) + 12.0 * (x[2] - 0.5) * (x[3] - 0.5) + x[4] - 0.5;
        let yes = coins.unit() < 1.0 / (1.0 + (-odds).exp());
        (x, if yes { "yes" } else { "no" }.into())
    });
    let (train, test) = (law.rows(20_000, 1), law.rows(5000, 2));
    let fit = |trees: &Trees| auc_and_log_loss(&law, &law.model(trees, &train, "2", "1e-6"), &test);
    let mixed = Trees::builder().splits(Splits::Mixed).build().expect("trees");
    let [before, now] = [&mixed, &Trees::default()].map(fit);
    println!("AUC and log loss: as before {before:.3?}, pairs {now:.3?}");
    assert!(
        now[0] > before[0] + 0.02 && now[1] < before[1],
        "{before:?} {now:?}"
    );
}

/// Sixty columns that say nothing, one row of ten positive, and so few rows that scores are not recalibrated: what was kept of sixty columns of noise made scores that
/// were large and wrong, with a log loss of half as much again as the constant's.
#[test]
fn many_columns_of_noise_make_no_confident_scores() {
    let values = ["0", "1", "2", "3"];
    let columns = (0..60).map(|i| category(format!("c{i}"), values).into());
    let law = Law::new(columns, Domain::from(["no", "yes"]), |coins| {
        let positive = coins.below(10) == 0;
        let x = (0..60).map(|_| coins.below(4) as f64).collect();
        (x, if positive { "yes" } else { "no" }.to_owned())
    });
    let (train, test) = (law.rows(1500, 3), law.rows(3000, 4));
    let constant = -(0.1f64 * 0.1f64.ln() + 0.9 * 0.9f64.ln());
    let losses = (0..5).map(|seed| {
        let model = law.model_by(seed, &Auto::default(), &train, ["0.5", "0"]);
        auc_and_log_loss(&law, &model, &test)[1]
    });
    let losses: Vec<f64> = losses.collect();
    println!("constant {constant:.3}, models {losses:.3?}");
    let mean = losses.iter().sum::<f64>() / 5.0;
    assert!(mean < constant + 0.03, "{losses:?}");
}
