//! A checkpoint is a safetensors file. It holds the parameters of the model with the prefix `model.`, each
//! slot of the optimizer with the prefix `optimizer.<slot>.`, and in its metadata, under the key `training`, a
//! [`TrainingMetadata`] in JSON, beside the model's conventions as a file of weights has them.

mod files;
mod metadata;
mod names;

use super::{OptimizerState, ResumeError, Slot};
use crate::backend::{elements_of, num_threads};
use crate::dims::name;
use crate::nn::Module;
use crate::ranks::Element;
use crate::weights::atomic::StagedFile;
use crate::weights::{self, Dims, ExpectedTensor, FileTensor, LoadError, Loadable, SaveError, TRAINING, TensorFile};
use dfdx::tensor::{Cpu, Tensor};
use dfdx::{nn::TensorCollection, shapes::HasShape, tensor_ops::Device};
pub(super) use files::{CheckpointFiles, LastCheckpoint, description_of, fallbacks};
pub(super) use metadata::Progress;
use metadata::{MODEL, compare_dimensions, compare_settings, ensure_same_struct};
pub(crate) use metadata::{ParameterInfo, parameter_infos};
pub use names::{checkpoint_of, ensure_not_of_checkpoint};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version of the format.
const FORMAT: u32 = 2;
/// The end of the name of a slot that holds squares.
const SQUARES: &str = "_sq";

#[derive(Serialize, Deserialize)]
pub(super) struct TrainingMetadata {
    format: u32,
    #[serde(flatten)]
    pub progress: Progress,
    optimizer_steps: u64,
    /// The number of threads that the training ran with.
    pub threads: usize,
    /// The number of ranks that trained together.
    #[serde(default = "one")]
    pub ranks: usize,
    /// The progress of the older checkpoint, which stayed at the path, if this one is the copy, elsewhere, of one that
    /// the disk refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stayed: Option<Progress>,
    settings: Vec<(String, String)>,
    /// The path of each parameter, and the name and size of each of its dimensions.
    dimensions: Vec<(String, Vec<String>)>,
}

fn one() -> usize {
    1
}

/// A training run as a checkpoint compares and stores it.
pub(super) struct RunRecord<'a> {
    pub progress: Progress,
    /// The number of its steps.
    pub steps: usize,
    pub settings: Vec<(String, String)>,
    /// The setting that may differ, if any.
    pub ignored_setting: Option<&'a str>,
    /// The number of ranks that train together.
    pub ranks: usize,
    /// As in [`TrainingMetadata`].
    pub stayed: Option<Progress>,
}

/// The size of a checkpoint, about: that of its header is an estimate.
pub(super) fn len_bytes<Model: TensorCollection<E, D>, E: Element, D: Device<E>>(
    state: &OptimizerState<Model, E, [Slot<E, D>]>,
) -> u64 {
    /// About the bytes of the header for a tensor, without those of its name.
    const OF_TENSOR: usize = 170;
    /// About the bytes of the header that belong to no tensor.
    const REST_OF_HEADER: usize = 512;
    let parameters = parameter_infos::<Model, E, D>();
    let elements = |is_counted: fn(&&ParameterInfo) -> bool| -> usize {
        parameters.iter().filter(is_counted).map(|p| p.sizes.iter().product::<usize>()).sum()
    };
    let num_slots = state.slots.len();
    // The name of a tensor stands in the header twice, before its place and before its checksum.
    let of_tensors: usize = parameters.iter().map(|p| (1 + num_slots) * (2 * p.path.len() + OF_TENSOR)).sum();
    let header = REST_OF_HEADER + of_tensors;
    (header + (elements(|_| true) + num_slots * elements(|p| p.is_trained)) * size_of::<E>()) as u64
}

