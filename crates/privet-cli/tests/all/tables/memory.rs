//! Rows in memory are the rows of a text file: the same cells, and the same models byte for byte.

use std::sync::Arc;

use privet::boost::Ensemble;
use privet::data::schema::{Transform, category, flag, id, label, number, ordinal};
use privet::data::{Cells, Dictionary, Frame, Intake, Keep, Points, Schema, Table, Value};
use privet::learner::SILENT;
use privet::model::{Model, Settings};
use privet::privacy::account::Caps;
use privet::privacy::{AddRemove, Delta, Epsilon, Ledger, Neighbours, Randomness, Unprotected};
use privet::setting::{central, plain};
use privet_node::table::read_csv;

use super::reference::Dice;
use super::schemas::cells;

const JOBS: [&str; 8] = ["nurse", "clerk", " clerk ", "pilot", "", "?", "-999", "Nurse"];
const WARDS: [&str; 4] = ["north", "south", "moon", "NA"];
/// Two of them are one number in double precision.
const WHOLE: [i64; 6] = [
    9_007_199_254_740_992,
    9_007_199_254_740_993,
    -9_007_199_254_740_993,
    i64::MAX,
    i64::MIN,
    -999,
];

/// Columns of many types, some with cells that fit nowhere.
#[derive(Default)]
struct Columns {
    who: Vec<Option<u64>>,
    dose: Vec<f64>,
    mass: Vec<Option<f64>>,
    big: Vec<i64>,
    code: Vec<Option<i64>>,
    count: Vec<u64>,
    smokes: Vec<Option<bool>>,
    paid: Vec<bool>,
    job: Vec<Option<&'static str>>,
    ward: Vec<i32>,
    grade: Vec<f64>,
    ill: Vec<Option<String>>,
}

const NAMES: [&str; 12] = [
    "who", "dose", "mass", "big", "code", "count", "smokes", "paid", "job", "ward", "grade", "ill",
];

fn schema() -> Arc<Schema> {
    let columns = [
        id("who"),
        number("dose", -5.0..=5.0),
        number("mass", 0..=100).fill(40),
        number("big", -1e19..=1e19).transform(Transform::Asinh(None)),
        category("code", WHOLE[..3].iter().map(i64::to_string)),
        number("count", 0.0..=2e19).bins(300),
        flag("smokes"),
        category("paid", ["true", "false"]),
        category("job", ["nurse", "clerk"]).fill("clerk"),
        category("ward", ["north", "south"]),
        ordinal("grade", ["-0", "1", "2.5"]),
        label("ill", ["no", "yes"]),
    ];
    let missing = Schema::MISSING.into_iter().chain(["-999"]);
    let schema = Schema::builder("people").columns(columns).missing(missing);
    Arc::new(schema.unit("who").rows_per_unit(3).build().unwrap())
}

impl Columns {
    fn new(dice: &mut Dice, rows: usize) -> Self {
        let odd = [
            f64::NAN,
            -0.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1e300,
            -1e300,
            -999.0,
            5e-324,
        ];
        let mut own = Self::default();
        for _ in 0..rows {
            let person = dice.below(rows) as u64;
            let who = [person, u64::MAX - person, (1 << 53) + person % 2][dice.below(3)];
            own.who.push((dice.below(9) > 0).then_some(who));
            let real = dice.below(1 << 20) as f64 / 65536.0 - 8.0;
            own.dose.push(if dice.below(3) == 0 {
                odd[dice.below(8)]
            } else {
                real
            });
            own.mass.push((dice.below(4) > 0).then_some(real * 20.0));
            let whole = WHOLE[dice.below(6)];
            own.big.push(if dice.below(3) == 0 {
                whole
            } else {
                dice.below(1 << 40) as i64
            });
            own.code.push((dice.below(5) > 0).then_some(WHOLE[dice.below(6)]));
            own.count
                .push([u64::MAX, 1 << 63, 999, dice.below(1 << 40) as u64][dice.below(4)]);
            own.smokes.push([Some(true), Some(false), None][dice.below(3)]);
            own.paid.push(dice.below(2) == 0);
            own.job.push((dice.below(9) > 0).then_some(JOBS[dice.below(8)]));
            own.ward.push(dice.below(5) as i32 - 1);
            own.grade
                .push([-0.0, 0.0, 1.0, 2.5, f64::NAN, 3.0][dice.below(6)]);
            let ill = real + f64::from(u8::from(own.smokes.last() == Some(&Some(true)))) > 0.0;
            let ill = if ill { "yes" } else { "no" };
            own.ill.push((dice.below(20) > 0).then(|| ill.to_owned()));
        }
        own
    }

