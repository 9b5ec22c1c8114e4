use super::{NameMapError, disk};
use crate::escape::escape;
use itertools::Itertools;
use safetensors::Dtype;
use std::{
    io,
    path::{Path, PathBuf},
};

/// The error of loading weights.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights::{self, LoadError}};
/// let model = weights::load::<Linear<EmbedDim, VocabSize, f32, Cpu>, _, _>("/no/such/file", &Cpu::default());
/// assert!(matches!(model, Err(LoadError::Read { .. })));
/// ```
#[derive(thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a complete safetensors file.
    #[error("{} is damaged or not a safetensors file: {}", path.display(), escape(message))]
    Format {
        /// The file.
        path: PathBuf,
        /// A description of the fault.
        message: String,
    },
    /// A folder has no file of weights under a name that this crate reads.
    #[error("{} has neither model.safetensors nor model.safetensors.index.json{}", path.display(), others(found))]
    NoWeights {
        /// The folder.
        path: PathBuf,
        /// Files of other formats or other names that are in the folder.
        found: Vec<String>,
    },
    /// A file is not the index of a model in several files, or these files differ from it.
    #[error("{} is not the index of a model: {}", path.display(), escape(message))]
    Index {
        /// The index.
        path: PathBuf,
        /// A description of the fault.
        message: String,
    },
    /// A configuration is not JSON text.
    #[error("{} is not a configuration: {}", path.display(), escape(message))]
    ConfigFormat {
        /// The file.
        path: PathBuf,
        /// A description of the fault.
        message: String,
    },
    /// A configuration is not the one that the model's type requires.
    #[error("{} is of another model than {model}: {}", path.display(), differences.iter().join("; "))]
    Config {
        /// The file.
        path: PathBuf,
        /// The type of the model.
        model: String,
        /// The fields that differ.
        differences: Vec<String>,
    },
    /// The names that a model gives for its tensors are no [`NameMap`](super::NameMap).
    #[error("the names of {model}: {source}")]
    Names {
        /// The type of the model.
        model: String,
        /// The fault of the names.
        source: NameMapError,
    },
    /// The file was saved by a model that computes something else from the same weights.
    #[error("the model's {} is {expected}, but the file was saved with {}", escape(convention), escape(found))]
    Convention {
        /// The convention that differs.
        convention: String,
        /// Its value in the model.
        expected: String,
        /// Its value in the file.
        found: String,
    },
    /// The model has a tensor that the file lacks.
    #[error("`{tensor}` {expected} is missing")]
    Missing {
        /// Path of the tensor.
        tensor: String,
        /// Its dimensions in the model.
        expected: String,
    },
    /// The file has a tensor that the model lacks.
    #[error("`{}` is in the file but not in the model", escape(tensor))]
    Unexpected {
        /// Name of the tensor in the file.
        tensor: String,
    },
    /// The elements of a tensor have another type.
    #[error("`{tensor}` should hold {expected:?} but holds {found:?}")]
    Dtype {
        /// Path of the tensor.
        tensor: String,
        /// Element type in the model.
        expected: Dtype,
        /// Element type in the file.
        found: Dtype,
    },
    /// The dimensions of a tensor are not those of the model.
    #[error("`{tensor}` should be {expected} but is {found:?}")]
    Shape {
        /// Path of the tensor.
        tensor: String,
        /// Dimensions in the model, with their sizes.
        expected: String,
        /// Sizes in the file.
        found: Vec<usize>,
    },
    /// The bytes of a tensor are not those that were saved.
    #[error("`{}` is damaged: its checksum differs", escape(tensor))]
    Checksum {
        /// Name of the tensor in the file.
        tensor: String,
    },
    /// A tensor holds a NaN or an infinity.
    #[error("`{tensor}` holds {value} at position {index}")]
    NotFinite {
        /// Path of the tensor.
        tensor: String,
        /// Position of the element in row-major order, from 0.
        index: usize,
        /// The element.
        value: f64,
    },
    /// The [`NameMap`](super::NameMap) has no rule for a parameter of the model.
    #[error("the name map has no rule for `{tensor}` {expected}")]
    Unmapped {
        /// Path of the tensor.
        tensor: String,
        /// Its dimensions in the model.
        expected: String,
    },
    /// The file does not fit the rule of the [`NameMap`](super::NameMap) for a parameter.
    #[error("{source}, read as `{read_as}`")]
    Mapped {
        /// The error behind it.
        source: Box<LoadError>,
        /// The right side of the rule: the name in the file, and the layout of the tensor.
        read_as: String,
    },
    /// The device failed.
    #[error("`{tensor}`: {message}")]
    Device {
        /// Path of the tensor.
        tensor: String,
        /// The error of the device.
        message: String,
    },
}
crate::error::debug_by_sentence!(LoadError);