/// Writes a checkpoint under a name of its own, from which the caller renames it.
pub(super) fn stage<Model: Module + TensorCollection<E, D>, E: Element, D: Device<E>>(
    path: &Path,
    model: &Model,
    state: &OptimizerState<Model, E, [Slot<E, D>]>,
    RunRecord { progress, settings, ranks, stayed, .. }: RunRecord,
) -> Result<StagedFile, SaveError> {
    let parameters = parameter_infos::<Model, E, D>();
    weights::ensure_whole(model, path)?;
    let mut tensors = weights::collect(model, "model");
    let in_parts = |found: usize, expected: usize, tensor: &str| {
        let message = format!(
            "`{tensor}` has {found} of its {expected} elements: the state is sharded over the ranks, and only \
             `update_replicated` gathers it"
        );
        SaveError::Format { path: path.to_path_buf(), message }
    };
    for slot in &state.slots {
        for (index, parameter) in parameters.iter().filter(|p| p.is_trained).enumerate() {
            let tensor = format!("optimizer.{}.{}", slot.name, parameter.path);
            let (sizes, count) = (parameter.sizes.clone(), parameter.sizes.iter().product());
            tensors.push(match slot.values.get(index) {
                Some(values) if values.shape().0 != count => return Err(in_parts(values.shape().0, count, &tensor)),
                // The parts of other ranks are not here.
                None if state.steps > 0 => return Err(in_parts(0, count, &tensor)),
                Some(values) => FileTensor::new(tensor, sizes, &elements_of(values)),
                // No step was made yet.
                None => FileTensor::new(tensor, sizes, &vec![E::zero(); count]),
            });
        }
    }
    weights::ensure_all_finite::<E>(&tensors, path)?;
    let training = TrainingMetadata {
        format: FORMAT,
        progress,
        optimizer_steps: state.steps,
        threads: num_threads(),
        ranks,
        stayed,
        settings: with_model::<Model, E, D>(settings),
        dimensions: parameters.into_iter().map(|p| (p.path, p.dims)).collect(),
    };
    let training = serde_json::to_string(&training)
        .map_err(|error| SaveError::Format { path: path.to_path_buf(), message: error.to_string() })?;
    // Resuming compares the settings, which contain the conventions. Loading the model alone compares the entry of
    // conventions.
    let metadata = weights::conventions_entry::<Model>().into_iter().chain([(TRAINING.into(), training)]);
    weights::write(path, &tensors, metadata.collect())
}

/// Loads the model and the metadata. Changes `state` only if everything fits.
pub(super) fn load<Model: Module + TensorCollection<E, D> + Loadable<E, D>, E: Element, D: Device<E>>(
    path: &Path,
    device: &D,
    state: &mut OptimizerState<Model, E, [Slot<E, D>]>,
    run: &RunRecord,
) -> Result<(Model, TrainingMetadata), ResumeError> {
    let load_error = |source| ResumeError::Load { path: path.to_path_buf(), source };
    let mut file = TensorFile::open(path).map_err(load_error)?;
    let training = read_training(&file)?;
    let parameters = parameter_infos::<Model, E, D>();
    let settings = with_model::<Model, E, D>(run.settings.clone());
    ensure_same_struct(path, &settings, &training.settings)?;
    compare_dimensions(path, &parameters, &training.dimensions)?;
    compare_settings(path, &settings, &training.settings, run.ignored_setting)?;
    ensure_consistent(path, &training, run, state.steps)?;

    let model = weights::load_from("model", device, &mut |expected| file.read(expected)).map_err(load_error)?;
    let slots = state.slots.iter().map(|slot| read_slot(&mut file, slot.name, &parameters, device));
    let slots: Vec<Vec<Tensor<(usize,), E, D>>> = slots.collect::<Result<_, _>>()?;
    file.ensure_all_read(|_| false).map_err(load_error)?;

    state.steps = training.optimizer_steps;
    for (slot, values) in state.slots.iter_mut().zip(slots) {
        slot.values = values;
    }
    Ok((model, training))
}

/// Checks the numbers of steps and the losses of a checkpoint. `optimizer_steps` are the steps that the optimizer in
/// memory has made, including steps made in an earlier run.
fn ensure_consistent(
    path: &Path,
    training: &TrainingMetadata,
    run: &RunRecord,
    optimizer_steps: u64,
) -> Result<(), ResumeError> {
    let (steps_made, steps) = (training.progress.steps_made, run.steps);
    if steps_made > steps {
        return Err(ResumeError::BeyondEnd { path: path.to_path_buf(), steps_made, steps });
    }
    let invalid = |message| ResumeError::NotACheckpoint { path: path.to_path_buf(), message };
    if !training.progress.has_finite_losses() {
        return Err(invalid(format!("a loss of its {steps_made} steps is infinite")));
    }
    // The steps that the optimizer made before this training run. The optimizer of the file must have made as many
    // before its run.
    let steps_before = optimizer_steps.wrapping_sub(run.progress.steps_made as u64);
    if training.optimizer_steps != steps_before.wrapping_add(steps_made as u64) {
        let optimizer_steps = training.optimizer_steps;
        return Err(invalid(format!("it has made {steps_made} steps, but its optimizer {optimizer_steps}")));
    }
    Ok(())
}

