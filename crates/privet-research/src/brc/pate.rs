//! The extension of PATE that the paper compares with: **not private as described**.
//!
//! # Paper
//! BRC, figure 4b: teachers are trained on disjoint parts of the private features, their noisy vote on a row is one more public
//! feature of it, and a student learns from the public features and that vote.
//!
//! # Privacy
//! None. The row that teachers are asked about is itself private: its own features are what they vote on, so replacing them can
//! turn all votes of that question over, not one teacher's. Noise for one teacher does not cover it, whether or not ε is cut
//! over all questions. The same holds for rows that are predicted: the student needs their votes too.

use privet::Error;
use privet::data::schema::{AnyColumn, label, number};
use privet::data::{Frame, Schema, Table, Target};
use privet::learner::{Coordinate, SILENT};
use privet::model::Model;
use privet::privacy::{Coins, Unprotected};
use privet::setting::plain::{Algorithm, Logistic};

use crate::as_published::{above_zero, laplace, numbers};

/// Why it protects nobody.
const BECAUSE: &str = "the PATE extension is not private as described: the private features of a row are what all teachers vote on, \
                       and its noise covers one teacher's vote";

/// Parameters of the extension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pate {
    /// Teachers; the paper has 50.
    pub(super) teachers: usize,
    /// What one vote, or all of them together, would cost if the claim were true.
    pub(super) epsilon: f64,
    /// Whether ε is cut over all votes; if not, each has all of it.
    pub(super) composed: bool,
}

/// Revealed rows: numbers from -1 to 1, column by column.
struct RevealedColumns {
    private: Vec<Vec<f32>>,
    public: Vec<Vec<f32>>,
    labels: Vec<bool>,
}

impl RevealedColumns {
    fn new(table: Table) -> Result<Self, Error> {
        let schema = table.schema().clone();
        let cells = permission(&schema).reveal(table.into_cells());
        let Some(Target::Classes(classes)) = cells.target() else {
            return Err(Error::misuse("the PATE extension tells two classes apart"));
        };
        let own = |private| Coordinate::of(&schema, |_, column| column.private == private);
        let columns = |private| numbers(&cells, &own(private));
        Ok(Self {
            private: columns(true),
            public: columns(false),
            labels: classes.iter().map(|&class| class > 0).collect(),
        })
    }
}

impl Pate {
    /// # Errors
    /// [`Error::Parameter`] if there is no teacher, or ε is not a number above zero.
    fn check(&self, rows: usize) -> Result<(), Error> {
        if self.teachers == 0 || self.teachers > rows {
            let why = format!(
                "teachers = {}: write a number from 1 to the number of rows, {rows}, since each teacher has rows of its own",
                self.teachers
            );
            return Err(Error::parameter("teachers", why));
        }
        above_zero("epsilon", self.epsilon)
    }

    /// Trains teachers and a student on one table, and tells for each row of another whether the student is right about it. There is no
    /// model: a row's vote follows from its private features through all teachers.
    ///
    /// # Paper
    /// Section 5.5, figure 4b. Votes are noised with the Laplace law of scale 2/ε, or 2 × votes/ε.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters out of range; [`Error::Misuse`] for tables without two classes.
    pub(super) fn right(&self, [train, test]: [Table; 2], coins: &mut Coins) -> Result<Vec<bool>, Error> {
        let mut both = [RevealedColumns::new(train)?, RevealedColumns::new(test)?];
        let rows = both[0].labels.len();
        self.check(rows)?;
        let votes = match self.composed {
            true => rows + both[1].labels.len(),
            false => 1,
        };
        let scale = 2.0 * votes as f64 / self.epsilon;
        let teachers = (0..self.teachers).map(|number| {
            let part = rows * number / self.teachers..rows * (number + 1) / self.teachers;
            let columns = both[0].private.iter().map(|column| &column[part.clone()]);
            fit(&columns.collect::<Vec<_>>(), &both[0].labels[part.clone()])
        });
        let teachers = teachers.collect::<Result<Vec<Model>, Error>>()?;
        for of in &mut both {
            let mut leads = vec![-(self.teachers as f64); of.labels.len()];
            for teacher in &teachers {
                let said = says(teacher, &of.private)?;
                leads
                    .iter_mut()
                    .zip(said)
                    .filter(|(_, yes)| *yes)
                    .for_each(|(lead, _)| *lead += 2.0);
            }
            let vote = |lead: f64| {
                if lead + laplace(scale, coins) >= 0.0 {
                    1.0
                } else {
                    -1.0
                }
            };
            of.public.push(leads.into_iter().map(vote).collect());
        }
        let [train, test] = both;
        let columns: Vec<&[f32]> = train.public.iter().map(Vec::as_slice).collect();
        let said = says(&fit(&columns, &train.labels)?, &test.public)?;
        Ok(said
            .iter()
            .zip(&test.labels)
            .map(|(said, label)| said == label)
            .collect())
    }
}

