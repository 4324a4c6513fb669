//! Rows as vectors, by hand.

use super::*;
use crate::data::Frame;
use crate::setting::local::{Campaign, CampaignDraft, Round};

const SCHEMA: &str = r#"
dataset = "steps"
[columns]
age = { type = "number", min = 0, max = 100, bins = 4 }
job = { type = "category", values = ["nurse", "clerk", "cook"] }
size = { type = "ordinal", values = ["s", "m", "l"] }
smokes = { type = "flag" }
ill = { type = "label", values = ["no", "yes"] }
"#;

fn schema() -> Schema {
    Schema::from_toml("schema.toml", SCHEMA).expect("a schema")
}

fn table(encoding: &Encoding, rows: &[(f64, &str, &str, &str, &str)]) -> Cells {
    let column =
        |pick: fn(&(f64, &str, &str, &str, &str)) -> String| rows.iter().map(pick).collect::<Vec<_>>();
    let texts = [
        ("age", column(|row| row.0.to_string())),
        ("job", column(|row| row.1.into())),
        ("size", column(|row| row.2.into())),
        ("smokes", column(|row| row.3.into())),
        ("ill", column(|row| row.4.into())),
    ];
    let intake = encoding.reads();
    let mut columns = intake.columns();
    for row in 0..rows.len() {
        for ((_, cells), column) in texts.iter().zip(&mut columns) {
            column.text(cells[row].as_bytes());
        }
    }
    Cells::in_the_clear(vec![intake.piece(columns).expect("a piece")])
}

const ROWS: [(f64, &str, &str, &str, &str); 3] = [
    (75.0, "clerk", "l", "yes", "yes"),
    (25.0, "nurse", "s", "no", "no"),
    (50.0, "pilot", "?", "?", "no"),
];

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-6, "{found} for {wanted}");
    }
}

fn encoding(statistic: Statistic) -> Encoding {
    Encoding::new(schema(), Features::of(&schema()), statistic).expect("an encoding")
}

#[test]
fn rows_are_scaled_by_the_schema_and_flags_leave_out_the_first_value() {
    let encoding = encoding(Statistic::Mean);
    let cells = table(&encoding, &ROWS);
    let (values, _) = encoding.rows(&cells);
    close(
        &values,
        &[
            0.5, 1.0, 0.0, 1.0, 1.0, //
            -0.5, 0.0, 0.0, -1.0, 0.0, //
            0.0, 0.0, 0.0, 0.0, 0.0,
        ],
    );
    close(&encoding.vector(&cells), &[0.0, 1.0 / 3.0, 0.0, 0.0, 1.0 / 3.0]);
    close(&encoding.vector(&table(&encoding, &[])), &[0.0; 5]);
}

#[test]
fn a_map_cuts_turns_multiplies_and_adds_a_constant() {
    let map = Map::identity(2).with_cuts(0, vec![-0.5, 0.5]).expect("cuts");
    let axes = vec![
        Axis {
            offset: 1.0,
            weights: vec![1.0, 0.0, 0.0],
        },
        Axis {
            offset: 0.0,
            weights: vec![0.0, 1.0, 2.0],
        },
    ];
    let map = map.with_axes(axes).expect("axes");
    let map = map.with_products(true).with_constant(Some(0.25));
    let mut phi = Vec::new();
    map.row(&[0.0, 3.0], &mut phi);
    close(&phi, &[2.0, 5.0, 4.0, 10.0, 25.0, 0.25]);
    assert_eq!(map.dimension(), phi.len());
    let short = vec![Axis {
        offset: 0.0,
        weights: vec![1.0],
    }];
    assert!(Map::identity(2).with_axes(short).is_err());
    assert!(Map::identity(2).with_cuts(2, vec![0.0]).is_err());
    assert!(Map::identity(2).with_cuts(0, vec![f64::NAN]).is_err());
}

fn rows(classes: usize) -> ([f64; 6], [u16; 3], [f64; 3], usize) {
    (
        [1.0, -2.0, 0.5, 0.0, -1.0, 1.0],
        [1, 0, 1],
        [0.5, 0.25, 0.25],
        classes,
    )
}

fn vector(statistic: &Statistic, classes: usize) -> Vec<f64> {
    let (values, labels, weights, classes) = rows(classes);
    let vector = statistic.vector(&Rows {
        dimension: 2,
        values: &values,
        labels: &labels,
        weights: &weights,
        classes,
    });
    assert_eq!(vector.len(), statistic.width(2, classes));
    vector
}

