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

use super::super::regression::{Design, Regression};
use super::super::rows::{Matrix, Rows, numbers};
use super::laplace;
use crate::Error;
use crate::data::Table;
use crate::learner::Coordinate;
use crate::privacy::mechanism::LogisticRows;
use crate::privacy::{Coins, Epsilon, Relation, Unprotected};

/// Why it protects nobody.
const BECAUSE: &str = "the PATE extension is not private as described: the private features of a row are what all teachers vote on, \
                       and its noise covers one teacher's vote";

/// Parameters of the extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pate {
    /// Teachers; the paper has 50.
    pub teachers: usize,
    /// What one vote, or all of them together, would cost if the claim were true.
    pub epsilon: Epsilon,
    /// Whether ε is cut over all votes; if not, each has all of it.
    pub composed: bool,
}

/// What a student says about the rows of a second table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Students {
    /// For each row, whether it is of the second class.
    pub predictions: Vec<bool>,
    /// For each row, whether that is right.
    pub right: Vec<bool>,
}

impl Pate {
    /// Why whatever comes of it is void: what a leave for it should say.
    pub fn because() -> &'static str {
        BECAUSE
    }

    /// Trains teachers and a student on one table, and predicts another. There is no model: a row's vote follows from its private
    /// features through all teachers.
    ///
    /// # Paper
    /// Section 5.5, figure 4b. Votes are noised with the Laplace law of scale 2/ε, or 2 × votes/ε.
    ///
    /// # Deviations
    /// Noise comes from public coins: it hides nothing anyway.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are no teachers or ε is zero; [`Error::Misuse`] if the relation protects less than the schema.
    pub fn predict(
        &self,
        [train, test]: [Table; 2],
        relation: &Relation,
        leave: &Unprotected,
        coins: &mut Coins,
    ) -> Result<Students, Error> {
        if self.teachers == 0 {
            return Err(Error::parameter(
                "teachers",
                "teachers = 0: somebody must be asked",
            ));
        }
        if self.epsilon == Epsilon::ZERO {
            return Err(Error::parameter("epsilon", "epsilon must be above zero"));
        }
        let [train, test] = [Rows::new(train, relation)?, Rows::new(test, relation)?];
        let (private, all) = (train.coordinates.clone(), train.all.clone());
        let public: Vec<Coordinate> = all.into_iter().filter(|c| !private.contains(c)).collect();
        let [train, test] = [leave.reveal(train.matrix), leave.reveal(test.matrix)];
        let votes = if self.composed {
            train.rows() + test.rows()
        } else {
            1
        };
        let scale = 2.0 * votes as f64 / self.epsilon.to_f64();
        let teachers: Vec<Vec<f64>> = (0..self.teachers)
            .map(|number| {
                let from = train.rows() * number / self.teachers;
                let to = train.rows() * (number + 1) / self.teachers;
                let part = |column: &Vec<f32>| column[from..to].to_vec();
                let columns: Vec<Vec<f32>> = train.columns.iter().map(part).collect();
                fit(&columns, &train.labels[from..to])
            })
            .collect();
        let mut voted = |matrix: &Matrix| -> Vec<f32> {
            let vote = |row: usize| {
                let yes = |teacher: &&Vec<f64>| sum(teacher, &matrix.columns, row) >= 0.0;
                let yes = teachers.iter().filter(yes).count() as f64;
                let lead = 2.0 * yes - self.teachers as f64 + laplace(scale, coins);
                if lead >= 0.0 { 1.0 } else { -1.0 }
            };
            (0..matrix.rows()).map(vote).collect()
        };
        let [train_columns, test_columns] = [&train, &test].map(|matrix| {
            let mut columns = numbers(&matrix.cells, &public);
            columns.push(voted(matrix));
            columns
        });
        let student = fit(&train_columns, &train.labels);
        let predictions: Vec<bool> = (0..test.rows())
            .map(|row| sum(&student, &test_columns, row) >= 0.0)
            .collect();
        let right = predictions
            .iter()
            .zip(&test.labels)
            .map(|(a, b)| a == b)
            .collect();
        Ok(Students { predictions, right })
    }
}

/// Logistic regression with a ridge of one and no noise.
fn fit(columns: &[Vec<f32>], labels: &[bool]) -> Vec<f64> {
    let regression = Regression {
        design: Design::Numbers(columns),
        labels,
        offsets: &[],
        weights: None,
    };
    regression.guess(1.0, &vec![0.0; columns.len() + 1])
}

fn sum(by: &[f64], columns: &[Vec<f32>], row: usize) -> f64 {
    let own = by[1..].iter().zip(columns);
    by[0] + own.map(|(c, column)| c * f64::from(column[row])).sum::<f64>()
}
