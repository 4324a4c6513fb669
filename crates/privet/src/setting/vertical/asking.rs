//! Questions that a model puts to a feature holder: about splits, as published, and about branches of single rows.

use std::collections::{BTreeMap, BTreeSet};

use super::joined::{Joined, Joining, OwnRows};
use super::message::{MOST_QUESTIONS, Message, Question};
use super::release::{Release, ReleasedColumn};
use super::texts::declared;
use crate::Error;
use crate::boost::Learner;
use crate::boost::gradient::Boosted;
use crate::data::schema::Column;
use crate::data::{Cells, Schema};
use crate::error::Subject;
use crate::learner::tree::{self, Rule};
use crate::model::Model;
use crate::party::{Context, PartyId};

/// For each party, column by column, the ranks that it is asked about.
pub(super) type Splits = Vec<(PartyId, Vec<Vec<u32>>)>;
/// Column by column, the slots on the two sides of each split.
pub(super) type Thresholds = Vec<Vec<[u16; 2]>>;

/// A model over ranks, whose splits were asked for.
pub(super) struct RankedModel {
    boosted: Boosted,
    /// What the ranks mean, without values, party by party.
    releases: Vec<(PartyId, Release)>,
    /// For each column, in the joint order, the ranks that were asked about.
    asked: Vec<Vec<u32>>,
    /// How many columns the label holder has itself: they come first.
    own: usize,
}

impl RankedModel {
    /// The model, and the ranks that its trees split after, column by column, for each party.
    ///
    /// # Paper
    /// OpBoost, section 5: split points are recovered by asking. What is asked depends on labels.
    pub(super) fn ask(boosted: Boosted, own: usize, releases: Vec<(PartyId, Release)>) -> (Self, Splits) {
        let columns: usize = releases.iter().map(|(_, release)| release.columns.len()).sum();
        let mut used = vec![BTreeSet::new(); columns];
        for node in boosted.trees.iter().flat_map(|tree| &tree.nodes) {
            let place = (node.feature as usize).checked_sub(own);
            if let (Some(place), Rule::UpTo { slot, .. }) = (place, &node.rule)
                && let Some(used) = used.get_mut(place)
            {
                used.insert(u32::from(*slot));
            }
        }
        let asked: Vec<Vec<u32>> = used.into_iter().map(|used| used.into_iter().collect()).collect();
        let mut rest = asked.iter();
        let splits = releases.iter().map(|(party, release)| {
            let of_party = rest.by_ref().take(release.columns.len()).cloned();
            (*party, of_party.collect())
        });
        let splits = splits.collect();
        let ranked = Self {
            boosted,
            releases,
            asked,
            own,
        };
        (ranked, splits)
    }

    /// The most bytes of thresholds for all that was asked about.
    pub(super) fn most_bytes(&self) -> u64 {
        let pairs = self.asked.iter().map(|asked| 8 + 8 * asked.len() as u64);
        16 + pairs.sum::<u64>()
    }

    /// Whether a party's thresholds answer what it was asked. Compared when they come, so that no others are kept.
    pub(super) fn is_answered(&self, party: PartyId, pairs: &Thresholds) -> bool {
        let before = self.releases.iter().take_while(|(other, _)| *other != party);
        let at: usize = before.map(|(_, release)| release.columns.len()).sum();
        let release = self.releases.iter().find(|(other, _)| *other == party);
        let outputs = release.map_or(&[][..], |(_, release)| &release.columns);
        let asked = self.asked.get(at..at + outputs.len()).unwrap_or(&[]);
        let answers = |((pairs, asked), column): ((&Vec<[u16; 2]>, &Vec<u32>), &ReleasedColumn)| {
            let fits = |[low, high]: &[u16; 2]| low < high && usize::from(*high) < column.reading.outputs;
            pairs.len() == asked.len() && pairs.iter().all(fits)
        };
        pairs.len() == asked.len() && pairs.iter().zip(asked).zip(outputs).all(answers)
    }

