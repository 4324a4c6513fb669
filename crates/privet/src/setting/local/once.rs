//! `collect-once`: one collection, then boosting for free.

use super::answer::Answer;
use super::bayes::bayes;
use super::campaign::Message;
use super::course::{Algorithm, Next, Task, means_of, named};
use super::encoding::{Encoding, Features, Statistic};
use super::params::{CollectOnce, GramSource, OnceLearner, VectorMessage};
use super::solving::Gram;
use crate::Error;
use crate::boost::Ensemble;
use crate::data::schema::{Column, Kind};
use crate::privacy::mechanism::local::SampledCells;

/// The share of owners' vectors that are not shortened.
const SHARE: f64 = 0.5;
/// The same of their second moments, and of class means: a bias of these would turn classifiers.
const LARGE_SHARE: f64 = 0.9;

impl Algorithm for CollectOnce {
    fn rounds(&self) -> u32 {
        match self.gram {
            GramSource::Own => 1,
            GramSource::Owners => 2,
        }
    }

    fn needs_own_rows(&self) -> bool {
        self.learner != OnceLearner::Bayes
            && (self.radius.is_none() || self.components > 0 || self.thresholds > 0)
    }

    fn parameters(&self) -> Vec<(String, String)> {
        named(self)
    }

    fn message(&self, task: &Task) -> Result<Message, Error> {
        if self.learner == OnceLearner::Bayes {
            let bins = |column: &Column| match &column.kind {
                Kind::Number(_) => self.bins as usize,
                Kind::Ordinal(it) | Kind::Category(it) | Kind::Flag(it) => it.values().len(),
                Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => 1,
            };
            let most = task.schema().features().map(bins).max().unwrap_or(1);
            let columns = task.schema().features().count();
            let cells = SampledCells::new(task.epsilon(), columns, most * task.classes())?;
            return Ok(Message::Cells(cells));
        }
        let dimension = task.dimension(self.thresholds, self.components);
        task.vector(&self.statistic(), dimension, VectorMessage::Vector)
    }

    fn shown(&self) -> Vec<&'static str> {
        let mut shown = Vec::new();
        if self.learner != OnceLearner::Bayes && self.components > 0 {
            shown.push("principal axes of the own rows");
        }
        if self.thresholds > 0 {
            shown.push("quantiles of the own rows, at which numbers are cut");
        }
        if matches!(self.learner, OnceLearner::Ridge | OnceLearner::L2Boost) {
            shown.push("where to stop, by the own rows and their labels");
        }
        shown
    }

    fn next(&self, task: &Task, answers: &[Answer]) -> Result<Next, Error> {
        if self.learner == OnceLearner::Bayes {
            return self.bayes(task, answers);
        }
        let features = self.features(task)?;
        let encoding = task.encoding(features.clone(), self.statistic())?;
        let moments = task.encoding(features, Statistic::SecondMoments)?;
        match (answers, self.gram) {
            ([], _) => {
                let share = match self.learner {
                    OnceLearner::Centroid => LARGE_SHARE,
                    _ => SHARE,
                };
                let radius = task.radius(self.radius, &encoding, share)?;
                Ok(self.ask(task, 1, radius, encoding))
            }
            ([_], GramSource::Owners) => {
                // A given radius is that of φ: products of two are at most as long as its square.
                let given = self.radius.map(|radius| radius * radius);
                let radius = task.radius(given, &moments, LARGE_SHARE)?;
                Ok(self.ask(task, 2, radius, moments))
            }
            (answers, _) => Ok(task.learnt(self.solve(task, &encoding, answers)?)),
        }
    }
}

impl CollectOnce {
    fn features(&self, task: &Task) -> Result<Features, Error> {
        let columns = match self.thresholds {
            0 => Features::of(task.schema()),
            count => task
                .own_for("thresholds", "write thresholds = 0")?
                .at_quantiles(count)?,
        };
        task.along(columns, self.components)
    }

    fn statistic(&self) -> Statistic {
        match self.learner {
            OnceLearner::Centroid => Statistic::ClassMeans,
            _ => Statistic::SignedMean,
        }
    }

    fn ask(&self, task: &Task, number: usize, radius: f64, encoding: Encoding) -> Next {
        let draft = task.draft((number, self.rounds()), VectorMessage::Vector, radius, encoding);
        Next::Ask(Box::new(draft))
    }

