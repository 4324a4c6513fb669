//! What each column does: it adds up to the score, its bands are right, and what cannot be read so is refused.

use privet::boost::{Ensemble, Learner, Link, Member};
use privet::data::schema::{category, label, number};
use privet::data::{Frame, Schema, Table};
use privet::learner::SILENT;
use privet::learner::tree::{Child, Node, Rule, Side, Tree};
use privet::model::explain::Meaning;
use privet::model::{Model, Settings};
use privet::privacy::account::Caps;
use privet::privacy::{Coins, Delta, Epsilon, Ledger, Randomness};
use privet::setting::central::{Algorithm, Budget, Splits, Trees};

use super::{leave, model};
use crate::home::{Kinds, schema};

const ROWS: usize = 3000;
/// Of these the first two matter.
const NUMBERS: [&str; 7] = ["x0", "x1", "x2", "x3", "x4", "x5", "skew"];

fn people() -> Schema {
    let numbers = NUMBERS.map(|name| number(name, 0..=1).bins(32));
    let all = numbers.into_iter().chain([category("kind", ["p", "q", "r"])]);
    Schema::builder("people")
        .columns(all.chain([label("y", ["a", "b"])]))
        .build()
        .unwrap()
}

/// Columns by name, always the same.
struct Drawn {
    numbers: Vec<(&'static str, Vec<f64>)>,
    kinds: Vec<&'static str>,
    labels: Vec<&'static str>,
}

impl Drawn {
    fn new(rows: usize) -> Self {
        let mut coins = Coins::from_seed([3; 32]);
        let mut even = || coins.below(1 << 20) as f64 / f64::from(1 << 20);
        let mut drawn = Self {
            numbers: NUMBERS.map(|name| (name, Vec::new())).to_vec(),
            kinds: Vec::new(),
            labels: Vec::new(),
        };
        for _ in 0..rows {
            let mut x = NUMBERS.map(|_| even());
            x[6] = x[6].powi(6);
            let kind = (even() * 3.0) as usize;
            let z = 2.0 * (6.0 * x[0]).sin() + 3.0 * (x[1] - 0.5) + [0.0, 1.0, -1.0][kind];
            let yes = even() < 1.0 / (1.0 + (-z).exp());
            for ((_, cells), x) in drawn.numbers.iter_mut().zip(x) {
                cells.push(x);
            }
            drawn.kinds.push(["p", "q", "r"][kind]);
            drawn.labels.push(if yes { "b" } else { "a" });
        }
        drawn
    }

    fn frame(&self) -> Frame<'_> {
        let numbers = self.numbers.iter();
        let frame = numbers.fold(Frame::new(), |frame, (name, cells)| frame.column(*name, cells));
        frame.column("kind", &self.kinds).column("y", &self.labels)
    }
}

fn fitted(drawn: &Drawn, epsilon: f64, splits: Splits, seed: u64) -> Model {
    let (schema, rows) = (people(), drawn.kinds.len() as u64);
    let delta = Delta::new(1e-6).unwrap();
    let budget = Budget::with_delta(Epsilon::new(epsilon).unwrap(), delta, rows).unwrap();
    let trees = Trees::builder().splits(splits).build().unwrap();
    let plan = trees.plan(&schema, &schema.relation(), budget).unwrap();
    let caps = Caps::from(plan.price());
    let ledger = Ledger::volatile(schema.relation(), caps, delta, Randomness::seeded(seed)).unwrap();
    plan.fit(
        Table::read(&plan.reads(), &drawn.frame()).unwrap(),
        ledger,
        SILENT,
    )
    .unwrap()
}

fn adds_up(model: &Model, frame: &Frame<'_>) {
    let explanation = model.explain().unwrap();
    let contributions = explanation.contributions(frame).unwrap();
    let predictions = model.predict(frame).unwrap();
    for row in 0..contributions.rows() {
        let scores = explanation.scores(contributions.row(row));
        for (sum, score) in scores.iter().zip(predictions.row(row)) {
            assert!((sum - score).abs() < 1e-5, "row {row}: {sum} {score}");
        }
    }
}