    /// The model over slots: each split lies in the middle of the two values on its sides.
    pub(super) fn finish(
        self,
        came: BTreeMap<PartyId, Thresholds>,
        (own, label): (&Schema, Option<Column>),
        context: &Context<'_, Message>,
    ) -> Result<(Joined, Boosted), Error> {
        // Each was compared with what was asked when it came.
        let at: Thresholds = came.into_values().flatten().collect();
        let own = OwnRows {
            schema: own.clone(),
            cells: Cells::joined(0, vec![Default::default(); self.own], None)?,
        };
        let mut joining = Joining::new(&own, label);
        for (party, release) in self.releases {
            joining.add(release).map_err(|e| context.complain(party, e))?;
        }
        let joined = joining.join()?;
        let mut boosted = self.boosted;
        for node in boosted.trees.iter_mut().flat_map(|tree| &mut tree.nodes) {
            let place = (node.feature as usize).checked_sub(self.own);
            if let (Some(place), Rule::UpTo { slot, .. }) = (place, &mut node.rule) {
                let rank = self.asked[place].binary_search(&u32::from(*slot));
                let rank = rank.map_err(|_| Error::internal("every split was asked about"))?;
                let [low, high] = at[place][rank];
                *slot = low + (high - low - 1) / 2;
            }
        }
        Ok((joined, boosted))
    }
}

/// What a model asks about columns that are not the label holder's, by party: the columns of its schema, in their order, belong to
/// the label holder, then to the feature holders. With several feature holders each is asked only about what it can have.
pub(super) fn questions(model: &Model, own: &Schema, parties: usize) -> Result<Vec<Vec<Question>>, Error> {
    if parties != 1 {
        return Err(Error::parameter(
            "protocol",
            "branches can be asked of one feature holder only: let several send their columns",
        ));
    }
    for column in model.schema().features() {
        if let Some(mine) = own.features().find(|mine| mine.name == column.name)
            && mine.kind != column.kind
        {
            let why = format!(
                "these are not the columns of the model: column '{}' is declared otherwise than in the model",
                column.name
            );
            return Err(Error::data_of(&column.name, why));
        }
    }
    let columns = known(model.schema())?;
    let mut asked = BTreeSet::new();
    for tree in trees(model)? {
        for node in &tree.nodes {
            let column = &columns[node.feature as usize];
            if !own.features().any(|mine| mine.name == column.name) {
                asked.insert(question(node, column));
            }
        }
    }
    if asked.len() > MOST_QUESTIONS {
        let why = format!(
            "the model asks {} questions about the others' columns, and at most {MOST_QUESTIONS} are answered: let them send their columns",
            asked.len()
        );
        return Err(Error::parameter("protocol", why));
    }
    Ok(vec![asked.into_iter().collect()])
}

/// A column as a model knows it.
struct Known<'a> {
    name: &'a str,
    slots: tree::Column,
    declared: [u8; 32],
}

fn known(schema: &Schema) -> Result<Vec<Known<'_>>, Error> {
    let columns = schema.features().zip(tree::Column::of(schema));
    let known = columns.map(|(column, slots)| {
        Ok(Known {
            name: &column.name,
            slots,
            declared: declared(&column.name, &column.kind)?,
        })
    });
    known.collect()
}

fn question(node: &tree::Node, column: &Known<'_>) -> Question {
    let slots = 0..column.slots.slots as u16;
    Question {
        column: column.name.to_owned(),
        declared: column.declared,
        left: slots
            .filter(|slot| node.rule.goes_left(*slot, &column.slots))
            .collect(),
    }
}

fn trees(model: &Model) -> Result<Vec<&tree::Tree>, Error> {
    let members = model.ensemble().members.iter();
    let trees = members.map(|member| match &member.learner {
        Learner::Tree(tree) => Some(tree),
        _ => None,
    });
    let trees: Option<Vec<_>> = trees.collect();
    trees.ok_or_else(|| {
        Error::parameter(
            Subject::Algorithm,
            "only trees ask questions that others can answer",
        )
    })
}

/// The same model over the label holder's columns and the answers.
pub(super) fn rewritten(
    model: &Model,
    own: &Schema,
    asked: &[Question],
    joined: &Joined,
) -> Result<Model, Error> {
    let columns = known(model.schema())?;
    let mine: Vec<&str> = own.features().map(|c| c.name.as_str()).collect();
    let mut ensemble = model.ensemble().clone();
    for member in &mut ensemble.members {
        let Learner::Tree(tree) = &mut member.learner else {
            return Err(Error::internal("only trees ask questions"));
        };
        for node in &mut tree.nodes {
            let column = &columns[node.feature as usize];
            match mine.iter().position(|name| *name == column.name) {
                Some(own) => node.feature = own as u32,
                None => {
                    let question = question(node, column);
                    let at = asked.binary_search(&question);
                    let at = at.map_err(|_| Error::internal("every question was asked"))?;
                    node.feature = (mine.len() + at) as u32;
                    // A flag's slots: no, yes, undeclared, missing.
                    node.rule = Rule::one_of(4, [1]);
                }
            }
        }
    }
    let settings = model.settings().clone();
    Model::new(
        joined.schema.clone(),
        ensemble,
        model.certificate().clone(),
        settings,
    )
}
