//! A model that a run starts from. Owners join by a new run that keeps its trees and adds to them.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::plan::Plan;
use super::{local, schemas};
use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::model::Model;
use crate::noisy::trees::Before;
use crate::privacy::PartyCertificate;

/// A model that a run starts from.
#[derive(Debug)]
pub(super) struct Start {
    /// A recalibration is a part of the trees.
    ensemble: Ensemble,
    earlier: Vec<PartyCertificate>,
    /// Of its trees: all parties start from the same, whatever certificates their files have.
    digest: [u8; 32],
}

impl Start {
    fn of(model: &Model, plan: &Plan) -> Result<Self, Error> {
        let wrong = |why: String| Error::parameter("start", why);
        let found = schemas::schema_differences(plan.schema(), model.schema(), "the model to start from")?;
        if !found.is_empty() {
            return Err(wrong(format!(
                "the model was trained with another schema, and trees can be added on the same columns only:\n{}",
                found.join("\n")
            )));
        }
        if model.certificate().is_void_anywhere() {
            return Err(wrong(
                "nobody is protected from the model to start from, and its trees would be in the new model: start from a model that was paid for"
                    .into(),
            ));
        }
        if plan.judging().is_some() {
            return Err(wrong(
                "the model to start from may have learnt from people who would be held out now, and figures would be too good: remove [evaluation] \
                 or start"
                    .into(),
            ));
        }
        if model.ensemble().link == Link::Vote {
            return Err(wrong(
                "the model adds up votes, and trees add up log-odds: start from a model of trees".into(),
            ));
        }
        let ensemble = local::folded(model.ensemble().clone());
        let sent = local::grown(&ensemble, None)?;
        let hash = Sha256::new_with_prefix(b"privet horizontal start 1\0");
        Ok(Self {
            digest: hash.chain_update(sent.ensemble).finalize().into(),
            ensemble,
            earlier: model.certificate().as_earlier(),
        })
    }
}

impl Plan {
    /// The same run, started from a model: its trees are kept, and the run adds its own. This is how owners join: a new run, with the owners of
    /// the earlier one or without them.
    ///
    /// # Privacy
    /// The run costs what it costs without: `docs/proofs/horizontal.md#start`. The model's own trees were paid for when they were trained; what was
    /// said of that is in the new certificate, and whoever took part then has both in its ledger.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the model has another schema, votes instead of scores, or protects nobody; or if the run has an evaluation, whose
    /// held-out rows the model may know.
    pub fn starting_from(mut self, model: &Model) -> Result<Self, Error> {
        self.1 = Some(Arc::new(Start::of(model, &self)?));
        Ok(self)
    }

    /// The trees that the run starts from, if there are any.
    pub(super) fn before(&self) -> Option<Before> {
        self.1.as_ref().map(|start| Before {
            ensemble: start.ensemble.clone(),
            unit: None,
            scores: None,
        })
    }

    /// What was said of the model that the run starts from.
    pub(super) fn earlier(&self) -> &[PartyCertificate] {
        self.1.as_ref().map_or(&[], |start| &start.earlier)
    }

    /// How many trees the run starts from, and their digest.
    pub(super) fn start_settings(&self) -> Vec<(String, String)> {
        let Some(start) = &self.1 else {
            return Vec::new();
        };
        let digest: String = start.digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let trees = start.ensemble.members.len();
        vec![(
            "start".to_owned(),
            format!("{trees} trees with the digest {digest}"),
        )]
    }

    /// What the run starts from, in words.
    pub fn start_words(&self) -> Option<String> {
        let start = self.1.as_ref()?;
        Some(format!(
            "The run starts from a model of {} trees, keeps them and adds to them. What these trees show was paid for when they were trained: an owner \
             that took part then has paid for both runs, and its ledger adds them up.",
            start.ensemble.members.len()
        ))
    }
}
