//! What is learnt over columns of several parties, and what it is good for.

use std::sync::Arc;

use crate::home::Plain;
use privet::Error;
use privet::data::{Intake, Keep, Schema, Table};
use privet::error::JournalFault;
use privet::model::Model;
use privet::model::metrics::Metric;
use privet::noisy::evaluation::Evaluation;
use privet::party::{PartyId, Simulated, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::{Delta, Guarantee, Ledger, Randomness, Replace};
use privet::setting::vertical::{
    Alignment, Budget, Categories, FeatureHolder, LABEL_HOLDER, LabelHolder, NoisyLabels, Outcome, Party,
    Protocol, Release, Vertical,
};

use crate::vertical::faults::journal;
use crate::vertical::people::{
    BANK, CLUB, SHOP, bank, builder, changes, club, epsilon, feature_holder, joint, keep, label_holder,
    leave, loans, read, rehearse, rehearsed, shop, table, with,
};

pub(crate) fn trained(done: Simulated<Outcome>) -> Box<Model> {
    let mut found = done.all().unwrap().into_iter().filter_map(Outcome::into_model);
    Box::new(found.next().unwrap())
}

/// The accuracy of a model on raw rows of all parties.
fn accuracy(model: &Model, people: std::ops::Range<u64>) -> f64 {
    let table = read(
        Intake::everything(Arc::new(model.schema().clone()), Keep::Bins),
        &joint(people, model.schema()),
        None,
    );
    let evaluation = Evaluation::of(model.schema()).unwrap();
    let judged = table.cells().as_ref().map(|cells| evaluation.judge(model, cells));
    let report = evaluation.open(judged, &leave());
    let figure = report.figures.get(Metric::Accuracy).unwrap();
    figure.estimate.as_ref().unwrap().value
}

#[test]
fn columns_of_another_party_teach_what_ones_own_do_not() {
    let vertical = builder("20").build().unwrap();
    let own = table(BANK, &bank(0..1200), Some("who"));
    let other = table(SHOP, &shop((300..1500).rev()), Some("client"));
    let model = rehearse(&vertical, own.clone(), vec![other]);
    let names: Vec<&str> = model.schema().features().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["age", "spent", "town"]);
    let alone = Plain::named("trees", "");
    let alone = alone.fit(own, &leave()).unwrap();
    // On raw rows of people that nobody has seen.
    let (together, alone) = (accuracy(&model, 5000..6000), accuracy(&alone, 5000..6000));
    assert!(together > 0.85 && alone < 0.7, "{together} {alone}");

    // What each party says of its part travels with the model.
    let certificate = model.certificate();
    assert!(certificate.is_void(), "the bank's own rows are used as they are");
    let [said] = certificate.parties.as_slice() else {
        panic!("{certificate}")
    };
    assert_eq!(said.party, "feature holder 1");
    let shop = &said.certificate;
    let kinds: Vec<bool> = shop
        .claims
        .iter()
        .map(|claim| matches!(claim.guarantee, Guarantee::Distance { .. }))
        .collect();
    assert_eq!(kinds, [true, false], "columns, and what the meeting showed");
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again, model);
}

#[test]
fn any_number_of_feature_holders_meet() {
    let vertical = builder("20").build().unwrap();
    let own = table(BANK, &bank(0..400), Some("who"));
    let others = vec![
        table(SHOP, &shop((100..500).rev()), Some("client")),
        table(CLUB, &club(200..600), Some("member")),
    ];
    let done = rehearsed(&vertical, own, others).unwrap();
    // Offers and lists to both, answers and columns from both; nothing between feature holders, nothing after the columns.
    let edges: Vec<((u16, u16), u64)> = done
        .traffic
        .iter()
        .map(|((from, to), edge)| ((from.0, to.0), edge.frames))
        .collect();
    assert_eq!(edges, [((0, 1), 2), ((0, 2), 2), ((1, 0), 2), ((2, 0), 2)]);
    let outcomes = done.all().unwrap();
    let Outcome::Trained { model, rows } = &outcomes[0] else {
        panic!("the label holder trains")
    };
    assert_eq!((model.schema().features().count(), *rows), (5, 200));
}