#[test]
fn base_shapes_and_pairs_add_up_to_the_score() {
    let drawn = Drawn::new(ROWS);
    for splits in [Splits::OneFeature, Splits::Mixed] {
        let model = fitted(&drawn, 4.0, splits, 1);
        adds_up(&model, &drawn.frame());
        let explanation = model.explain().unwrap();
        assert_eq!(explanation.pairs().next().is_some(), splits != Splits::OneFeature);
        assert!(explanation.terms().iter().all(|term| term.noise.is_some()));
    }
    let strange = Frame::new()
        .column("x0", [None, Some(f64::INFINITY), Some(-3.0), Some(f64::NAN)])
        .column("x1", [0.5; 4])
        .column("x2", [0.0, 1.0, 0.3, 0.9])
        .column("x3", [0.1; 4])
        .column("x4", [0.2; 4])
        .column("x5", [0.3; 4])
        .column("skew", [0.0; 4])
        .column("kind", ["p", "nothing", "", "r"]);
    adds_up(&fitted(&drawn, 2.0, Splits::Mixed, 2), &strange);
}

#[test]
fn several_classes_numbers_and_stumps_add_up_too() {
    let frame = Frame::new()
        .column("size", [Some(-1.5), Some(0.2), None])
        .column("colour", ["red", "octarine", ""])
        .column("slope", ["low", "high", "?"]);
    for kind in [Kinds::Classes(2), Kinds::Classes(3)] {
        adds_up(&model(kind, "stumps"), &frame);
    }
}