impl LoadError {
    /// Whether reading the file again may succeed.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Read { source, .. } if disk::may_pass(source))
    }
}

/// The files of other formats in a folder without weights.
fn others(found: &[String]) -> String {
    match found {
        [] => String::new(),
        found => {
            let why = match found.iter().any(|name| name.ends_with(".safetensors")) {
                true => "but not under one of these names",
                false => "which this crate does not read",
            };
            format!("; it has {}, {why}", found.iter().map(|name| escape(name)).join(", "))
        }
    }
}

/// The error of saving weights.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights::{self, SaveError}};
/// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// let error = weights::save(&model, "/no/such/folder/model.safetensors").unwrap_err();
/// assert!(matches!(error, SaveError::Write { .. }));
/// ```
#[derive(thiserror::Error)]
pub enum SaveError {
    /// The file or its folder cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// There is a file of another kind. Only its owner can know whether it is still needed.
    #[error("{} is {found}; it is not overwritten", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// The kind of file, such as `not a file of weights`.
        found: &'static str,
    },
    /// Two files have the same path.
    #[error("{}", same_file(path, other))]
    SamePath {
        /// One of them.
        path: PathBuf,
        /// The other.
        other: PathBuf,
    },
    /// An output has the path of a file that is kept beside a checkpoint, such as the best one.
    #[error("{} and a file of the checkpoint {} are the same file", path.display(), checkpoint.display())]
    PartOfCheckpoint {
        /// The output.
        path: PathBuf,
        /// The checkpoint.
        checkpoint: PathBuf,
    },
    /// Another training run saves its checkpoints there.
    #[error("{} is in use by {}", path.display(), holder(*process))]
    Locked {
        /// The file.
        path: PathBuf,
        /// The ID of the process, if it is known.
        process: Option<u32>,
    },
    /// The disk has too little room.
    #[error("cannot write {}: {needed_bytes} bytes are needed, but the disk has {free_bytes}", path.display())]
    Space {
        /// The file.
        path: PathBuf,
        /// The bytes that are needed.
        needed_bytes: u64,
        /// The bytes that are free.
        free_bytes: u64,
    },
    /// The format cannot hold the tensors.
    #[error("cannot write {}: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The error of the `safetensors` crate.
        message: String,
    },
    /// An element is NaN or infinite, so the model could not be loaded and a training run could not continue.
    #[error("cannot write {}: `{tensor}` holds {value} at position {index}", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// Path of the tensor.
        tensor: String,
        /// Position of the element in row-major order, from 0.
        index: usize,
        /// The element.
        value: f64,
    },
}
crate::error::debug_by_sentence!(SaveError);

fn same_file(path: &Path, other: &Path) -> String {
    match path == other {
        true => format!("{} is given for two files", path.display()),
        false => format!("{} and {} are the same file", path.display(), other.display()),
    }
}

fn holder(process: Option<u32>) -> String {
    match process {
        Some(id) if id == std::process::id() => "another training run of this process".into(),
        Some(id) => format!("process {id}"),
        None => "another process".into(),
    }
}
