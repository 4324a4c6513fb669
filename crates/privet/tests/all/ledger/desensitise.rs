//! Columns that leave with every value changed: written down first, once, and never added to an ε.

use privet::privacy::Certificate;
use privet::privacy::mechanism::ordered::{
    AdjustedMap, Adjustment, Alignment, ClampedGeometric, Column, Desensitised, Distance, LocalMap, Loss,
    Ordered, Route, Unary, UnboundedLaplace,
};
use privet::privacy::{Columns, Observer, Ratio, ReplacePrivate};

use super::*;

fn loss(text: &str) -> Loss {
    Loss::Bounded(epsilon(text))
}

fn clamped(text: &str) -> ClampedGeometric {
    ClampedGeometric::new(epsilon(text), 10).expect("a mechanism")
}

fn slots<'a>(name: &str, mechanism: &'a dyn Ordered) -> Column<'a> {
    Column::slots(name, mechanism, Private::new(vec![0, 5, 9]))
}

fn replacing(journal: &Faulty) -> Ledger<Replace> {
    Ledger::open("toy", Replace::row(), journal.clone(), random()).expect("opens")
}

fn distance(certificate: &Certificate) -> (&[Distance], Loss, Loss) {
    let claim = certificate
        .claims
        .iter()
        .find_map(|claim| match &claim.guarantee {
            Guarantee::Distance {
                columns,
                record,
                unit,
            } => Some((columns.as_slice(), *record, *unit)),
            _ => None,
        });
    claim.expect("a claim by distance")
}

#[test]
fn columns_of_all_kinds_leave_under_one_entry() {
    let journal = journal(&Replace::row(), Caps::ZERO, "0");
    let mut ledger = replacing(&journal);
    let (ordered, unary) = (
        clamped("0.08"),
        Unary::flag_by_flag(epsilon("0.5"), 3).expect("a code"),
    );
    let columns = vec![
        slots("age", &ordered),
        Column::flags("town", &unary, Private::new(vec![0, 1, 2])),
    ];
    let left = ledger
        .desensitise("a partner", columns)
        .expect("leaves")
        .into_inner();
    let [Desensitised::Slots(ages), Desensitised::Flags(towns)] = left.as_slice() else {
        panic!("{left:?}")
    };
    assert!(ages.len() == 3 && ages.iter().all(|slot| *slot < 10));
    assert!(towns.len() == 9 && towns.iter().all(|flag| *flag < 2));

    let entries = journal.entries();
    let Some(Event::Desensitise { columns, record, .. }) = entries.last().map(Entry::event) else {
        panic!("{entries:?}")
    };
    assert_eq!((columns.len(), *record), (2, loss("1.72")));
    let text = entries
        .last()
        .map(|entry| entry.text().to_owned())
        .expect("an entry");
    let hash = entries
        .last()
        .map(|entry| entry.hash().to_owned())
        .expect("an entry");
    assert_eq!(
        Entry::parse(text, hash).as_ref(),
        Ok(entries.last().expect("an entry"))
    );

    let certificate = ledger.close();
    let (columns, record, unit) = distance(&certificate);
    assert_eq!(
        (columns[0].within, columns[0].whole),
        (loss("0.08"), loss("0.72"))
    );
    // Another category changes two flags of 0.5 each.
    assert_eq!((columns[1].within, columns[1].whole), (loss("1"), loss("1")));
    assert_eq!((record, unit), (loss("1.72"), loss("1.72")));
    let text = certificate.to_string();
    assert!(
        text.contains("'age' 0.08 and 0.72; 'town' 1 and 1; 1.72 for a row over all of them"),
        "{text}"
    );
    let json = serde_json::to_string(&certificate).expect("text");
    assert_eq!(
        serde_json::from_str::<Certificate>(&json).expect("reads back"),
        certificate
    );
}

#[test]
fn distances_are_never_added_to_an_epsilon() {
    let journal = journal(&Replace::row(), pure("1"), "0");
    let mut ledger = replacing(&journal);
    let mechanism = Laplace::calibrated(epsilon("0.3"), 1).expect("a mechanism");
    ledger
        .release("a count", &mechanism, count(&Replace::row()))
        .expect("fits");
    let ordered = clamped("2");
    ledger
        .desensitise("a partner", vec![slots("age", &ordered)])
        .expect("no cap is charged");
    assert_eq!(ledger.remaining(), pure("0.7"));
    let certificate = ledger.close();
    assert_eq!(certificate.claims.len(), 2);
    assert!(
        certificate
            .claims
            .iter()
            .all(|claim| claim.from == Observer::Anyone)
    );
    let total = certificate.total.clone().expect("a total");
    let spent = Guarantee::Pure {
        epsilon: epsilon("0.3"),
    };
    assert_eq!(
        (&certificate.claims[0].guarantee, &total.guarantee),
        (&spent, &spent)
    );
    let left = Columns {
        columns: 1,
        record: loss("18"),
    };
    assert_eq!(total.desensitised, Some(left));
    assert!(
        certificate
            .to_string()
            .contains("not counting 1 desensitised columns")
    );
}

