//! The metadata of a checkpoint: how far the training is, and which parameters and settings it has. A training that
//! resumes from it compares these with its own.

use super::super::ResumeError;
use crate::model_tensors::describe_tensors;
use crate::ranks::{Element, by_name};
use crate::weights::{LoadError, OPTIONAL_CONVENTIONS, dims_in};
use dfdx::{nn::TensorCollection, tensor_ops::Device};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The number of recent steps over which the losses are averaged, approximately.
const MEAN_STEPS: usize = 20;
/// Divergence is not checked if |first loss| is below this: 1.5 times almost 0 is no useful limit.
const MIN_ABS_FIRST_LOSS: f64 = 1e-3;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Progress {
    #[serde(rename = "step")]
    pub steps_made: usize,
    /// The loss of the first step; infinite before it; 0 if the loss may rise, which sets no limit.
    #[serde(with = "loss_text")]
    pub first_loss: f64,
    /// The loss of the last step; infinite before it.
    #[serde(with = "loss_text")]
    pub last_loss: f64,
    /// The mean loss of the last steps, weighted exponentially; infinite before the first step.
    #[serde(with = "loss_text")]
    pub mean_loss: f64,
    /// The lowest loss that the caller recorded.
    #[serde(with = "loss_text")]
    pub best_loss: f64,
    /// The number of steps that had been made when the caller recorded this lowest loss.
    #[serde(default)]
    pub best_after: usize,
    /// The last loss that the caller recorded; infinite before the first one.
    #[serde(with = "loss_text", default = "infinity")]
    pub recorded_loss: f64,
}

fn infinity() -> f64 {
    f64::INFINITY
}

impl Progress {
    /// Before the first step.
    pub const START: Self = Self {
        steps_made: 0,
        first_loss: f64::INFINITY,
        last_loss: f64::INFINITY,
        mean_loss: f64::INFINITY,
        best_loss: f64::INFINITY,
        best_after: 0,
        recorded_loss: f64::INFINITY,
    };

    /// Records a loss and returns whether it is the lowest so far.
    pub fn record(&mut self, loss: f64) -> bool {
        // A checkpoint has no NaN.
        self.recorded_loss = if loss.is_nan() { f64::INFINITY } else { loss };
        let is_best = loss < self.best_loss;
        if is_best {
            (self.best_loss, self.best_after) = (loss, self.steps_made);
        }
        is_best
    }

    /// Counts a step with this loss.
    pub fn count_step(&mut self, loss: f64, may_rise: bool) {
        if self.steps_made == 0 {
            (self.first_loss, self.mean_loss) = (loss, loss);
        }
        if may_rise {
            self.first_loss = 0.0;
        }
        self.steps_made = self.steps_made.saturating_add(1);
        self.last_loss = loss;
        self.mean_loss += (loss - self.mean_loss) / self.steps_made.min(MEAN_STEPS) as f64;
    }

    /// Whether the losses are finite, as those of a training run are after its first step.
    pub fn has_finite_losses(&self) -> bool {
        let losses = [self.first_loss, self.last_loss, self.mean_loss];
        self.steps_made == 0 || losses.iter().all(|loss| loss.is_finite())
    }

    /// Whether the last losses are far above the first: the model predicts worse than before its training. The mean of
    /// fewer losses varies more, so its limit is higher.
    pub fn is_diverged(&self) -> bool {
        let num_losses = self.steps_made.clamp(1, MEAN_STEPS) as f64;
        let spread = (MEAN_STEPS as f64 / num_losses).sqrt();
        self.mean_loss - self.first_loss > (self.loss_limit() - self.first_loss) * spread
    }

    /// The loss above which a model is worse than before its training.
    fn loss_limit(&self) -> f64 {
        match self.first_loss.abs() < MIN_ABS_FIRST_LOSS {
            true => f64::INFINITY,
            false => self.first_loss + self.first_loss.abs() / 2.0,
        }
    }

    /// The larger of the mean loss and the last loss, so that one lucky step is not the best.
    fn cautious_loss(&self) -> f64 {
        self.mean_loss.max(self.last_loss)
    }

    /// Whether a checkpoint of this progress is better than the best so far: by the last recorded loss, or by the
    /// [cautious loss](Self::cautious_loss) if the caller recorded none.
    pub fn is_better_than(&self, best: Option<&Self>) -> bool {
        let is_above_limit = self.cautious_loss() > self.loss_limit();
        let is_recorded = |progress: &Self| progress.best_loss.is_finite();
        !is_above_limit
            && match (is_recorded(self), best) {
                (true, None) => self.recorded_loss.is_finite(),
                (true, Some(best)) => self.recorded_loss < best.recorded_loss,
                (false, None) => true,
                (false, Some(best)) => !is_recorded(best) && self.cautious_loss() < best.cautious_loss(),
            }
    }
}

