//! A checkpoint is a safetensors file. It holds the parameters of the model with the prefix `model.`, each
//! slot of the optimizer with the prefix `optimizer.<slot>.`, and in its metadata, under the key `training`, a
//! [`Header`] in JSON.

mod compare;
mod parameter_info;

use super::{OptimizerState, ResumeError};
use crate::{
    dims::name,
    nn::Module,
    weights::{self, ExpectedTensor, FileTensor, LoadError, SafetensorsDtype, SaveError, TensorFile},
};
use compare::{compare_dimensions, compare_settings};
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName},
    shapes::Shape,
    tensor::{Cpu, Tensor},
    tensor_ops::Device,
};
use parameter_info::parameter_infos;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, path::Path};

/// The version of the format.
const FORMAT: u32 = 1;
/// The key of the header in the metadata.
const HEADER: &str = "training";

/// How far a training has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Progress {
    /// The number of steps made.
    pub step: usize,
    pub best_loss: f64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    step: usize,
    /// A string, because JSON has no infinity.
    best_loss: String,
    optimizer_steps: u64,
    settings: Vec<(String, String)>,
    /// The path of each parameter, and the name and size of each of its dimensions.
    dimensions: Vec<(String, Vec<String>)>,
}

pub(super) fn save<Model, E, D>(
    path: &Path,
    model: &Model,
    state: &OptimizerState<Model, E>,
    progress: Progress,
    settings: Vec<(String, String)>,
) -> Result<(), SaveError>
where
    Model: Module + TensorCollection<E, D>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let parameters = parameter_infos::<Model, E, D>();
    let mut tensors = weights::collect(model, "model", path)?;
    for slot in &state.slots {
        for (index, parameter) in parameters.iter().filter(|p| p.is_trained).enumerate() {
            let path = format!("optimizer.{}.{}", slot.name, parameter.path);
            let sizes = parameter.sizes.clone();
            tensors.push(match slot.values.get(index) {
                Some(values) => FileTensor::new(path, sizes, values),
                // No step was made yet.
                None => {
                    let count = sizes.iter().product();
                    FileTensor::new(path, sizes, &vec![E::zero(); count])
                }
            });
        }
    }
    for tensor in &tensors {
        let elements = weights::decode_elements::<E>(&tensor.bytes);
        if let Some((index, value)) = weights::first_non_finite(&elements) {
            return Err(SaveError::NotFinite { path: path.to_path_buf(), tensor: tensor.path.clone(), index, value });
        }
    }
    let header = Header {
        format: FORMAT,
        step: progress.step,
        best_loss: progress.best_loss.to_string(),
        optimizer_steps: state.steps,
        settings: with_model::<Model, E, D>(settings),
        dimensions: parameters.into_iter().map(|p| (p.path, p.dims)).collect(),
    };
    let header = serde_json::to_string(&header)
        .map_err(|error| SaveError::Format { path: path.to_path_buf(), message: error.to_string() })?;
    weights::write(path, &tensors, Some(HashMap::from([(HEADER.into(), header)])))
}

/// Loads the model and the progress. Changes `state` only if everything fits.
pub(super) fn load<Model, E, D>(
    path: &Path,
    device: &D,
    state: &mut OptimizerState<Model, E>,
    settings: Vec<(String, String)>,
) -> Result<(Model, Progress), ResumeError>
where
    Model: Module + TensorCollection<E, D, To<E, D> = Model>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let load_error = |source| ResumeError::Load { path: path.to_path_buf(), source };
    let mut file = TensorFile::open(path).map_err(load_error)?;
    let (header, best_loss) = read_header(&file)?;
    compare_dimensions(path, &parameter_infos::<Model, E, D>(), &header.dimensions)?;
    compare_settings(path, &with_model::<Model, E, D>(settings), &header.settings)?;

    let model = weights::build(&mut file, "model", device).map_err(load_error)?;
    let mut slots = Vec::new();
    for slot in &state.slots {
        let mut read = ReadSlot { file: &mut file, values: Vec::new() };
        Model::iter_tensors(&mut RecursiveWalker { m: format!("optimizer.{}", slot.name), f: &mut read })
            .map_err(load_error)?;
        slots.push(read.values);
    }
    file.ensure_all_read(|_| false).map_err(load_error)?;

    state.steps = header.optimizer_steps;
    for (slot, values) in state.slots.iter_mut().zip(slots) {
        slot.values = values;
    }
    Ok((model, Progress { step: header.step, best_loss }))
}

/// Puts the model's type and conventions before the settings. The type is written for `f32` on the CPU, so
/// that it is the same for every dtype and device.
fn with_model<Model, E, D>(mut settings: Vec<(String, String)>) -> Vec<(String, String)>
where
    Model: Module + TensorCollection<E, D>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    settings.splice(0..0, weights::conventions::<Model>());
    settings.insert(0, ("the model".into(), name::<Model::To<f32, Cpu>>()));
    settings
}

/// Reads the header, and the best loss in it.
fn read_header(file: &TensorFile) -> Result<(Header, f64), ResumeError> {
    let invalid = |message: String| ResumeError::NotACheckpoint { path: file.path().to_path_buf(), message };
    let header = file.metadata().get(HEADER);
    let header = header.ok_or_else(|| invalid(format!("its metadata lack the key `{HEADER}`")))?;
    let header: Header = serde_json::from_str(header).map_err(|e| invalid(e.to_string()))?;
    if header.format != FORMAT {
        let found = header.format;
        return Err(invalid(format!("its format version is {found}, but only {FORMAT} is supported")));
    }
    match header.best_loss.parse() {
        Ok(best_loss) if !f64::is_nan(best_loss) => Ok((header, best_loss)),
        _ => Err(invalid(format!("its best loss is {}", header.best_loss))),
    }
}

/// Reads one slot of the optimizer state, parameter by parameter.
struct ReadSlot<'a, E> {
    file: &'a mut TensorFile,
    values: Vec<Vec<E>>,
}

impl<E: SafetensorsDtype, D: Device<E>> TensorVisitor<E, D> for ReadSlot<'_, E> {
    type Viewer = ViewTensorName;
    type Err = LoadError;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: String,
    ) -> Result<Option<Tensor<S, E, D>>, LoadError> {
        if options.do_gradient_update {
            let values = self.file.read(&ExpectedTensor::new(&tensor, &options.shape))?;
            self.values.push(values);
        }
        Ok(None)
    }
}