/// The same trees, since every slot occurs; more bytes, and the label holder speaks twice.
#[test]
fn as_published_gives_the_same_trees_for_more_bytes() {
    let run = |protocol| {
        let vertical = with(changes("3000").budget(Budget::Full))
            .alignment(Alignment::Given)
            .protocol(protocol)
            .build()
            .unwrap();
        let schema = SHOP.replace("category", "ordinal");
        let own = table(BANK, &bank(0..500), None);
        let other = table(&schema, &shop(0..500), None);
        let done = rehearsed(&vertical, own, vec![other]).unwrap();
        let bytes = [(0, 1), (1, 0)].map(|(from, to)| done.bytes(PartyId(from), PartyId(to)));
        (trained(done), bytes)
    };
    let (ours, [ask, told]) = run(Protocol::Columns);
    let (theirs, [asks, tells]) = run(Protocol::AsPublished);
    assert_eq!(ours.ensemble(), theirs.ensemble());
    assert!(ask < asks && told * 2 < tells, "{ask} {told} {asks} {tells}");
}

/// The paper's own unit of account: values in as many bits as they need, against ranks in 32.
#[test]
fn columns_take_as_many_bits_as_their_slots() {
    let vertical = builder("1").alignment(Alignment::Given).build().unwrap();
    let bytes = |people: u64| {
        let own = table(BANK, &bank(0..people), None);
        let other = table(SHOP, &shop(0..people), None);
        let done = rehearsed(&vertical, own, vec![other]).unwrap();
        done.bytes(PartyId(1), LABEL_HOLDER)
    };
    // 10 slots take 4 bits, 3 values and two more take 3.
    assert_eq!(bytes(9600) - bytes(1600), 8000 * 7 / 8);
}

#[test]
fn categories_can_leave_as_flags() {
    let vertical = with(changes("20").categories(Categories::SymmetricUnary))
        .alignment(Alignment::Given)
        .build()
        .unwrap();
    let own = table(BANK, &bank(0..300), None);
    let other = table(SHOP, &shop(0..300), None);
    let model = rehearse(&vertical, own, vec![other]);
    let names: Vec<&str> = model.schema().features().map(|c| c.name.as_str()).collect();
    let flags = ["town=a", "town=b", "town=c", "town=(other)", "town=(missing)"];
    assert_eq!(names[2..], flags);
}

#[test]
fn labels_that_change_make_a_model_that_protects_both_sides() {
    let schema = BANK.replace(
        "age = { type = \"integer\", min = 18, max = 90 }",
        "age = { type = \"skip\" }",
    );
    let run = |label: &str| {
        let vertical = builder("20")
            .label_epsilon(epsilon(label))
            .alignment(Alignment::Given)
            .build()
            .unwrap();
        let own = table(&schema, &bank(0..2000), None);
        let other = table(SHOP, &shop(0..2000), None);
        rehearse(&vertical, own, vec![other])
    };
    let model = run("1.5");
    assert!(!model.certificate().is_void(), "{}", model.certificate());
    let text = model.certificate().to_string();
    assert!(text.contains("'loan' 1.5 and 1.5"), "{text}");
    assert!(accuracy(&model, 5000..6000) > 0.8);
    assert!(accuracy(&run("0.01"), 5000..6000) < 0.75);
}

fn shop_ledger(journal: &privet_testkit::faults::Faulty) -> Ledger<Replace> {
    Ledger::open(
        "shop",
        Replace::row(),
        journal.clone(),
        Randomness::from_os().unwrap(),
    )
    .unwrap()
}

