//! Models for other programs: XGBoost's two formats, and ONNX.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `forest` | the members as trees that ask `x < threshold` of raw numbers and of codes |
//! | `features` | the side file: how raw cells become the numbers that the other program is given |
//! | `value`, `ubj` | XGBoost's documents, as JSON and as Universal Binary JSON |
//! | `xgboost` | the trees as XGBoost writes them |
//! | `onnx`, `protobuf` | the trees as a graph of ONNX operators, and its encoding |
//!
//! Bins and transforms are folded into the thresholds; the base and the weights are folded into the leaves. Where peers
//! keep hessians, counts and gains there are zeros: a model has none. Sums of weighted columns are refused. Nothing is
//! looked at but the model, and the same model gives the same bytes.

mod features;
mod forest;
mod onnx;
mod protobuf;
mod ubj;
mod value;
mod xgboost;

use super::Model;
use crate::Error;
use forest::Forest;

/// What a model can be exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// XGBoost's JSON.
    XgboostJson,
    /// XGBoost's Universal Binary JSON.
    XgboostUbj,
    /// ONNX, with `TreeEnsembleRegressor` of ai.onnx.ml 3.
    Onnx,
}

impl Format {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::XgboostJson => "xgboost-json",
            Self::XgboostUbj => "xgboost-ubj",
            Self::Onnx => "onnx",
        }
    }
}

/// A model for another program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The model's file.
    pub model: Vec<u8>,
    /// The file beside it, in JSON: how raw cells become numbers, and what the scores mean.
    pub features: String,
    /// How many trees there are.
    pub trees: usize,
}

impl Model {
    /// The model for another program.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it has a member that is no tree, or a number that single precision cannot hold.
    pub fn export(&self, format: Format) -> Result<Exported, Error> {
        let forest = Forest::of(self)?;
        let model = match format {
            Format::XgboostJson => xgboost::document(self, &forest)?.to_json().into_bytes(),
            Format::XgboostUbj => ubj::encode(&xgboost::document(self, &forest)?),
            Format::Onnx => onnx::encode(self, &forest),
        };
        Ok(Exported {
            model,
            features: features::describe(self, format),
            trees: forest.trees.len(),
        })
    }
}