    fn frame(&self) -> Frame<'_> {
        Frame::new()
            .column("ill", &self.ill)
            .column("who", &self.who)
            .column("dose", &self.dose[..])
            .column("mass", &self.mass)
            .column("big", &self.big)
            .column("code", &self.code)
            .column("count", &self.count)
            .column("smokes", &self.smokes)
            .column("paid", &self.paid)
            .column("job", &self.job)
            .column("ward", Dictionary::new(&self.ward, &WARDS))
            .column("grade", &self.grade)
    }

    fn records(&self) -> Vec<[Value<'_>; 12]> {
        let record = |row: usize| {
            let ward = usize::try_from(self.ward[row]).ok();
            [
                self.who[row].into(),
                self.dose[row].into(),
                self.mass[row].into(),
                self.big[row].into(),
                self.code[row].into(),
                self.count[row].into(),
                self.smokes[row].into(),
                self.paid[row].into(),
                self.job[row].into(),
                ward.map(|ward| WARDS[ward]).into(),
                self.grade[row].into(),
                self.ill[row].as_deref().into(),
            ]
        };
        (0..self.dose.len()).map(record).collect()
    }

    /// The same rows as text.
    fn csv(&self) -> String {
        let text = |cell: &Value<'_>| match cell {
            Value::Missing => String::new(),
            Value::Real(x) => x.to_string(),
            Value::Integer(x) => x.to_string(),
            Value::Natural(x) => x.to_string(),
            Value::Flag(x) => x.to_string(),
            Value::Text(x) => (*x).to_owned(),
        };
        let line = |row: &[Value<'_>; 12]| row.iter().map(text).collect::<Vec<_>>().join(",") + "\n";
        let lines: String = self.records().iter().map(line).collect();
        format!("{}\n{lines}", NAMES.join(","))
    }
}

fn from_text(columns: &Columns, intake: &Intake) -> Table {
    read_csv("rows.csv", columns.csv().as_bytes(), intake).unwrap()
}

/// Typed columns, dictionaries and records: NaN, minus nought, infinities, numbers out of bounds and beyond 2^53, flags, values that
/// are not declared, missing cells, fills, and people of whom some rows are kept.
#[test]
fn rows_in_memory_have_the_cells_of_the_same_text() {
    let mut dice = Dice(7);
    for (rows, keep) in [
        (0, Keep::Bins),
        (1, Keep::Values),
        (3000, Keep::Values),
        (70_000, Keep::Bins),
    ] {
        let columns = Columns::new(&mut dice, rows);
        let intake = Intake::everything(schema(), keep);
        let expected = cells(from_text(&columns, &intake));
        assert!(expected.rows() <= rows && (rows < 2 || expected.rows() < rows * 9 / 10));
        let read = |frame: &Frame<'_>| cells(Table::read(&intake, frame).unwrap());
        assert!(read(&columns.frame()) == expected, "columns of {rows} rows");
        let records = columns.records();
        assert!(
            read(&Frame::records(NAMES, &records).unwrap()) == expected,
            "{rows} records"
        );
        // Batches one after another are one table.
        let (first, second) = records.split_at(rows / 3);
        let batches = [first, second].map(|part| Frame::records(NAMES, part).unwrap());
        assert!(
            cells(Table::read(&intake, &batches[..]).unwrap()) == expected,
            "two batches"
        );
    }
}

