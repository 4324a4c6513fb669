//! A job of `setting = "vertical"` that names a model: the parties have new rows, which it predicts.

use std::path::{Path, PathBuf};

use privet::data::Section;
use privet::setting::vertical::{Budget, Vertical};

use super::super::{JobContext, Setting};
use super::{Read, VerticalJob};

/// Parties with columns of new people, and a model that the label holder has.
#[derive(Debug, Clone)]
pub struct PredictionJob {
    /// The parties and how columns are changed.
    pub parties: VerticalJob,
    /// The model's file.
    pub model: PathBuf,
    /// Whether the feature holder only answers the model's questions, and sends no columns.
    pub branches: bool,
}

impl PredictionJob {
    /// Every file that it reads.
    pub(in crate::job) fn files(&self) -> Vec<&Path> {
        let mut files = self.parties.files();
        files.push(&self.model);
        files
    }
}

/// Whether a job is for predicting: it names a model, or how to predict.
pub(in crate::job) fn is_prediction(root: &Section<'_>) -> bool {
    root.has("model") || root.has("predict")
}

/// The job, or nothing if something was found to be wrong with it; and the files that were looked at.
pub(super) fn read(root: &Section<'_>, around: &JobContext<'_>) -> (Option<Setting>, Vec<PathBuf>) {
    let model = around.path(root, "model", "\"model.privet\"");
    let ways = [("columns", false), ("branches", true)];
    root.allow(&["predict"]);
    let branches = match root.has("predict") {
        true => root.choice("predict", &ways).map(|found| found.value),
        false => Some(false),
    };
    let mut fine = true;
    let mut say = |section: &Section<'_>, key: &str, why: &str| {
        section.finding_at(key, why);
        fine = false;
    };
    if let Some(algorithm) = root.section("algorithm") {
        let why = "[algorithm] is for training, and a job that names a model is for predicting: remove [algorithm] to predict, or model and \
                   predict to train";
        say(root, "algorithm", why);
        algorithm.allow(&algorithm.keys().collect::<Vec<_>>());
    }
    if root.has("protocol") {
        let why = "protocol is for training, and this job predicts: remove it; predict says which messages are sent";
        root.allow(&["protocol"]);
        say(root, "protocol", why);
    }
    let privacy = root.required_section("privacy", "epsilon = 1.0");
    if let Some(privacy) = privacy.as_ref().filter(|privacy| privacy.has("label_epsilon")) {
        let why = "label_epsilon changes labels that a model is trained on, and this job predicts: remove it";
        say(privacy, "label_epsilon", why);
    }
    let read = Read::new(root, around, privacy, Vertical::builder());
    if let (Some(privacy), Some((changes, _))) = (&read.privacy, &read.protected)
        && matches!(changes.budget(), Budget::Sample(_))
    {
        let why = "budget = \"sample\" would draw other columns than the model was trained on: declare the model's columns only, and write \
                   budget = \"split\"";
        say(privacy, "budget", why);
    }
    if branches == Some(true) && read.others.len() > 1 {
        let why = "predict = \"branches\" is possible with one feature holder: write predict = \"columns\"";
        say(root, "predict", why);
    }
    let files = read.files();
    let parties = read.job(root, None, branches == Some(true)).filter(|_| fine);
    let job = || {
        Some(PredictionJob {
            parties: parties?,
            model: model?,
            branches: branches?,
        })
    };
    (job().map(|job| Setting::Prediction(Box::new(job))), files)
}
