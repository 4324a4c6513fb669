//! What is learnt over columns of several parties.

use privet::setting::vertical::{Alignment, Budget, Outcome, Protocol};

use crate::people::{BANK, SHOP, bank, builder, leave, shop, table};

#[test]
fn columns_of_another_party_teach_what_ones_own_do_not() {
    let vertical = builder("20").alignment(Alignment::Private).build().unwrap();
    let own = table(BANK, &bank(0..600), Some("who"));
    let other = table(SHOP, &shop((300..900).rev()), Some("client"));
    let model = vertical.rehearse(own, vec![other], &leave()).unwrap();
    let names: Vec<&str> = model.schema().features().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["age", "spent", "town"]);
    assert!(model.certificate().is_void());
    assert_eq!(model.certificate().parties.len(), 1);
    println!("{}", model.certificate());
}

#[test]
fn as_published_gives_the_same_trees_for_more_bytes() {
    let run = |protocol| {
        let vertical = builder("3000")
            .alignment(Alignment::Given)
            .budget(Budget::Full)
            .protocol(protocol)
            .build()
            .unwrap();
        let schema = SHOP.replace(
            "town = { type = \"category\", values = [\"a\", \"b\", \"c\"] }\n",
            "town = { type = \"skip\" }\n",
        );
        let own = table(BANK, &bank(0..500), None);
        let other = table(&schema, &shop(0..500), None);
        let done = vertical.rehearsed(own, vec![other], &leave()).unwrap();
        let bytes = done.traffic.values().map(|edge| edge.bytes).sum::<u64>();
        let model = done.all().unwrap().into_iter().find_map(|o| match o {
            Outcome::Trained(model) => Some(model),
            _ => None,
        });
        (model.unwrap(), bytes)
    };
    let (ours, fewer) = run(Protocol::Columns);
    let (theirs, more) = run(Protocol::AsPublished);
    assert_eq!(ours.ensemble(), theirs.ensemble());
    assert!(fewer < more, "{fewer} {more}");
}
