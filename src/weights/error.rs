use super::{NameMapError, disk};
use crate::escape::escape;
use itertools::Itertools;
use safetensors::Dtype;
use std::io;
use std::path::{Path, PathBuf};

/// The error of loading weights.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, weights::{self, LoadError}};
/// let model = weights::load::<Linear<EmbedDim, VocabSize, f32, Cpu>, _, _>("/no/such/file", &Cpu::default());
/// assert!(matches!(model, Err(LoadError::Read { .. })));
/// ```
#[derive(thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file is not a complete safetensors file.
    #[error("{} is damaged or not a safetensors file: {}", path.display(), escape(message))]
    Format { path: PathBuf, message: String },
    /// The file is the checkpoint of a training run, which has more than the weights.
    #[error(
        "{} is a checkpoint: `Trainer::resume` reads it, and `load_mapped` reads its model by the names `* = model.*` \
         and `ignore optimizer.*`",
        path.display()
    )]
    Checkpoint { path: PathBuf },
    /// A folder has no file of weights under a name that this crate reads.
    #[error("{} has neither model.safetensors nor model.safetensors.index.json{}", path.display(), others(found))]
    NoWeights { path: PathBuf, found: Vec<String> },
    /// A file is not the index of a model in several files, or the files do not have the tensors that the index says.
    #[error("{} is not the index of a model: {}", path.display(), escape(message))]
    Index { path: PathBuf, message: String },
    /// A configuration is not a JSON object, or names a token outside the vocabulary.
    #[error("{} is not a configuration: {}", path.display(), escape(message))]
    ConfigFormat { path: PathBuf, message: String },
    /// A configuration is not the one that the model's type requires.
    #[error("{} is of another model than {model}: {}", path.display(), differences.iter().join("; "))]
    Config { path: PathBuf, model: String, differences: Vec<String> },
    /// The names that a model gives for its tensors are no [`NameMap`](super::NameMap).
    #[error("the names of {model}: {source}")]
    Names { model: String, source: NameMapError },
    /// The file was saved by a model that computes something else from the same weights.
    #[error("the model's {} is {expected}, but the file was saved with {}", escape(convention), escape(found))]
    Convention { convention: String, expected: String, found: String },
    /// The model has a tensor that the file lacks.
    #[error("`{tensor}` {expected} is missing")]
    Missing { tensor: String, expected: String },
    /// The file has a tensor that the model lacks.
    #[error("`{}` is in the file but not in the model", escape(tensor))]
    Unexpected { tensor: String },
    /// A tensor is no copy of another one, although the model has one parameter for both: tied weights.
    #[error("`{}` is not equal to `{}`, but the model has one weight for both", escape(tensor), escape(original))]
    OtherCopy { tensor: String, original: String },
    /// The elements of a tensor have another type.
    #[error("`{tensor}` should hold {expected:?} but holds {found:?}")]
    Dtype { tensor: String, expected: Dtype, found: Dtype },
    /// The dimensions of a tensor are not those of the model.
    #[error("`{tensor}` should be {expected} but is {found:?}")]
    Shape { tensor: String, expected: String, found: Vec<usize> },
    /// The bytes of a tensor are not those that were saved.
    #[error("`{}` is damaged: its checksum differs", escape(tensor))]
    Checksum { tensor: String },
    /// A tensor holds a NaN or an infinity. `index` counts in row-major order, from 0.
    #[error("`{tensor}` holds {value} at position {index}")]
    NotFinite { tensor: String, index: usize, value: f64 },
    /// The [`NameMap`](super::NameMap) has no rule for a parameter of the model.
    #[error("the name map has no rule for `{tensor}` {expected}")]
    Unmapped { tensor: String, expected: String },
    /// The file does not fit the rule of the [`NameMap`](super::NameMap) for a parameter. `read_as` is the right side
    /// of the rule: the name in the file, and the layout of the tensor.
    #[error("{source}, read as `{read_as}`")]
    Mapped { source: Box<LoadError>, read_as: String },
    /// An element is too large for the precision of the weights.
    #[error("`{tensor}` has an element that is too large for `{precision}`")]
    Precision { tensor: String, precision: String },
    /// The device failed.
    #[error("`{tensor}`: {message}")]
    Device { tensor: String, message: String },
}
crate::error::debug_by_sentence!(LoadError);

impl LoadError {
    /// Whether reading the file again may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Read { source, .. } if disk::is_transient(source))
    }
}

/// The files of other formats in a folder without weights.
fn others(found: &[String]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let why = match found.iter().any(|name| name.ends_with(".safetensors")) {
        true => "but not under one of these names",
        false => "which this crate does not read",
    };
    format!("; it has {}, {why}", found.iter().map(|name| escape(name)).join(", "))
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
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum SaveError {
    /// The file or its folder cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// There is a file of another kind. Only its owner can know whether it is still needed.
    #[error("{} is {found}; it is not overwritten", path.display())]
    Exists { path: PathBuf, found: &'static str },
    /// Two files have the same path.
    #[error("{}", same_file(path, other))]
    SamePath { path: PathBuf, other: PathBuf },
    /// An output has the path of a file that is kept beside a checkpoint, such as the best checkpoint.
    #[error("{} and a file of the checkpoint {} are the same file", path.display(), checkpoint.display())]
    PartOfCheckpoint { path: PathBuf, checkpoint: PathBuf },
    /// Another training run saves its checkpoints at this path. `process` is the ID of its process, if known.
    #[error("{} is in use by {}", path.display(), holder(*process))]
    Locked { path: PathBuf, process: Option<u32> },
    /// The disk has too little room.
    #[error("cannot write {}: {needed_bytes} bytes are needed, but the disk has {free_bytes}", path.display())]
    Space { path: PathBuf, needed_bytes: u64, free_bytes: u64 },
    /// The format cannot hold the tensors or the metadata, the header would be too long to be read, or a parameter is
    /// divided among ranks.
    #[error("cannot write {}: {message}", path.display())]
    Format { path: PathBuf, message: String },
    /// An element is NaN or infinite, so the model could not be loaded and a training run could not continue. `index`
    /// counts in row-major order, from 0.
    #[error("cannot write {}: `{tensor}` holds {value} at position {index}", path.display())]
    NotFinite { path: PathBuf, tensor: String, index: usize, value: f64 },
}

impl SaveError {
    /// Whether writing the file again may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Write { source, .. } if disk::is_transient(source))
    }
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