/// Whole numbers as codes of categories, classes and ids: all below 256, which are looked up once each, and one that is not.
#[test]
fn small_whole_numbers_have_the_cells_of_the_same_text() {
    let declared = |count: u32| (0..count).map(|code| code.to_string());
    let columns = [
        id("who"),
        category("code", declared(200)),
        category("kind", declared(7)),
        label("ill", ["0", "1"]),
    ];
    let schema = Schema::builder("people").columns(columns).missing(["", "5"]);
    let schema = Arc::new(schema.unit("who").rows_per_unit(3).build().unwrap());
    for largest in [255u64, 256] {
        let who: Vec<u64> = (0..1000).map(|row| row % 253).collect();
        let code: Vec<Option<i64>> = (0..1000).map(|row| (row % 11 > 0).then_some(row % 256)).collect();
        let kind: Vec<u64> = (0..1000).map(|row| (row * row) % largest + 1).collect();
        let ill: Vec<i32> = (0..1000).map(|row| row % 3).collect();
        let mut text = "who,code,kind,ill\n".to_owned();
        for row in 0..1000 {
            let code = code[row].map_or(String::new(), |code| code.to_string());
            text += &format!("{},{code},{},{}\n", who[row], kind[row], ill[row]);
        }
        let frame = Frame::new().column("who", &who).column("code", &code);
        let frame = frame.column("kind", &kind).column("ill", &ill);
        let intake = Intake::everything(Arc::clone(&schema), Keep::Bins);
        let intake = intake.aligned_by("who").unwrap();
        let expected = cells(read_csv("rows.csv", text.as_bytes(), &intake).unwrap());
        assert!(
            cells(Table::read(&intake, &frame).unwrap()) == expected,
            "{largest}"
        );
    }
}