/// A loss as a string, because JSON has no infinity.
mod loss_text {
    use super::{Deserialize, Deserializer, Error, Serializer};

    pub fn serialize<S: Serializer>(loss: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(loss)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.parse() {
            Ok(loss) if !f64::is_nan(loss) => Ok(loss),
            _ => Err(D::Error::custom(format!("a loss is {text}"))),
        }
    }
}

/// A parameter as the type of a model describes it.
pub(crate) struct ParameterInfo {
    /// Its field path.
    pub path: String,
    /// The size of each dimension.
    pub sizes: Vec<usize>,
    /// The name and size of each dimension, such as `EmbedDim=8`.
    pub dims: Vec<String>,
    /// Whether optimizers update it: false only for the buffers of dfdx's own modules. Every parameter of a `#[module]`
    /// is trained.
    pub is_trained: bool,
}

/// Describes all parameters of a model, in the order of its fields.
pub(crate) fn parameter_infos<Model: TensorCollection<E, D>, E: Element, D: Device<E>>() -> Vec<ParameterInfo> {
    let mut infos = Vec::new();
    describe_tensors::<Model, E, D>(|path, is_trained, sizes, shape| {
        // Not by `written_dims`: a checkpoint has a product of dimensions under its name, without its factors.
        let shape = format!("{shape:#?}");
        let dims = dims_in(&shape).zip(&sizes).map(|(name, size)| {
            let size = format!("={size}");
            format!("{}{size}", name.strip_suffix(&size).unwrap_or(name))
        });
        let dims = dims.collect();
        infos.push(ParameterInfo { path, sizes, dims, is_trained });
    });
    infos
}

/// Stands for a dimension or setting that only one side has.
const ABSENT: &str = "absent";

/// The setting with the type of the model.
pub(super) const MODEL: &str = "the model";

/// Compares the structs of the models, without their type parameters. It runs before [`compare_dimensions`], which
/// would report a parameter of the other model as missing.
pub(super) fn ensure_same_struct(
    path: &Path,
    expected: &[(String, String)],
    found: &[(String, String)],
) -> Result<(), ResumeError> {
    let model = |settings: &[(String, String)]| {
        settings.iter().find(|(setting, _)| setting == MODEL).map(|(_, model)| model.clone())
    };
    let is_same = |a: &str, b: &str| a.split('<').next() == b.split('<').next();
    match (model(expected), model(found)) {
        (Some(expected), Some(found)) if !is_same(&expected, &found) => {
            Err(ResumeError::Setting { path: path.to_path_buf(), setting: MODEL.into(), expected, found })
        }
        _ => Ok(()),
    }
}

pub(super) fn compare_dimensions(
    path: &Path,
    expected: &[ParameterInfo],
    found: &[(String, Vec<String>)],
) -> Result<(), ResumeError> {
    let load_error = |source| ResumeError::Load { path: path.to_path_buf(), source };
    let found_dims: BTreeMap<_, _> = found.iter().map(|(path, dims)| (path, dims)).collect();
    for parameter in expected {
        let tensor = format!("model.{}", parameter.path);
        let Some(found) = found_dims.get(&parameter.path) else {
            let expected = format!("({})", parameter.dims.join(", "));
            return Err(load_error(LoadError::Missing { tensor, expected }));
        };
        for position in 0..parameter.dims.len().max(found.len()) {
            let dim = |dims: &[String]| dims.get(position).map_or(ABSENT.into(), String::clone);
            if parameter.dims.get(position) != found.get(position) {
                let (expected, found) = (dim(&parameter.dims), dim(found));
                return Err(ResumeError::Dimension { path: path.to_path_buf(), tensor, position, expected, found });
            }
        }
    }
    let expected: BTreeSet<_> = expected.iter().map(|parameter| &parameter.path).collect();
    match found.iter().find(|(path, _)| !expected.contains(path)) {
        None => Ok(()),
        Some((path, _)) => Err(load_error(LoadError::Unexpected { tensor: format!("model.{path}") })),
    }
}

/// Compares the settings except `ignored`.
pub(super) fn compare_settings(
    path: &Path,
    expected: &[(String, String)],
    found: &[(String, String)],
    ignored: Option<&str>,
) -> Result<(), ResumeError> {
    let (expected_values, found_values) = (by_name(expected.to_vec()), by_name(found.to_vec()));
    for (setting, _) in expected.iter().chain(found) {
        let (expected, found) = (expected_values.get(setting), found_values.get(setting));
        let is_optional = found.is_none() && OPTIONAL_CONVENTIONS.contains(&setting.as_str());
        if expected != found && !is_optional && ignored != Some(setting) {
            let text = |value: Option<&String>| value.map_or(ABSENT, String::as_str).to_string();
            let (expected, found) = (text(expected), text(found));
            return Err(ResumeError::Setting { path: path.to_path_buf(), setting: setting.clone(), expected, found });
        }
    }
    Ok(())
}
