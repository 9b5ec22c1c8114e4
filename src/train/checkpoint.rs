//! A training in a file: the model below `model`, each slot of the optimizer below
//! `optimizer.<slot>`, and a header with the rest under `training` in the file's metadata.

use super::OptimizerState;
use crate::{
    dims::name,
    nn::Module,
    weights::{self, ExpectedTensor, FileTensor, LoadError, SafetensorsDtype, SaveError, TensorFile},
};
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName},
    shapes::Shape,
    tensor::{Cpu, Tensor},
    tensor_ops::Device,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    convert::Infallible,
    path::{Path, PathBuf},
};

/// Why a training could not be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The file cannot be read, is damaged, or has other tensors than the training.
    #[error("{}", in_file(path, source))]
    Load {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: LoadError,
    },
    /// The file is whole, but it is no checkpoint.
    #[error("{} is no checkpoint of a training: {message}", path.display())]
    NoCheckpoint {
        /// The file.
        path: PathBuf,
        /// What is missing.
        message: String,
    },
    /// A parameter has other dimensions.
    #[error(
        "{}: dimension {position} of `{tensor}` should be {expected} but is {found}",
        path.display()
    )]
    Dimension {
        /// The file.
        path: PathBuf,
        /// Path of the parameter.
        tensor: String,
        /// Position of the first dimension that differs, from 0.
        position: usize,
        /// Its name and size in the model.
        expected: String,
        /// Its name and size in the file.
        found: String,
    },
    /// Something else that decides how the training goes on differs: the type of the model, the
    /// optimizer, the schedule, clipping, the seed, a setting of the user's.
    #[error("{}: {setting} should be {expected} but is {found}", path.display())]
    Setting {
        /// The file.
        path: PathBuf,
        /// What differs.
        setting: String,
        /// What it is in the training.
        expected: String,
        /// What it is in the file.
        found: String,
    },
}

/// An error of a tensor does not name the file that the tensor is in.
fn in_file(path: &Path, error: &LoadError) -> String {
    match error {
        LoadError::Read { .. } | LoadError::Format { .. } => error.to_string(),
        _ => format!("{}: {error}", path.display()),
    }
}

/// Stands for what one of two sides lacks.
const NOTHING: &str = "nothing";

/// The form of a checkpoint.
const FORMAT: u32 = 1;
/// Where the header is in the metadata.
const HEADER: &str = "training";

/// How far a training has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Progress {
    /// Steps made.
    pub step: usize,
    pub best_loss: f64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    step: usize,
    /// In the shortest digits that are read back to the same number, infinity included.
    best_loss: String,
    optimizer_steps: u64,
    settings: Vec<(String, String)>,
    /// The name and size of each dimension of each parameter.
    dimensions: Vec<(String, Vec<String>)>,
}

pub(super) fn save<Model, E, D>(
    path: &Path,
    model: &Model,
    memory: &OptimizerState<Model, E>,
    progress: Progress,
    settings: Vec<(String, String)>,
) -> Result<(), SaveError>
where
    Model: Module + TensorCollection<E, D>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let layout = layout::<Model, E, D>();
    let mut tensors = weights::collect(model, "model", path)?;
    for slot in &memory.slots {
        for (number, parameter) in layout.iter().filter(|p| p.is_trained).enumerate() {
            let path = format!("optimizer.{}.{}", slot.name, parameter.path);
            let sizes = parameter.sizes.clone();
            tensors.push(match slot.numbers.get(number) {
                Some(numbers) => FileTensor::new(path, sizes, numbers),
                None => {
                    let count = sizes.iter().product();
                    FileTensor::new(path, sizes, &vec![E::zero(); count])
                }
            });
        }
    }
    for tensor in &tensors {
        if let Some((index, value)) = weights::first_non_finite(&weights::decode_elements::<E>(&tensor.bytes))
        {
            return Err(SaveError::NotFinite {
                path: path.to_path_buf(),
                tensor: tensor.path.clone(),
                index,
                value,
            });
        }
    }
    let dimensions = layout.into_iter().map(|p| (p.path, p.dims)).collect();
    let header = Header {
        format: FORMAT,
        step: progress.step,
        best_loss: progress.best_loss.to_string(),
        optimizer_steps: memory.steps,
        settings: with_model::<Model, E, D>(settings),
        dimensions,
    };
    let header = serde_json::to_string(&header)
        .map_err(|error| SaveError::Format { path: path.to_path_buf(), message: error.to_string() })?;
    weights::write(path, &tensors, Some(HashMap::from([(HEADER.into(), header)])))
}

