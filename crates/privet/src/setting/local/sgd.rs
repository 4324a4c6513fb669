//! `ldp-sgd` and `auto`: logistic regression by gradients of owners, and the same as one more column of the own rows.

use super::answer::Answer;
use super::campaign::Message;
use super::course::{Algorithm, Next, Task, means_of, named};
use super::encoding::{Encoding, Features, Statistic, contrasts};
use super::params::{Auto, LdpSgd, VectorMessage};
use crate::Error;

/// The share of the median length of s·φ that gradients are shortened to: a gradient is half of that at the start, and then falls.
const CLIP: f64 = 0.5;

impl Algorithm for LdpSgd {
    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn needs_own_rows(&self) -> bool {
        self.components > 0 || self.radius.is_none()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        named(self)
    }

    fn message(&self, task: &Task) -> Result<Message, Error> {
        let dimension = task.dimension(0, self.components);
        task.vector(&Statistic::SignedMean, dimension, VectorMessage::Vector)
    }

    fn shown(&self) -> Vec<&'static str> {
        match self.components {
            0 => Vec::new(),
            _ => vec!["principal axes of the own rows"],
        }
    }

    fn next(&self, task: &Task, answers: &[Answer]) -> Result<Next, Error> {
        let features = task.along(Features::of(task.schema()), self.components)?;
        let outputs = contrasts(task.classes()).len();
        let width = outputs * features.dimension();
        // θ, and the sum of all θ: their mean is the classifier.
        let (mut at, mut sum) = (vec![0.0; width], vec![0.0; width]);
        for (round, answer) in answers.iter().enumerate() {
            let step = self.step / ((round + 1) as f64).sqrt();
            for ((at, sum), descent) in at.iter_mut().zip(&mut sum).zip(means_of(answer, width)?) {
                *at += step * descent;
                *sum += *at;
            }
        }
        if answers.len() >= self.rounds as usize {
            let scale = 1.0 / answers.len().max(1) as f64;
            let weights = sum
                .chunks_exact(features.dimension())
                .map(|part| part.iter().map(|x| x * scale).collect());
            let ensemble = task.linear(&features, &weights.collect::<Vec<_>>())?;
            return Ok(task.learnt(ensemble));
        }
        let radius = match self.radius {
            Some(radius) => radius,
            None => {
                let means = task.encoding(features.clone(), Statistic::SignedMean)?;
                CLIP * task.radius(None, &means, 0.5)?
            }
        };
        let encoding: Encoding = task.encoding(features, Statistic::Gradient { at })?;
        let number = (answers.len() + 1, self.rounds);
        Ok(Next::Ask(Box::new(task.draft(
            number,
            VectorMessage::Vector,
            radius,
            encoding,
        ))))
    }
}

impl Auto {
    fn gradients(&self) -> LdpSgd {
        LdpSgd::default()
    }
}

impl Algorithm for Auto {
    fn rounds(&self) -> u32 {
        self.gradients().rounds()
    }

    fn needs_own_rows(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<(String, String)> {
        named(self)
    }

    fn message(&self, task: &Task) -> Result<Message, Error> {
        self.gradients().message(task)
    }

    fn shown(&self) -> Vec<&'static str> {
        let mut shown = self.gradients().shown();
        shown.push("the model, which is a regression on the own rows");
        shown
    }

    fn next(&self, task: &Task, answers: &[Answer]) -> Result<Next, Error> {
        let own = task.own_for(
            "name",
            "choose another algorithm, such as \"collect-once\" with learner = \"bayes\"",
        )?;
        let mut learnt = match self.gradients().next(task, answers)? {
            Next::Ask(draft) => return Ok(Next::Ask(draft)),
            Next::Done(learnt) => learnt,
        };
        // Whatever owners say enters by one weight for each contrast: if it is noise, the weight is small.
        let regression = own.regression(Some(&learnt.ensemble))?;
        let ensemble = &mut learnt.ensemble;
        for member in &mut ensemble.members {
            member.weight *= regression.parts[member.output].1;
        }
        for (output, (weights, _)) in regression.parts.iter().enumerate() {
            let members = regression.features.members(task.schema(), weights, output)?;
            ensemble.members.extend(members);
        }
        Ok(Next::Done(learnt))
    }
}