/// The root of the summed variances of leaves is what curves deviate by from fit to fit, but for a steep curve, which moves with its cuts, too. The
/// deviation of 40 fits is itself off by a ninth or so, the median of 227 of them by about 3 %: bands of half or twice the width fail. Noise comes
/// from seeds, so that every run says the same.
#[test]
fn bands_are_as_wide_as_refits_deviate() {
    if !privet_testkit::skipped::full() {
        return;
    }
    let drawn = Drawn::new(10_000);
    let (mut values, mut variances) = (Vec::new(), Vec::new());
    let fits = 40u32;
    for fit in 0..u64::from(fits) {
        let explanation = fitted(&drawn, 1.0, Splits::OneFeature, fit).explain().unwrap();
        let (mut line, mut noise) = (Vec::new(), Vec::new());
        for name in NUMBERS.into_iter().chain(["kind"]) {
            let term = explanation.shapes().find(|term| term.name() == name).unwrap();
            let column = &term.columns[0];
            let slots = if name == "kind" { 3 } else { 32 };
            for slot in 0..slots {
                let place = column
                    .segments
                    .iter()
                    .rposition(|segment| segment.first <= slot)
                    .unwrap();
                line.push(term.values[place]);
                noise.push(term.noise.as_ref().unwrap()[place].powi(2));
            }
        }
        values.push(line);
        variances.push(noise);
    }
    let count = f64::from(fits);
    let mut ratios: Vec<f64> = (0..values[0].len())
        .map(|point| {
            let mean = values.iter().map(|line| line[point]).sum::<f64>() / count;
            let squares: f64 = values.iter().map(|line| (line[point] - mean).powi(2)).sum();
            let band = variances.iter().map(|noise| noise[point]).sum::<f64>() / count;
            (band / (squares / (count - 1.0))).sqrt()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    println!("the median of the band over the deviation of {fits} fits is {median:.3}");
    assert!((0.9..=1.15).contains(&median), "{median}");
}

fn by_hand(nodes: Vec<Node>, leaves: Vec<f32>, noise: Vec<f32>) -> Model {
    let schema = schema([
        number("x", 0..=3).bins(4),
        category("c", ["p", "q"]),
        number("z", 0..=1).bins(2),
        label("y", ["a", "b"]),
    ]);
    let tree = Tree { nodes, leaves, noise };
    let members = vec![Member::new(2.0, 0, Learner::Tree(tree))];
    let ensemble = Ensemble::new(Link::Logistic, vec![0.25], members);
    Model::new(schema, ensemble, leave().certificate(), Settings::new(Vec::new())).unwrap()
}

fn up_to(feature: u32, slot: u16, left: Child, right: Child) -> Node {
    Node {
        feature,
        rule: Rule::UpTo {
            slot,
            others: Side::Left,
        },
        left,
        right,
    }
}

#[test]
fn a_tree_by_hand_is_cut_where_it_asks() {
    let node = up_to(0, 1, Child::Leaf(0), Child::Leaf(1));
    let explanation = by_hand(vec![node], vec![1.0, -1.0], vec![0.5, 0.25])
        .explain()
        .unwrap();
    let term = &explanation.terms()[0];
    let means: Vec<String> = term.columns[0]
        .segments
        .iter()
        .map(|own| own.means.name())
        .collect();
    assert_eq!(means, ["0 to 1.5", "1.5 to 3", "missing"]);
    // Three slots are on the left, and their leaf is half as precise; the mean is 2·(1/3) - 2·(2/3).
    assert!((explanation.base()[0] - (0.25 - 2.0 / 3.0)).abs() < 1e-9);
    assert!((term.values[0] - term.values[1] - 4.0).abs() < 1e-9);
    assert_eq!(term.values[0], term.values[2]);
    assert_eq!(term.noise.as_deref(), Some(&[1.0, 0.5, 1.0][..]));
    assert_eq!(explanation.outputs(), ["log-odds of y = b"]);
}

#[test]
fn two_columns_are_a_pair_and_three_are_refused() {
    let two = vec![
        up_to(0, 1, Child::Leaf(0), Child::Node(1)),
        Node {
            feature: 1,
            rule: Rule::one_of(4, [0]),
            left: Child::Leaf(1),
            right: Child::Leaf(2),
        },
    ];
    let explanation = by_hand(two.clone(), vec![0.0, 1.0, 2.0], Vec::new())
        .explain()
        .unwrap();
    let pair = explanation.pairs().next().unwrap();
    assert_eq!(pair.name(), "x × c");
    assert_eq!(pair.values.len(), 3 * 4);
    assert_eq!(pair.noise, None);
    assert!(matches!(&pair.columns[1].segments[1].means, Meaning::OneOf(values) if values == &["q"]));
    assert!((pair.values[5] - pair.values[4] - 2.0).abs() < 1e-9);
    let mut three = two;
    three[0].left = Child::Node(2);
    three.push(up_to(2, 0, Child::Leaf(0), Child::Leaf(3)));
    let refused = by_hand(three, vec![0.0; 4], Vec::new()).explain().unwrap_err();
    assert!(matches!(refused, privet::Error::Parameter(_)));
    for algorithm in ["logistic", "centroid"] {
        assert!(model(Kinds::Classes(2), algorithm).explain().is_err());
    }
}

/// Nothing that a schema names becomes markup, and every drawing says in words what it shows.
#[test]
fn drawings_are_words_and_lines_and_no_markup_of_others() {
    let schema = schema([
        number("a<b>\"&'", 0..=9),
        category("c", ["<script>", "q"]),
        label("y", ["a", "b"]),
    ]);
    let node = |feature, rule| Node {
        feature,
        rule,
        left: Child::Leaf(0),
        right: Child::Leaf(1),
    };
    let rule = Rule::UpTo {
        slot: 3,
        others: Side::Right,
    };
    let trees = [node(0, rule), node(1, Rule::one_of(4, [0]))];
    let member = |node| {
        let tree = Tree {
            nodes: vec![node],
            leaves: vec![1.0, -1.0],
            noise: vec![0.1],
        };
        Member::new(1.0, 0, Learner::Tree(tree))
    };
    let ensemble = Ensemble::new(Link::Logistic, vec![0.0], trees.map(member).to_vec());
    let model = Model::new(schema, ensemble, leave().certificate(), Settings::new(Vec::new())).unwrap();
    let explanation = model.explain().unwrap();
    for term in explanation.terms() {
        let svg = explanation.svg(term);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"), "{svg}");
        assert!(svg.contains("role=\"img\" aria-label=\"What "), "{svg}");
        assert!(!svg.contains("<script") && !svg.contains("<b>"), "{svg}");
        assert!(
            !svg.contains("http") || svg.matches("http").count() == 1,
            "only the namespace"
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