#[test]
fn a_column_leaves_once() {
    let journal = journal(&Replace::row(), Caps::ZERO, "0");
    let ordered = clamped("0.08");
    let refused = |ledger: &mut Ledger<Replace>, columns| {
        let before = journal.entries().len();
        let error = ledger.desensitise("again", columns).expect_err("left already");
        assert!(
            matches!(&error, Error::Budget(why) if why.to_string().contains("'age'")),
            "{error}"
        );
        assert_eq!(journal.entries().len(), before, "nothing is written");
    };
    let mut ledger = replacing(&journal);
    refused(&mut ledger, vec![slots("age", &ordered), slots("age", &ordered)]);
    ledger
        .desensitise("a partner", vec![slots("age", &ordered)])
        .expect("leaves");
    refused(
        &mut ledger,
        vec![slots("hours", &ordered), slots("age", &ordered)],
    );
    refused(&mut replacing(&journal), vec![slots("age", &ordered)]);
    // Another name for the same rows does not help.
    let adopt = Event::Adopt {
        dataset: "alias".into(),
        of: "toy".into(),
    };
    append(&mut journal.clone(), adopt).expect("adopts");
    let mut alias = Ledger::open("alias", Replace::row(), journal.clone(), random()).expect("opens");
    refused(&mut alias, vec![slots("age", &ordered)]);
    alias
        .desensitise("a partner", vec![slots("hours", &ordered)])
        .expect("another column may leave");
    let total = alias.close().total.and_then(|total| total.desensitised);
    let both = Columns {
        columns: 2,
        record: loss("1.44"),
    };
    assert_eq!(total, Some(both), "the record is that of all columns");
}

#[test]
fn what_cannot_leave_is_refused_before_the_draw() {
    let ordered = clamped("0.08");
    // Under add and remove the number of rows is private, and changed columns show it.
    let mut private_count = ledger(&journal(&AddRemove::row(), Caps::ZERO, "0"));
    let error = private_count.desensitise("a partner", vec![slots("age", &ordered)]);
    assert!(matches!(error, Err(Error::Budget(_))));
    let journal = journal(&Replace::row(), Caps::ZERO, "0");
    assert!(replacing(&journal).desensitise("nothing", Vec::new()).is_err());
    journal.fail_at(1, AppendFault::Refused);
    let mut ledger = replacing(&journal);
    let error = ledger.desensitise("a partner", vec![slots("age", &ordered)]);
    assert!(matches!(error, Err(Error::Journal(_))), "{error:?}");
    assert!(
        ledger.close().claims.is_empty(),
        "nothing was drawn, so nothing is claimed"
    );
}

#[test]
fn tight_losses_are_printed_not_declared_ones() {
    let journal = journal(&Replace::row(), Caps::ZERO, "0");
    let mut ledger = replacing(&journal);
    let adjustment = Adjustment {
        width: 4,
        alpha: Ratio::new(2, 1).expect("positive"),
        alignment: Alignment::FirstSlot,
    };
    let adjusted = AdjustedMap::new(epsilon("0.08"), 10, adjustment, Route::default()).expect("a map");
    let local = LocalMap::new(epsilon("0.08"), 10, 4, Alignment::FirstSlot, Route::default()).expect("a map");
    let unbounded = UnboundedLaplace::new(epsilon("0.1")).expect("a mechanism");
    let columns = vec![
        slots("age", &adjusted),
        slots("hours", &local),
        Column::integers("steps", &unbounded, Private::new(vec![i64::MAX, 0])),
    ];
    ledger.desensitise("a partner", columns).expect("leaves");
    let certificate = ledger.close();
    let (columns, record, _) = distance(&certificate);
    assert!(columns[0].per_unit() > loss("0.1738") && columns[0].per_unit() < loss("0.174"));
    assert_eq!(columns[1].across, Some(Loss::Unbounded));
    assert_eq!((columns[2].within, record), (loss("0.1"), Loss::Unbounded));
    let text = certificate.to_string();
    assert!(
        text.contains("'age' 0.0248") && text.contains(" within a part, 0.1738"),
        "{text}"
    );
    assert!(
        text.contains("∞ over a border") && text.contains("∞ for a row"),
        "{text}"
    );
    assert!(!text.contains("0.08"), "{text}");
}

#[test]
fn a_unit_of_many_rows_loses_as_many_times() {
    let three = 3.try_into().expect("three");
    let ordered = clamped("0.1");
    // A unit of three rows can be replaced by one of two: the number of rows would show.
    let whole = Replace::unit(three).of("id");
    let kept = journal(&whole, Caps::ZERO, "0");
    let mut ledger = Ledger::open("toy", whole, kept, random()).expect("opens");
    let refused = ledger.desensitise("a partner", vec![slots("age", &ordered)]);
    assert!(matches!(refused, Err(Error::Budget(_))), "{refused:?}");

    let relation = ReplacePrivate::unit(three, ["age", "hours"]).of("id");
    let journal = journal(&relation, Caps::ZERO, "0");
    let mut ledger = Ledger::open("toy", relation, journal, random()).expect("opens");
    ledger
        .desensitise(
            "a partner",
            vec![slots("age", &ordered), slots("hours", &ordered)],
        )
        .expect("leaves");
    let certificate = ledger.close();
    let (_, record, unit) = distance(&certificate);
    assert_eq!((record, unit), (loss("1.8"), loss("5.4")));
    assert!(
        certificate
            .to_string()
            .contains("'age' and 1 more, each 0.1 and 0.9")
    );
}

#[test]
fn a_forged_record_is_not_in_a_chain() {
    let mut journal = journal(&Replace::row(), Caps::ZERO, "0");
    let ordered = clamped("0.08");
    let event = |record| Event::Desensitise {
        dataset: "toy".into(),
        relation: Replace::row().relation(),
        what: "a partner".into(),
        columns: vec![slots("age", &ordered).distance()],
        record,
        run: None,
        stored: false,
    };
    assert!(append(&mut journal, event(loss("0.08"))).is_err());
    assert!(append(&mut journal, event(loss("0.72"))).is_ok());
    // And once something has left, the data set is kept by one unit for good.
    let by_person = Event::Limit {
        dataset: "toy".into(),
        relation: Replace::row().of("id").relation(),
        caps: Caps::ZERO,
        delta: Delta::ZERO,
    };
    assert!(append(&mut journal, by_person).is_err());
}