/// The model and how far it has come. The memory is filled only if everything fits.
pub(super) fn load<Model, E, D>(
    path: &Path,
    device: &D,
    memory: &mut OptimizerState<Model, E>,
    settings: Vec<(String, String)>,
) -> Result<(Model, Progress), ResumeError>
where
    Model: Module + TensorCollection<E, D, To<E, D> = Model>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let load = |source| ResumeError::Load { path: path.to_path_buf(), source };
    let mut file = TensorFile::open(path).map_err(load)?;
    let (header, best_loss) = header(&file)?;
    compare_dimensions(path, &layout::<Model, E, D>(), &header.dimensions)?;
    compare_settings(path, &with_model::<Model, E, D>(settings), &header.settings)?;

    let model = weights::build(&mut file, "model", device).map_err(load)?;
    let mut slots = Vec::new();
    for slot in &memory.slots {
        let mut read = ReadSlot { file: &mut file, numbers: Vec::new() };
        Model::iter_tensors(&mut RecursiveWalker { m: format!("optimizer.{}", slot.name), f: &mut read })
            .map_err(load)?;
        slots.push(read.numbers);
    }
    file.ensure_all_read(|_| false).map_err(load)?;

    memory.steps = header.optimizer_steps;
    for (slot, numbers) in memory.slots.iter_mut().zip(slots) {
        slot.numbers = numbers;
    }
    let step = header.step;
    Ok((model, Progress { step, best_loss }))
}

/// The settings, the model's type and conventions first, which are the same on every device and for
/// every dtype.
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

fn header(file: &TensorFile) -> Result<(Header, f64), ResumeError> {
    let none = |message: String| ResumeError::NoCheckpoint { path: file.path().to_path_buf(), message };
    let header = file.texts().get(HEADER);
    let header = header.ok_or_else(|| none(format!("its metadata have no `{HEADER}`")))?;
    let header: Header = serde_json::from_str(header).map_err(|e| none(e.to_string()))?;
    if header.format != FORMAT {
        let found = header.format;
        return Err(none(format!("its format is {found}, but {FORMAT} is read")));
    }
    match header.best_loss.parse() {
        Ok(best_loss) if !f64::is_nan(best_loss) => Ok((header, best_loss)),
        _ => Err(none(format!("its best loss is {}", header.best_loss))),
    }
}

fn compare_dimensions(
    path: &Path,
    expected: &[Described],
    found: &[(String, Vec<String>)],
) -> Result<(), ResumeError> {
    let load = |source| ResumeError::Load { path: path.to_path_buf(), source };
    for parameter in expected {
        let tensor = format!("model.{}", parameter.path);
        let Some((_, found)) = found.iter().find(|(path, _)| *path == parameter.path) else {
            let expected = format!("({})", parameter.dims.join(", "));
            return Err(load(LoadError::Missing { tensor, expected }));
        };
        for position in 0..parameter.dims.len().max(found.len()) {
            let at = |dims: &[String]| dims.get(position).map_or(NOTHING.into(), String::clone);
            let (expected, found) = (at(&parameter.dims), at(found));
            if expected != found {
                return Err(ResumeError::Dimension {
                    path: path.to_path_buf(),
                    tensor,
                    position,
                    expected,
                    found,
                });
            }
        }
    }
    let is_expected = |path: &str| expected.iter().any(|parameter| parameter.path == path);
    match found.iter().find(|(path, _)| !is_expected(path)) {
        None => Ok(()),
        Some((path, _)) => Err(load(LoadError::Unexpected { tensor: format!("model.{path}") })),
    }
}

fn compare_settings(
    path: &Path,
    expected: &[(String, String)],
    found: &[(String, String)],
) -> Result<(), ResumeError> {
    let value = |settings: &[(String, String)], name: &str| {
        let setting = settings.iter().find(|(other, _)| other == name);
        setting.map_or(NOTHING.to_string(), |(_, value)| value.clone())
    };
    for (setting, _) in expected.iter().chain(found) {
        let (expected, found) = (value(expected, setting), value(found, setting));
        if expected != found {
            return Err(ResumeError::Setting {
                path: path.to_path_buf(),
                setting: setting.clone(),
                expected,
                found,
            });
        }
    }
    Ok(())
}

/// What the type of a model says of one of its parameters.
struct Described {
    path: String,
    sizes: Vec<usize>,
    /// The name and size of each dimension.
    dims: Vec<String>,
    is_trained: bool,
}

fn layout<Model: TensorCollection<E, D>, E: SafetensorsDtype, D: Device<E>>() -> Vec<Described> {
    let mut layout = Layout(Vec::new());
    match Model::iter_tensors(&mut RecursiveWalker { m: String::new(), f: &mut layout }) {
        Ok(_) => layout.0,
    }
}

struct Layout(Vec<Described>);

impl<E: SafetensorsDtype, D: Device<E>> TensorVisitor<E, D> for Layout {
    type Viewer = ViewTensorName;
    type Err = Infallible;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        path: String,
    ) -> Result<Option<Tensor<S, E, D>>, Infallible> {
        let sizes: Vec<usize> = options.shape.concrete().into();
        // One to a line, between parentheses.
        let written = format!("{:#?}", options.shape);
        let names = written.lines().filter_map(|line| line.strip_prefix("    "));
        let dims = names.zip(&sizes).map(|(name, size)| {
            let name = name.trim_end_matches(',');
            let size = format!("={size}");
            format!("{}{size}", name.strip_suffix(&size).unwrap_or(name))
        });
        self.0.push(Described { path, dims: dims.collect(), is_trained: options.do_gradient_update, sizes });
        Ok(None)
    }
}

/// Reads the numbers of one slot for each parameter.
struct ReadSlot<'a, E> {
    file: &'a mut TensorFile,
    numbers: Vec<Vec<E>>,
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
            let numbers = self.file.read(&ExpectedTensor::new(&tensor, &options.shape))?;
            self.numbers.push(numbers);
        }
        Ok(None)
    }
}