#[test]
fn columns_leave_once_and_are_used_as_often_as_one_likes() {
    let journal = journal("shop");
    let vertical = builder("2").build().unwrap();
    let shop_table = || table(SHOP, &shop((50..350).rev()), Some("client"));
    let kept = |vertical: &Vertical, table: &Table| keep(vertical, table, shop_ledger(&journal));
    let release = kept(&vertical, &shop_table()).unwrap();
    assert_eq!(release, kept(&vertical, &shop_table()).unwrap());
    let left = |wanted: fn(&Event) -> bool| journal.entries().iter().filter(|e| wanted(e.event())).count();
    assert_eq!(left(|e| matches!(e, Event::Desensitise { .. })), 1);

    // Two models of other shapes from one release; what each meeting shows is written down.
    for depth in [1, 2] {
        let trees = privet::setting::plain::Builder::of(vertical.trees().clone());
        let trees = trees.depth(depth).build().unwrap();
        let vertical = builder("2").trees(trees).build().unwrap();
        let names = vec!["bank".to_owned(), "shop".to_owned()];
        let simulation = Simulation::new(names, |party, run| -> Result<Party, Error> {
            let vertical = vertical.clone();
            if party == LABEL_HOLDER {
                return label_holder(&vertical, table(BANK, &bank(0..200), Some("who")));
            }
            feature_holder(&vertical, shop_table(), shop_ledger(&journal), &run)
        });
        let model = trained(simulation.unwrap().run().unwrap());
        let said = &model.certificate().parties[0].certificate;
        assert!(said.claims.len() == 2 && said.recorded, "{said}");
    }
    assert_eq!(left(|e| matches!(e, Event::Desensitise { .. })), 1);
    assert_eq!(left(|e| matches!(e, Event::Leak { .. })), 4);

    // Other noise, another table or another schema: not these columns.
    let dearer = kept(&builder("3").build().unwrap(), &shop_table());
    assert!(
        matches!(&dearer, Err(Error::Parameter(why)) if why.to_string().starts_with("epsilon = 3 now")),
        "{dearer:?}"
    );
    let shorter = kept(&vertical, &table(SHOP, &shop(0..10), None));
    assert!(matches!(shorter, Err(Error::Data(_))), "{shorter:?}");
    let wider = SHOP.replace("max = 100", "max = 200");
    let wider = kept(&vertical, &table(&wider, &shop(50..350), None));
    assert!(matches!(wider, Err(Error::Data(_))), "{wider:?}");
    // The same people in another order: the values are of other rows.
    let turned = kept(&vertical, &table(SHOP, &shop(50..350), None));
    assert!(
        matches!(&turned, Err(Error::Journal(why)) if why.fault() == JournalFault::OtherJob),
        "{turned:?}"
    );
    let other_ids: Vec<String> = shop((50..350).rev())
        .iter()
        .map(|row| row.replacen('p', "q", 1))
        .collect();
    let other_ids = kept(&vertical, &table(SHOP, &other_ids, Some("client")));
    assert!(
        matches!(&other_ids, Err(Error::Journal(why)) if why.fault() == JournalFault::OtherJob),
        "{other_ids:?}"
    );
    assert_eq!(left(|e| matches!(e, Event::Desensitise { .. })), 1);
    assert_eq!(left(|e| matches!(e, Event::Kept { .. })), 1);
}

#[test]
fn labels_leave_once_and_are_used_as_often_as_one_likes() {
    let schema = BANK.replace(
        "age = { type = \"integer\", min = 18, max = 90 }",
        "age = { type = \"skip\" }",
    );
    let journal = journal("bank");
    let own = || table(&schema, &bank(0..300), Some("who"));
    let ledger = || Ledger::open("bank", Replace::row(), journal.clone(), Randomness::from_os()?);
    let keep = |vertical: &Vertical| {
        let plan = vertical.label_holder(own().schema())?;
        NoisyLabels::keep(&plan, &own(), ledger()?)
    };
    let noisy = |label: &str| builder("20").label_epsilon(epsilon(label)).build().unwrap();
    let vertical = noisy("2");
    for _ in 0..2 {
        let names = vec!["bank".to_owned(), "shop".to_owned()];
        let simulation = Simulation::new(names, |party, run| -> Result<Party, Error> {
            let vertical = vertical.clone();
            if party == LABEL_HOLDER {
                let plan = vertical.label_holder(own().schema())?;
                return LabelHolder::with_noisy_labels(plan, own(), ledger()?, &run);
            }
            let ledger = Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, Randomness::from_os()?)?;
            feature_holder(
                &vertical,
                table(SHOP, &shop(0..300), Some("client")),
                ledger,
                &run,
            )
        });
        let model = trained(simulation.unwrap().run().unwrap());
        let text = model.certificate().to_string();
        assert!(
            !model.certificate().is_void() && text.contains("'loan' 2 and 2"),
            "{text}"
        );
        assert!(text.contains("no ε was spent"), "{text}");
    }
    let count = |wanted: fn(&Event) -> bool| journal.entries().iter().filter(|e| wanted(e.event())).count();
    assert_eq!(count(|e| matches!(e, Event::Desensitise { .. })), 1);
    assert_eq!(
        count(|e| matches!(e, Event::Leak { .. })),
        4,
        "two for each meeting"
    );
    let dearer = keep(&noisy("3"));
    assert!(matches!(dearer, Err(Error::Parameter(_))), "{dearer:?}");
    // The same numbers would mean other classes.
    for classes in [
        r#"["yes", "no"]"#,
        r#"["no", "yes", "late"]"#,
        r#"["no", "maybe"]"#,
    ] {
        let other = schema.replace(r#"["no", "yes"]"#, classes);
        let own = table(&other, &bank(0..300), Some("who"));
        let plan = vertical.label_holder(own.schema()).unwrap();
        let refused = NoisyLabels::keep(&plan, &own, ledger().unwrap());
        assert!(
            matches!(&refused, Err(Error::Data(why)) if why.to_string().contains("classes")),
            "{classes}: {refused:?}"
        );
    }
    assert!(keep(&vertical).is_ok());
}