#[test]
fn statistics_are_those_of_the_rows() {
    close(&vector(&Statistic::Mean, 2), &[0.375, -0.75]);
    close(&vector(&Statistic::SignedMean, 2), &[0.125, -0.75]);
    // All rows; class 1 against the rest; its mass.
    close(
        &vector(&Statistic::ClassMeans, 2),
        &[0.375, -0.75, 0.125, -0.75, 0.5],
    );
    // Coordinate 0 is above zero in rows 0 and 1, coordinate 1 in row 2.
    close(&vector(&Statistic::CrossTable, 2), &[0.25, 0.25, 0.25, 0.25]);
    close(&vector(&Statistic::SecondMoments, 2), &[0.8125, -1.25, 2.25]);
    // At zero, the descent is half of the signed mean.
    let at = Statistic::Gradient { at: vec![0.0; 2] };
    close(&vector(&at, 2), &[0.0625, -0.375]);
    // Class 1 where the first coordinate is above zero: right on the row of weight 1/2, wrong on both others.
    let errors = |scores: Vec<f64>, classes| vector(&Statistic::Errors { scores }, classes);
    close(&errors(vec![0.0, 0.0, 1.0, 0.0], 2), &[0.0]);
    close(&errors(vec![0.0, 1.0, 0.0, 0.0], 2), &[-0.5]);
    close(&errors(vec![0.0, 0.0, 0.0, 0.0, 1.0, 1e3], 3), &[1.0]);
    // Three classes: signs of each against the rest.
    close(
        &vector(&Statistic::SignedMean, 3),
        &[-0.125, 0.75, 0.125, -0.75, -0.375, 0.75],
    );
    close(
        &vector(&Statistic::ClassMeans, 3),
        &[0.375, -0.75, 0.125, -0.75, -0.375, 0.75, 0.5, -1.0],
    );
}

/// At the trained weights the loss does not fall any more.
#[test]
fn a_classifier_is_trained_to_the_end() {
    let ridge = 0.1;
    let trained = vector(&Statistic::Classifier { ridge }, 2);
    let descent = vector(&Statistic::Gradient { at: trained.clone() }, 2);
    for (descent, weight) in descent.iter().zip(&trained) {
        assert!((descent - ridge * weight).abs() < 1e-9);
    }
    assert!(trained.iter().any(|weight| weight.abs() > 0.1));
}

#[test]
fn learners_weigh_the_rows_that_they_err_on() {
    let (values, labels, weights, classes) = rows(2);
    let rows = Rows {
        dimension: 2,
        values: &values,
        labels: &labels,
        weights: &weights,
        classes,
    };
    // Class 1 where the first coordinate is above zero: right, wrong, wrong.
    let learner = Learner {
        alpha: 2f64.ln(),
        scores: vec![0.0, 0.0, 1.0, 0.0],
    };
    assert_eq!(learner.class(&[1.0, 0.0]), 1);
    assert_eq!(learner.class(&[-1.0, 0.0]), 0);
    close(
        &row_weights(std::slice::from_ref(&learner), &rows),
        &[0.2, 0.4, 0.4],
    );
    close(&row_weights(&[], &rows), &[1.0 / 3.0; 3]);
    // However large α is, weights are numbers that sum to one.
    let huge = Learner {
        alpha: f64::MAX,
        ..learner
    };
    let sum: f64 = row_weights(&[huge.clone(), huge], &rows)
        .iter()
        .filter(|w| w.is_finite())
        .sum();
    assert!(sum <= 1.0 + 1e-9);
}

#[test]
fn cells_are_bins_with_the_label_of_one_row() {
    let encoding = encoding(Statistic::Cell);
    assert_eq!(encoding.cells(), Some((4, 8)));
    let cells = table(&encoding, &ROWS);
    assert_eq!(
        encoding.cells_of_row(&cells, 0),
        [3 * 2 + 1, 2 + 1, 2 * 2 + 1, 2 + 1]
    );
    // Half of 2^64: the second row. What is missing or not declared: the middle, or the first value.
    assert_eq!(encoding.cells_of_row(&cells, 1 << 63), [2, 0, 0, 0]);
    assert_eq!(encoding.cells_of_row(&cells, u64::MAX), [2 * 2, 0, 0, 0]);
    let none = table(&encoding, &[]);
    assert_eq!(encoding.cells_of_row(&none, u64::MAX), [7; 4]);
}