/// Ids that meet another party's rows, too.
#[test]
fn ids_in_memory_are_the_ids_of_the_same_text() {
    let columns = Columns::new(&mut Dice(8), 500);
    let intake = Intake::everything(schema(), Keep::Bins)
        .aligned_by("who")
        .unwrap();
    let expected = cells(from_text(&columns, &intake));
    let ids = |cells: &Cells| {
        cells
            .ids()
            .unwrap()
            .iter()
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    let found = cells(Table::read(&intake, &columns.frame()).unwrap());
    assert_eq!(ids(&found), ids(&expected));
}

/// One table has one fingerprint in memory and as text; another row or cell gives another.
#[test]
fn rows_in_memory_have_the_fingerprint_of_the_same_text() {
    let mut columns = Columns::new(&mut Dice(10), 70_000);
    let intake = Intake::recognising(schema(), Points::new(*b"sixteen  bytes !"));
    let print = |table: Table| table.fingerprint().unwrap().clone();
    let expected = print(from_text(&columns, &intake));
    assert!(
        print(Table::read(&intake, &columns.frame()).unwrap()) == expected,
        "columns"
    );
    {
        let records = columns.records();
        let records = Frame::records(NAMES, &records).unwrap();
        assert!(
            print(Table::read(&intake, &records).unwrap()) == expected,
            "records"
        );
    }
    columns.ward[69_999] = (columns.ward[69_999] + 1) % 3;
    assert!(
        print(Table::read(&intake, &columns.frame()).unwrap()) != expected,
        "another cell"
    );
}

/// The bytes of a model, with a certificate that is the same for all.
fn bytes(schema: &Schema, ensemble: Ensemble, certificate: &privet::privacy::Certificate) -> Vec<u8> {
    let model = Model::new(
        schema.clone(),
        ensemble,
        certificate.clone(),
        Settings::new(Vec::new()),
    );
    model.unwrap().to_bytes()
}

#[test]
fn rows_in_memory_train_the_model_of_the_same_text_byte_for_byte() {
    let columns = Columns::new(&mut Dice(9), 2000);
    let schema = Arc::new(schema().spread());
    let leave = Unprotected::unrecorded("people", &schema.relation(), "a test");
    let both = |intake: &Intake| {
        let text = from_text(&columns, intake);
        [text, Table::read(intake, &columns.frame()).unwrap()]
    };
    for algorithm in plain_algorithms() {
        let plan = algorithm.plan(&schema).unwrap();
        let [text, memory] = both(&plan.reads()).map(|table| {
            let model = plan.fit(table, &leave, SILENT).unwrap();
            bytes(&schema, model.ensemble().clone(), model.certificate())
        });
        assert!(text == memory, "{algorithm:?}");
    }
    // Private, at equal draws; every draw hears each cell's slot, so that one cell in another changes the model.
    let epsilon = Epsilon::new(4.0).unwrap();
    let people = AddRemove::unit(std::num::NonZeroU32::new(3).unwrap()).of("who");
    let budget = central::Budget::pure(epsilon, 2000).unwrap();
    let plan = central::Trees::default();
    let plan = central::Algorithm::plan(&plan, &schema, &people.relation(), budget).unwrap();
    let caps = Caps {
        pure: epsilon,
        ..Caps::ZERO
    };
    let certificate = leave.certificate();
    let [text, memory] = both(&plan.reads()).map(|table| {
        let relation = people.relation();
        let mut ledger = Ledger::volatile(relation, caps, Delta::ZERO, Randomness::seeded(5)).unwrap();
        let ensemble = plan.train(table, &mut ledger, SILENT).unwrap();
        bytes(&schema, ensemble, &certificate)
    });
    assert!(text == memory, "private trees");
}

/// What is wrong with the shape or the types of a frame is said with the column's name; what its cells say never is.
#[test]
fn frames_of_another_shape_are_refused_by_name() {
    let intake = Intake::everything(super::schemas::patients(Default::default()), Keep::Bins);
    let said = |frame: Frame<'_>| Table::read(&intake, &frame).err().map(|e| e.to_string());
    let whole = || Frame::new().column("age", [1.5]).column("blood", ["A"]);
    assert_eq!(said(whole().column("outcome", ["no"])), None);
    let short = whole().column("outcome", ["no", "yes"]);
    let expected = "the frame: column 'outcome' has 2 cells where 'age' has 1; give every column as many";
    assert_eq!(said(short).as_deref(), Some(expected));
    let expected =
        "the frame: column 'outcome' is declared in the schema and not in the frame; it has 'age', 'blood'";
    assert_eq!(said(whole()).as_deref(), Some(expected));
    let extra = whole().column("outcome", [true]).column("room", [1]);
    let expected = "the frame: column 'room' is not declared in the schema; add a line such as\n  room = { type = \"skip\" }   # \
                    or another type, with its bounds or values";
    assert_eq!(said(extra).as_deref(), Some(expected));
    let twice = whole().column("age", [1]);
    assert_eq!(
        said(twice).as_deref(),
        Some("the frame: columns 1 and 3 are both called 'age'; rename one")
    );
    let people = Intake::everything(schema(), Keep::Bins);
    let (rows, none) = ([1.0; 1], [None::<bool>; 1]);
    let reals = NAMES.iter().fold(Frame::new(), |frame, name| match *name {
        "who" => frame.column("who", rows),
        name => frame.column(name, none),
    });
    assert_eq!(
        Table::read(&people, &reals)
            .err()
            .map(|e| e.to_string())
            .as_deref(),
        Some(
            "the frame: column 'who' tells people apart and holds numbers with fractions; make them whole numbers or text before"
        )
    );
    let uneven = [vec!["1", "A", "no"], vec!["1", "A"]];
    let refused = Frame::records(["age", "blood", "outcome"], &uneven).err();
    assert_eq!(
        refused.map(|e| e.to_string()).as_deref(),
        Some("record 2 has 2 cells where there are 3 names; give each record a cell for each name")
    );
}

/// An id that is a real number is a property of a row: two people who would be rounded to one are nobody, and nothing is refused.
#[test]
fn real_ids_of_records_name_people_while_they_are_exact() {
    let schema = Schema::builder("visits")
        .columns([id("who"), number("x", 0..=9)])
        .unit("who")
        .build();
    let intake = Intake::everything(Arc::new(schema.unwrap()), Keep::Bins);
    let ids = [1.0, 1.0, 2.0, 2.5, f64::NAN, 9_007_199_254_740_992.0, -3.0];
    let rows: Vec<[Value<'_>; 2]> = ids
        .into_iter()
        .zip(0..)
        .map(|(who, x): (f64, i32)| [who.into(), x.into()])
        .collect();
    let found = cells(Table::read(&intake, &Frame::records(["who", "x"], &rows).unwrap()).unwrap());
    assert_eq!(found.features()[0].bins.iter().collect::<Vec<_>>(), [0, 2, 6]);
}

/// Raw rows are predicted without a permission, as the cells of the same table are within the wall.
#[test]
fn predictions_of_raw_rows_are_those_of_their_cells() {
    let columns = Columns::new(&mut Dice(11), 1000);
    for algorithm in plain_algorithms() {
        let schema = schema();
        let leave = Unprotected::unrecorded("people", &schema.relation(), "a test");
        let plan = algorithm.plan(&schema).unwrap();
        let table = from_text(&columns, &plan.reads());
        let model = plan.fit(table, &leave, SILENT).unwrap();
        let predicted = model.predict(&columns.frame()).unwrap();
        assert_eq!(predicted.rows(), 1000, "all rows of a person");
        let intake = Intake::features_only(Arc::clone(&schema), model.keep());
        let text = columns.csv();
        let by_cells = cells(read_csv("rows.csv", text.as_bytes(), &intake).unwrap());
        assert_eq!(predicted, model.predict_cells(&by_cells).unwrap());
        // Neither label nor id need be there.
        let records = columns.records();
        let features: Vec<&[Value<'_>]> = records.iter().map(|record| &record[1..11]).collect();
        let frame = Frame::records(NAMES[1..11].iter().copied(), &features).unwrap();
        assert_eq!(predicted, model.predict(&frame).unwrap());
    }
}

fn plain_algorithms() -> [Box<dyn plain::Algorithm>; 3] {
    [
        Box::new(plain::Trees::default()),
        Box::new(plain::Stumps::default()),
        Box::new(plain::Logistic::default()),
    ]
}

/// pandas writes 1.0 for 1 where a column has missing cells: in text, as numbers in memory and as texts there, it is the declared 1.
#[test]
fn a_number_is_the_declared_value_however_it_is_written() {
    let columns = [
        category("ward", ["7", "8"]),
        flag("smokes"),
        label("ill", ["0", "1"]),
    ];
    let schema = Arc::new(Schema::builder("people").columns(columns).build().unwrap());
    let intake = Intake::everything(schema, Keep::Bins);
    let read = |text: &str| cells(read_csv("rows.csv", text.as_bytes(), &intake).unwrap());
    let plain = read("ward,smokes,ill\n7,0,1\n8,1,0\n,,1\n9,1,0\n");
    let written = read("ward,smokes,ill\n7.0,0.0,1.0\n8.0,1.0,0.0\n,,1.0\n9.0,1.0,0.0\n");
    assert!(plain == written);
    let reals = Frame::new()
        .column("ward", [7.0, 8.0, f64::NAN, 9.0])
        .column("smokes", [0.0, 1.0, f64::NAN, 1.0])
        .column("ill", [1.0, 0.0, 1.0, 0.0]);
    assert!(cells(Table::read(&intake, &reals).unwrap()) == plain);
    let texts = Frame::new()
        .column("ward", ["7.0", "8.0", "", "9.0"])
        .column("smokes", ["0.0", "1.0", "", "1.0"])
        .column("ill", ["1.0", "0.0", "1.0", "0.0"]);
    assert!(cells(Table::read(&intake, &texts).unwrap()) == plain);
}

/// A frame of a file that was read as if it had names is called by somebody's row.
#[test]
fn names_that_may_be_a_row_are_not_shown() {
    let intake = Intake::everything(super::schemas::patients(Default::default()), Keep::Bins);
    let frame = Frame::new()
        .column("44", [51.0])
        .column("Smith", ["Jones"])
        .column("44", [1.0]);
    let said = Table::read(&intake, &frame).err().unwrap().to_string();
    assert!(said.contains("none of these names is in the table"), "{said}");
    assert!(!said.contains("Smith") && !said.contains("44"), "{said}");
}