    fn solve(&self, task: &Task, encoding: &Encoding, answers: &[Answer]) -> Result<Ensemble, Error> {
        let features = encoding.features();
        let d = features.dimension();
        let Some(answer) = answers.first() else {
            return Err(Error::internal("the first answer is there"));
        };
        let means = means_of(answer, encoding.width())?;
        if self.learner == OnceLearner::Centroid {
            let scores = nearest(means, d, task.classes());
            return task.linear(features, &contrasted(scores, task.classes()));
        }
        let each = means.chunks_exact(d);
        if self.learner == OnceLearner::Direct {
            return task.linear(features, &each.map(<[f64]>::to_vec).collect::<Vec<_>>());
        }
        let gram = match (self.gram, answers.get(1)) {
            (GramSource::Owners, Some(answer)) => Gram::of_upper(d, means_of(answer, d * (d + 1) / 2)?)?,
            _ => {
                let own = task.own_for("gram", "write gram = \"owners\"")?;
                Gram::of_upper(d, &own.vector(features, &Statistic::SecondMoments))?
            }
        };
        // Along a path every contrast is solved alike; the own labels choose where to stop.
        let paths: Vec<Vec<Vec<f64>>> = match (self.learner, self.gram) {
            (OnceLearner::L2Boost, _) => each.map(|c| gram.boosted(c, self.steps)).collect(),
            // Noise of a symmetric matrix moves its eigenvalues by about 2σ√d: less than that is not told from zero.
            (_, GramSource::Owners) => {
                let noise = answers
                    .get(1)
                    .and_then(|answer| answer.deviations.first())
                    .copied();
                let ridge = (2.0 * noise.unwrap_or(0.0) * (d as f64).sqrt()).max(0.003);
                each.map(|c| vec![gram.ridge(c, ridge)]).collect()
            }
            (_, GramSource::Own) => each.map(|c| gram.ridges(c)).collect(),
        };
        let steps = paths.iter().map(Vec::len).min().unwrap_or(0);
        let all = (0..steps).map(|step| {
            let weights: Vec<Vec<f64>> = paths.iter().map(|path| path[step].clone()).collect();
            task.linear(features, &weights)
        });
        task.best(all.collect::<Result<_, _>>()?)
    }

    fn bayes(&self, task: &Task, answers: &[Answer]) -> Result<Next, Error> {
        let schema = match task.own() {
            Some(own) => own.binned(self.bins)?,
            None => task.schema().coarse(self.bins as u16),
        };
        let encoding = Encoding::new(schema.clone(), Features::of(&schema), Statistic::Cell)?;
        match answers {
            [] => Ok(self.ask(task, 1, 1.0, encoding)),
            [answer, ..] => bayes(&encoding, answer),
        }
    }
}

/// Scores of the nearest centroid: μ·φ − |μ|²/2 for each class, from what Algorithm 5 needs of all owners. The last coordinate of φ is one.
pub(super) fn nearest(means: &[f64], d: usize, classes: usize) -> Vec<Vec<f64>> {
    let (blocks, masses) = means.split_at(classes * d);
    let all = &blocks[..d];
    let mut rest = all.to_vec();
    let mut mass = 1.0;
    let mut centroids = vec![Vec::new()];
    for (block, b) in blocks[d..].chunks_exact(d).zip(masses) {
        let own: Vec<f64> = all.iter().zip(block).map(|(s, d)| (s + d) / 2.0).collect();
        rest.iter_mut().zip(&own).for_each(|(rest, own)| *rest -= own);
        mass -= f64::midpoint(1.0, *b);
        centroids.push(centroid(own, f64::midpoint(1.0, *b)));
    }
    centroids[0] = centroid(rest, mass);
    centroids
}

fn centroid(sums: Vec<f64>, mass: f64) -> Vec<f64> {
    // Noise can make a class as good as empty.
    let mass = mass.clamp(0.05, 0.95);
    let mut centroid: Vec<f64> = sums.iter().map(|sum| sum / mass).collect();
    let last = centroid.len() - 1;
    centroid[last] = -centroid[..last].iter().map(|x| x * x).sum::<f64>() / 2.0;
    centroid
}

/// One score for two classes: their difference.
pub(super) fn contrasted(scores: Vec<Vec<f64>>, classes: usize) -> Vec<Vec<f64>> {
    match &scores[..] {
        [first, second] if classes == 2 => {
            vec![second.iter().zip(first).map(|(b, a)| b - a).collect()]
        }
        _ => scores,
    }
}