/// What was written is read as the same: each statistic, with everything that a file can say.
#[test]
fn a_campaign_is_written_and_read_back() {
    let features = || {
        let all = Features::of_columns(&schema(), &["size".into(), "age".into(), "job".into()]);
        let all = all.expect("features");
        let map = all.map().clone();
        let map = map.with_cuts(1, vec![-0.5, 0.1]).expect("cuts");
        let axis = |offset| Axis {
            offset,
            weights: vec![0.1, -2.0, 1e-7, 3.0, 0.3],
        };
        let map = map.with_axes(vec![axis(0.5), axis(-1.0 / 3.0)]).expect("axes");
        all.mapped(map.with_products(true).with_constant(Some(1.0)))
            .expect("mapped")
    };
    let learner = Learner {
        alpha: 0.7,
        scores: vec![0.25; 12],
    };
    for statistic in [
        Statistic::Mean,
        Statistic::SignedMean,
        Statistic::ClassMeans,
        Statistic::CrossTable,
        Statistic::SecondMoments,
        Statistic::Gradient { at: vec![0.125; 6] },
        Statistic::Classifier { ridge: 0.1 },
        Statistic::Errors {
            scores: vec![-0.375; 12],
        },
        Statistic::Cell,
    ] {
        let is_cell = statistic == Statistic::Cell;
        let features = if is_cell {
            Features::of(&schema())
        } else {
            features()
        };
        let weighted = !is_cell && statistic.needs_labels();
        let encoding = Encoding::new(schema(), features, statistic).expect("an encoding");
        let learners = if weighted {
            vec![learner.clone()]
        } else {
            Vec::new()
        };
        let encoding = encoding.after(learners).expect("learners");
        let kind = match encoding.width() {
            0 => "cell",
            // No codebook is for one dimension.
            1 => "signs",
            _ => "vector",
        };
        let draft = CampaignDraft {
            name: "steps".into(),
            epsilon: "1.5".parse().expect("an ε"),
            kind: kind.into(),
            radius: 2.5,
            codewords: (kind == "vector").then_some(1024),
            encoding: encoding.clone(),
            round: Some(Round {
                series: "steps 2026".into(),
                number: 2,
                of: 7,
            }),
        };
        let text = draft.to_toml();
        let campaign = Campaign::read("campaign.toml", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(campaign.encoding(), Some(&encoding), "{text}");
        assert_eq!(campaign.round(), draft.round.as_ref());
        assert_eq!(campaign.epsilon(), draft.epsilon);
    }
}

#[test]
fn an_encoding_that_cannot_be_is_refused() {
    let of = |encoding: &str| {
        let head = "version = 1\nname = \"steps\"\nepsilon = 1.0\nmessage = \"vector\"\nradius = 1.0\n";
        let text = format!("{head}[schema]\n{}\n[encoding]\n{encoding}", nested(SCHEMA));
        Campaign::read("campaign.toml", &text)
    };
    assert!(of("statistic = \"signed-mean\"\n").is_ok());
    for bad in [
        "",
        "statistic = \"median\"\n",
        "statistic = \"cell\"\n",
        "statistic = \"mean\"\ncolumns = []\n",
        "statistic = \"mean\"\ncolumns = [\"wage\"]\n",
        "statistic = \"gradient\"\nat = [1.0]\n",
        "statistic = \"classifier\"\nridge = 0.0\n",
        "statistic = \"classifier\"\n",
        "statistic = \"errors\"\n",
        "statistic = \"errors\"\nscores = [1.0]\n",
        "statistic = \"mean\"\n[[encoding.axes]]\nweights = [1.0]\n",
        "statistic = \"mean\"\n[[encoding.axes]]\noffset = 1.0\n",
        "statistic = \"mean\"\n[[encoding.cuts]]\ncolumn = \"job\"\nat = [1.0]\n",
        "statistic = \"mean\"\n[[encoding.cuts]]\ncolumn = \"age\"\n",
        "statistic = \"mean\"\n[[encoding.cuts]]\ncolumn = \"size\"\nat = [1.0]\n",
        "statistic = \"mean\"\n[[learner]]\nalpha = 1.0\nscores = [1.0]\n",
        "statistic = \"signed-mean\"\n[[learner]]\nalpha = 1.0\nscores = [1.0]\n",
        "statistic = \"signed-mean\"\n[[learner]]\nalpha = 1.0\n",
        "statistic = \"mean\"\n[round]\nseries = \"s\"\nnumber = 3\nof = 2\n",
    ] {
        assert!(matches!(of(bad), Err(Error::Data(_))), "{bad}");
    }
}

/// Rows from memory, read by the encoding, give a message of the campaign.
#[test]
fn rows_are_contributed() {
    use crate::privacy::account::{Caps, Price};
    use crate::privacy::{Delta, Ledger, Owner, Randomness};
    for (message, statistic) in [("vector", Statistic::SignedMean), ("cell", Statistic::Cell)] {
        let draft = CampaignDraft {
            name: "steps".into(),
            epsilon: "1".parse().expect("an ε"),
            kind: message.into(),
            radius: 2.0,
            codewords: None,
            encoding: encoding(statistic),
            round: None,
        };
        let campaign = Campaign::read("campaign.toml", &draft.to_toml()).expect("a campaign");
        let rows = Frame::new()
            .column("age", [75.0, 25.0])
            .column("job", ["clerk", "nurse"])
            .column("size", ["s", "l"])
            .column("smokes", ["yes", "no"])
            .column("ill", ["yes", "no"]);
        let reads = campaign.encoding().expect("an encoding").reads();
        let table = Table::read(&reads, &rows).expect("rows");
        let caps = Caps::from(Price::Pure("1".parse().expect("an ε")));
        let random = Randomness::from_os().expect("randomness");
        let mut ledger = Ledger::volatile(Owner, caps, Delta::ZERO, random).expect("opens");
        let owner = crate::setting::local::DataOwner::new(&campaign);
        let sent = owner
            .contribute_rows(&mut ledger, &table)
            .expect("drawn")
            .submission;
        assert!(campaign.read_submission(&sent).is_ok());
        // Another schema's rows are not this campaign's.
        let other = Intake::everything(Arc::new(schema().of_dataset("other")), Keep::Values);
        let table = Table::read(&other, &rows).expect("rows");
        assert!(matches!(
            owner.contribute_rows(&mut ledger, &table),
            Err(Error::Misuse(_))
        ));
    }
}