fn permission(schema: &Schema) -> Unprotected {
    Unprotected::unrecorded(schema.dataset(), &schema.relation(), BECAUSE)
}

/// Logistic regression with a ridge of one and no noise.
fn fit(columns: &[&[f32]], labels: &[bool]) -> Result<Model, Error> {
    let numbers = (0..columns.len()).map(|place| AnyColumn::from(number(place.to_string(), -1..=1)));
    let schema = Schema::builder("pate")
        .columns(numbers.chain([label("class", ["no", "yes"]).into()]))
        .build()?;
    let plan = Logistic::default().plan(&schema)?;
    let classes: Vec<&str> = labels.iter().map(|&yes| if yes { "yes" } else { "no" }).collect();
    let frame = named(columns.iter().copied()).column("class", classes);
    plan.fit(Table::read(&plan.reads(), &frame)?, &permission(&schema), SILENT)
}

/// Whether a model says "yes", row by row.
fn says(model: &Model, columns: &[Vec<f32>]) -> Result<Vec<bool>, Error> {
    let predictions = model.predict(&named(columns.iter().map(Vec::as_slice)))?;
    Ok(predictions.scores().iter().map(|&score| score >= 0.0).collect())
}

/// Columns under their numbers.
fn named<'a>(columns: impl Iterator<Item = &'a [f32]>) -> Frame<'a> {
    let numbered = columns.enumerate();
    numbered.fold(Frame::new(), |frame, (place, column)| {
        frame.column(place.to_string(), column)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_refused() {
        let pate = |teachers, epsilon| Pate {
            teachers,
            epsilon,
            composed: true,
        };
        assert!(pate(50, 1.0).check(50).is_ok());
        for wrong in [
            pate(0, 1.0),
            pate(51, 1.0),
            pate(5, 0.0),
            pate(5, -1.0),
            pate(5, f64::NAN),
            pate(5, f64::INFINITY),
        ] {
            assert!(matches!(wrong.check(50), Err(Error::Parameter(_))), "{wrong:?}");
        }
    }

    /// Without composition votes help, with it they drown in noise.
    #[test]
    fn the_teachers_vote_without_protection() {
        let mut coins = Coins::from_seed([7; 32]);
        let mut draw = || (0..3000).map(|_| 2.0 * coins.unit() - 1.0).collect::<Vec<f64>>();
        let [x, y, noise] = [draw(), draw(), draw()];
        let sums = x
            .iter()
            .zip(&y)
            .zip(&noise)
            .map(|((x, y), noise)| x + y + noise / 2.0);
        let classes: Vec<&str> = sums.map(|sum| if sum > 0.0 { "b" } else { "a" }).collect();
        let columns = [
            number("x", -1..=1),
            number("y", -1..=1),
            label("class", ["a", "b"]),
        ];
        let schema = Schema::builder("test")
            .columns(columns)
            .build()
            .expect("a schema");
        let frame = Frame::new()
            .column("x", x)
            .column("y", y)
            .column("class", classes);
        let reads = Logistic::default().plan(&schema).expect("a plan").reads();
        let share = |composed| {
            let pate = Pate {
                teachers: 50,
                epsilon: 1.0,
                composed,
            };
            let tables = [(); 2].map(|()| Table::read(&reads, &frame).expect("a table"));
            let right = pate
                .right(tables, &mut Coins::from_seed([1; 32]))
                .expect("students");
            right.iter().filter(|right| **right).count() as f64 / right.len() as f64
        };
        assert!(share(false) > 0.75, "{}", share(false));
        assert!(share(true) < 0.6, "{}", share(true));
    }
}