#[test]
fn released_values_are_written_as_they_are_meant() {
    let full = || changes("1000").budget(Budget::Full);
    let mut vertical = with(full()).build().unwrap();
    let rows = ["p1,55,b", "p2,100,", "p3,0,nowhere", "p4,,c"].map(String::from);
    let release = |vertical: &Vertical| {
        let table = table(SHOP, &rows, None);
        let ledger = Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, Randomness::from_os()?)?;
        keep(vertical, &table, ledger)
    };
    let written = |release: &Release| {
        let texts = release.texts().unwrap();
        let row = |row| texts.row(row).collect::<Vec<_>>().join(",");
        (0..release.rows()).map(row).collect::<Vec<_>>()
    };
    let left = release(&vertical).unwrap();
    assert_eq!(left.names(), ["spent", "town"]);
    // What is missing counts as the middle of its domain, or is a value of its own where there is no order.
    assert_eq!(written(&left), ["55,b", "95,", "5,(other)", "45,c"]);
    let flags = full().categories(Categories::OptimisedUnary);
    vertical = with(flags).build().unwrap();
    let left = release(&vertical).unwrap();
    assert_eq!(left.names().len(), 6);
    assert!(written(&left)[1].starts_with("95,") && written(&left)[1].len() == 12);
}

/// New rows of which the shop holds some columns: it sends them changed, or only answers the model's questions about them.
#[test]
fn predictions_of_rows_that_stay_apart() {
    let vertical = builder("30").build().unwrap();
    let own = table(BANK, &bank(0..800), Some("who"));
    let other = table(SHOP, &shop(0..800), Some("client"));
    let model = rehearse(&vertical, own, vec![other]);
    let journal = journal("shop");
    // Nobody knows the label of new rows: it is not declared either.
    let unlabelled: Vec<&str> = BANK.lines().filter(|line| !line.contains("label")).collect();
    let schema = Arc::new(Schema::from_toml("bank", &unlabelled.join("\n")).unwrap());
    assert!(schema.label().is_none());
    let mut said = Vec::new();
    for branches in [false, true] {
        let simulation = Simulation::new(
            vec!["bank".into(), "shop".into()],
            |party, run| -> Result<Party, Error> {
                let vertical = vertical.clone();
                if party == LABEL_HOLDER {
                    let plan = vertical.predictor(&schema);
                    let rows = bank(2000..2300).into_iter();
                    let rows = rows.map(|row| row.rsplit_once(',').unwrap().0.to_owned());
                    let rows: Vec<String> = rows.collect();
                    let table = read(plan.reads_new_rows(), &rows, Some("who"));
                    return LabelHolder::predicting(plan, table, model.clone(), branches, leave());
                }
                let table = table(SHOP, &shop((2000..2400).rev()), Some("client"));
                feature_holder(&vertical, table, shop_ledger(&journal), &run)
            },
        );
        let done = simulation.unwrap().run().unwrap();
        let told = done.bytes(PartyId(1), LABEL_HOLDER);
        let predicted = done.all().unwrap().into_iter().find_map(|outcome| match outcome {
            Outcome::Predicted { rows, predictions } => Some((rows, predictions)),
            _ => None,
        });
        let (rows, predictions) = predicted.unwrap();
        assert!(rows.is_sorted_by(|one, next| one < next));
        let by_row: Vec<(usize, f64)> = rows
            .into_iter()
            .zip(predictions.scores().iter().copied())
            .collect();
        said.push((by_row, told));
    }
    // The rows met in another order in each run, and everybody gets their own score.
    assert_eq!(said[0].0.len(), 300);
    assert_eq!(said[0].0, said[1].0);
    let right = said[0]
        .0
        .iter()
        .filter(|(row, score)| (*score > 0.0) == loans(2000 + *row as u64));
    assert!(right.count() > 240);
}