/// The values of an optimizer's slot, one tensor for each trained parameter.
fn read_slot<E: Element, D: Device<E>>(
    file: &mut TensorFile,
    slot: &str,
    parameters: &[ParameterInfo],
    device: &D,
) -> Result<Vec<Tensor<(usize,), E, D>>, ResumeError> {
    let path = file.path.clone();
    let load_error = |source| ResumeError::Load { path: path.clone(), source };
    let (mut values, mut has_negative) = (Vec::new(), false);
    for parameter in parameters.iter().filter(|parameter| parameter.is_trained) {
        let tensor = format!("optimizer.{slot}.{}", parameter.path);
        let (sizes, dims) = (parameter.sizes.clone(), &Dims(&parameter.dims));
        let elements: Vec<E> = file.read(&ExpectedTensor { path: &tensor, sizes, dims }).map_err(load_error)?;
        has_negative |= elements.iter().any(|&element| element < E::zero());
        let len = elements.len();
        let elements = device.try_tensor_from_vec(elements, (len,));
        let device_error = |error: D::Err| load_error(LoadError::Device { tensor, message: error.to_string() });
        values.push(elements.map_err(device_error)?);
    }
    if slot.ends_with(SQUARES) && has_negative {
        let message = format!("`optimizer.{slot}` holds squares, but one is negative");
        return Err(ResumeError::NotACheckpoint { path, message });
    }
    Ok(values)
}

/// Whether a file is a checkpoint of a training run with the same model and settings.
pub(super) fn is_same_run<Model: Module + TensorCollection<E, D>, E: Element, D: Device<E>>(
    path: &Path,
    run: &RunRecord,
) -> bool {
    let is_same = |file: TensorFile| -> Result<(), ResumeError> {
        let training = read_training(&file)?;
        compare_dimensions(path, &parameter_infos::<Model, E, D>(), &training.dimensions)?;
        let settings = with_model::<Model, E, D>(run.settings.clone());
        compare_settings(path, &settings, &training.settings, run.ignored_setting)
    };
    TensorFile::open_retried(path).is_ok_and(|file| is_same(file).is_ok())
}

/// The progress that a checkpoint stores; `None` if it is damaged.
fn read_progress(path: &Path) -> Option<Progress> {
    progress_in(&TensorFile::open_retried(path).ok()?)
}

fn progress_in(file: &TensorFile) -> Option<Progress> {
    Some(read_training(file).ok()?.progress)
}

/// Puts the model's type and conventions before the settings. The type is written for `f32` on the CPU, so
/// that it is the same for every dtype and device.
fn with_model<Model: Module + TensorCollection<E, D>, E: Element, D: Device<E>>(
    mut settings: Vec<(String, String)>,
) -> Vec<(String, String)> {
    // The factors of products are left out: `compare_dimensions` compares the names of dimensions, which decide them.
    let conventions = weights::conventions::<Model>().into_iter();
    let conventions = conventions.filter(|(name, _)| name != weights::FACTORS_OF_PRODUCTS);
    settings.splice(0..0, conventions);
    settings.insert(0, (MODEL.into(), name::<Model::To<f32, Cpu>>()));
    settings
}

fn read_training(file: &TensorFile) -> Result<TrainingMetadata, ResumeError> {
    let invalid = |message: String| ResumeError::NotACheckpoint { path: file.path.clone(), message };
    let training = file.metadata().get(TRAINING);
    let training = training.ok_or_else(|| invalid(format!("its metadata lack the key `{TRAINING}`")))?;
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let Version { format } = serde_json::from_str(training).map_err(|e| invalid(e.to_string()))?;
    if format != FORMAT {
        return Err(invalid(format!("its format version is {format}, but only {FORMAT} is supported")));
    }
    if !file.has_checksums() {
        return Err(invalid("it has no checksums".into()));
    }
    serde_json::from_str(training).map_err(|e| invalid(e.to_string()))
}