/// A shop that has agreed to answer questions sends no columns, and one that has agreed to send columns answers none: whatever a label holder asks for.
#[test]
fn a_label_holder_gets_what_was_agreed_on_and_nothing_else() {
    let vertical = builder("30").build().unwrap();
    let own = table(BANK, &bank(0..200), Some("who"));
    let other = table(SHOP, &shop(0..200), Some("client"));
    let model = rehearse(&vertical, own.clone(), vec![other.clone()]);
    for (branches, agreed) in [(false, true), (true, false), (true, true), (false, false)] {
        let journal = journal("shop");
        let before = journal.entries().len();
        let simulation = Simulation::new(
            vec!["bank".into(), "shop".into()],
            |party, run| -> Result<Party, Error> {
                if party == LABEL_HOLDER {
                    let plan = vertical.predictor(own.schema());
                    let table = read(plan.reads_new_rows(), &bank(0..200), Some("who"));
                    return LabelHolder::predicting(plan, table, model.clone(), branches, leave());
                }
                let plan = vertical.feature_holder(other.schema())?.asked(agreed);
                FeatureHolder::party(plan, other.clone(), shop_ledger(&journal), &run)
            },
        );
        let done = simulation.unwrap().run();
        let told = done.and_then(|done| done.all().map(drop));
        assert_eq!(told.is_ok(), branches == agreed, "{branches} {agreed}: {told:?}");
        if branches != agreed {
            assert_eq!(journal.entries().len(), before, "something was written down");
        }
    }
}

/// Before anything is released: which column is not the model's, and whether branches can be asked.
#[test]
fn a_model_is_compared_with_the_columns_of_new_rows() {
    let vertical = builder("30").build().unwrap();
    let own = table(BANK, &bank(0..200), Some("who"));
    let other = table(SHOP, &shop(0..200), Some("client"));
    let model = rehearse(&vertical, own, vec![other]);
    let check = |vertical: &Vertical, bank: &str, shops: &[&str], branches: bool| {
        let schema = |text: &&str| Schema::from_toml("new", text).unwrap();
        let shops: Vec<Schema> = shops.iter().map(schema).collect();
        let plan = vertical.plan(&schema(&bank), &shops)?;
        plan.check_model(&model, branches)
    };
    let shop_lines = |wanted: &dyn Fn(&str) -> bool| {
        let lines: Vec<&str> = SHOP.lines().filter(|line| wanted(line)).collect();
        lines.join("\n")
    };
    let why = |bank: &str, shop: &str| check(&vertical, bank, &[shop], false).unwrap_err().to_string();
    for branches in [false, true] {
        check(&vertical, BANK, &[SHOP], branches).unwrap();
    }
    let cents = SHOP.replace("max = 100", "max = 10000");
    assert!(why(BANK, &cents).contains("'spent'"));
    let less = shop_lines(&|line| !line.contains("town"));
    assert!(why(BANK, &less).contains("no party has the column 'town'"));
    let more = format!("{SHOP}\nheight = {{ type = \"number\", min = 0, max = 3 }}\n");
    assert!(why(BANK, &more).contains("does not know the column 'height'"));
    let older = BANK.replace("max = 90", "max = 99");
    assert!(why(&older, SHOP).contains("'age'"));
    // The same columns of two parties can be sent, and not asked about.
    let (spent, town) = (
        shop_lines(&|line| !line.contains("town")),
        shop_lines(&|line| !line.contains("spent")).replace("dataset = \"shop\"", "dataset = \"mall\""),
    );
    check(&vertical, BANK, &[&spent, &town], false).unwrap();
    let several = check(&vertical, BANK, &[&spent, &town], true);
    assert!(matches!(several, Err(Error::Parameter(_))), "{several:?}");
    let questions = vertical.plan(
        &Schema::from_toml("bank", BANK).unwrap(),
        [&Schema::from_toml("shop", SHOP).unwrap()],
    );
    let questions = questions.unwrap().questions(&model).unwrap();
    assert!(
        questions
            .keys()
            .all(|column| column == "spent" || column == "town")
    );
    assert!(questions["spent"] > 0);
}
