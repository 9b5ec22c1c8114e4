//! A folder of a published model: its weights, `config.json`, which is compared with the type of the model, and the
//! tokens that end a text.

use super::load::build_mapped;
use super::{ConfigField, LoadError, Loadable, NameMap, WeightFiles};
use crate::dims::{ConstDim, name};
use crate::escape::escape;
use crate::files::{is_there, read_bounded};
use crate::nn::Module;
use crate::ranks::Element;
use crate::tokens::Fin;
use dfdx::tensor_ops::Device;
use serde_json::Value;
use std::io::{self, ErrorKind};
use std::{collections::BTreeSet, path::Path};

/// The configuration in a folder.
const CONFIG: &str = "config.json";
/// The field that says that weights are quantized: BitNet, GPTQ or 8-bit floats.
const QUANTIZATION: &str = "quantization_config";
/// The longest configuration. One that names 21,843 classes has 1.6 MB.
const MAX_LEN_BYTES: u64 = 4_000_000;

/// A model whose weights others publish: the names of its parameters in their files, and what their `config.json` says.
///
/// ```
/// use typed_transformer::{module, nn::Linear, prelude::*, weights::{ConfigField, Pretrained, load_pretrained}};
/// dims! { pub EmbedDim = 2; pub HiddenDim = 3; }
///
/// #[module(output = EmbedDim)]
/// pub struct Encoder<E, D> {
///     pub hidden: Linear<EmbedDim, HiddenDim, E, D>,
///     pub output: Linear<HiddenDim, EmbedDim, E, D>,
/// }
///
/// impl<E: Real, D: Device<E>> Pretrained for Encoder<E, D> {
///     const NAMES: &'static str = "
///         hidden.{role} = encoder.up_proj.{role}
///         output.{role} = encoder.down_proj.{role}
///     ";
///     const PREFIX: &'static str = "encoder.";
///
///     fn config() -> Vec<ConfigField> {
///         vec![ConfigField::dim::<EmbedDim>("hidden_size"), ConfigField::dim::<HiddenDim>("intermediate_size")]
///     }
/// }
///
/// # let folder = std::env::temp_dir().join(format!("typed-transformer-pretrained-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("config.json"), r#"{"hidden_size": 2, "intermediate_size": 4}"#)?;
/// let error = load_pretrained::<Encoder<f32, Cpu>, _, _>(&folder, &Cpu::default()).unwrap_err().to_string();
/// let what = "config.json is of another model than Encoder: `intermediate_size` is 4, not HiddenDim=3";
/// assert!(error.ends_with(what), "{error}");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the model is not `Pretrained`: nothing says how others name its parameters",
    label = "this model does not implement `Pretrained`",
    note = "implement `Pretrained` for the model; without it, `load_mapped` loads by a `NameMap`, and `weights::save` saves by the names of the fields",
    note = "if it is `!`, write the type of the model: `let model: gpt2::Model = ..`"
)]
pub trait Pretrained: Module {
    /// The rules of a [`NameMap`]: the parameters and the names that `transformers` gives to their tensors. Of names
    /// joined by `or`, the first is the one that [`save_pretrained`](super::save_pretrained) writes.
    const NAMES: &'static str;

    /// `base_model_prefix` of `transformers`, with its dot. Files of the base model alone lack it: if no name of the
    /// files begins with it, the rules are read without it.
    const PREFIX: &'static str = "";

    /// The fields that `config.json` must have.
    fn config() -> Vec<ConfigField>;
}

/// Loads a model from a folder as HuggingFace's `transformers` saves it: `config.json`, and `model.safetensors` or the
/// shards of `model.safetensors.index.json`.
///
/// The configuration is compared with the model's type before any tensor is read. Tensors are read one at a time, so
/// memory is bounded by the model and its largest tensor.
///
/// # Errors
/// [`LoadError::Config`] with all fields of the configuration that differ; [`LoadError::ConfigFormat`] if `config.json`
/// is no object of JSON; [`LoadError::Names`] if the model's names are no map; [`LoadError::Read`] if `folder` is a
/// file; otherwise the errors of [`load_mapped`](super::load_mapped).
///
/// ```
/// use typed_transformer::{models::published::tiny_gpt2, prelude::*, weights::{LoadError, load_pretrained}};
/// let model: Result<tiny_gpt2::Model<f32, Cpu>, LoadError> = load_pretrained("no-such-folder", &Cpu::default());
/// let error = model.err().unwrap().to_string();
/// assert!(error.starts_with("cannot read no-such-folder/config.json"), "{error}");
/// ```
pub fn load_pretrained<Model: Pretrained + Loadable<E, D>, E: Element, D: Device<E>>(
    folder: impl AsRef<Path>,
    device: &D,
) -> Result<Model, LoadError> {
    let folder = folder.as_ref();
    ensure_config::<Model>(folder)?;
    let names = names::<Model>()?;
    let mut files = WeightFiles::open(folder)?;
    let has_prefix = |name: &String| name.starts_with(Model::PREFIX);
    let names = match files.files.iter().any(|file| file.names().iter().any(has_prefix)) {
        true => names,
        false => names.without_prefix(Model::PREFIX),
    };
    build_mapped(&mut files, &names, device)
}

/// The names that a model gives for its tensors.
pub(super) fn names<Model: Pretrained>() -> Result<NameMap, LoadError> {
    Model::NAMES.parse().map_err(|source| LoadError::Names { model: name::<Model>(), source })
}

/// Checks that the `config.json` of a folder is that of the model, as [`load_pretrained`] does first. A program can
/// then check what else it reads, such as a prompt, before it reads the weights.
///
/// # Errors
/// Those of [`load_pretrained`] about `config.json`, and [`LoadError::Read`] if `folder` is a file.
///
/// ```
/// use typed_transformer::{models::published::tiny_gpt2, prelude::*, weights::ensure_config};
/// let error = ensure_config::<tiny_gpt2::Model<f32, Cpu>>("no-such-folder").unwrap_err().to_string();
/// assert!(error.starts_with("cannot read no-such-folder/config.json"), "{error}");
/// ```
pub fn ensure_config<Model: Pretrained>(folder: impl AsRef<Path>) -> Result<(), LoadError> {
    let folder = folder.as_ref();
    if folder.is_file() {
        let message = "a model is a folder with config.json and its weights, but this is a file";
        return Err(LoadError::Read { path: folder.into(), source: io::Error::new(ErrorKind::NotADirectory, message) });
    }
    compare_config(&folder.join(CONFIG), &Model::config(), name::<Model>)
}

/// The tokens that end a text: `eos_token_id` of `generation_config.json` in the folder of a model if that file exists,
/// otherwise of `config.json`. The field is a token, a list of tokens, null, or missing.
///
/// # Errors
/// [`LoadError::Read`] if this file cannot be read, and [`LoadError::ConfigFormat`] if it is not a JSON object, or if
/// the field has anything but tokens of `V`.
///
/// ```
/// use typed_transformer::{prelude::*, weights::eos_token_ids};
/// dims! { pub VocabSize = 50_257; }
/// # let folder = std::env::temp_dir().join(format!("typed-transformer-eos-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("config.json"), r#"{"eos_token_id": 50256}"#)?;
/// assert_eq!(format!("{:?}", eos_token_ids::<VocabSize>(&folder)?), "[50256]");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn eos_token_ids<V: ConstDim>(folder: impl AsRef<Path>) -> Result<Vec<Fin<V>>, LoadError> {
    const FIELD: &str = "eos_token_id";
    let mut path = folder.as_ref().join("generation_config.json");
    if !is_there(&path) {
        path = folder.as_ref().join(CONFIG);
    }
    let config = read_config(&path)?;
    let ids = match lookup(&config, FIELD) {
        None => &[],
        Some(Value::Array(ids)) => ids.as_slice(),
        Some(id) => std::slice::from_ref(id),
    };
    let token = |id: &Value| {
        let token = id.as_u64().and_then(|id| Fin::new(usize::try_from(id).ok()?).ok());
        let message = || format!("`{FIELD}` has {id}, which is no token of {:?}", V::default());
        token.ok_or_else(|| LoadError::ConfigFormat { path: path.clone(), message: message() })
    };
    ids.iter().map(token).collect()
}

/// Compares a file with the fields of a model. The error has all that differ.
fn compare_config(path: &Path, fields: &[ConfigField], model_name: fn() -> String) -> Result<(), LoadError> {
    let config = read_config(path)?;
    let mut differences: Vec<_> =
        fields.iter().filter_map(|field| field.difference(&config, ToString::to_string)).collect();
    let mut names = fields.iter().flat_map(ConfigField::names);
    if !names.any(|name| name.split('.').next() == Some(QUANTIZATION)) {
        differences.extend(ConfigField::absent(QUANTIZATION).difference(&config, ToString::to_string));
    }
    // An object `name` in the file, which overrides `other`, must have the fields that are required of `other`.
    for (name, other) in fields.iter().filter_map(|field| Some((field.name, field.overridden()?))) {
        let is_there = lookup(&config, name).is_some_and(Value::is_object);
        let within = |field: &&ConfigField| field.name.strip_prefix(other).is_some_and(|rest| rest.starts_with('.'));
        let required = fields.iter().filter(within).filter(|field| is_there && !field.name.ends_with(".model_type"));
        let renamed = |field: &str| field.replacen(other, name, 1);
        differences.extend(required.filter_map(|field| field.difference(&config, renamed)));
    }
    differences.extend(differences_within_objects(&config, fields));
    match differences.is_empty() {
        true => Ok(()),
        false => Err(LoadError::Config { path: path.into(), model: model_name(), differences }),
    }
}

/// The faults of the objects in which `fields` lie: each must be an object and, unless it configures a part of the
/// model, have no other field.
fn differences_within_objects(config: &Value, fields: &[ConfigField]) -> Vec<String> {
    let names: BTreeSet<&'static str> = fields.iter().flat_map(ConfigField::names).collect();
    let objects_of = |name: &'static str| name.match_indices('.').map(move |(dot, _)| &name[..dot]);
    let objects: BTreeSet<&str> = names.iter().copied().flat_map(objects_of).collect();
    let mut differences = Vec::new();
    for object in objects {
        match lookup(config, object) {
            None => {}
            Some(Value::Object(_)) if names.contains(&*format!("{object}.model_type")) => {}
            Some(Value::Object(found)) => {
                let is_known = |name: &str| names.contains(name) || objects_within(&names, name);
                let found = found.iter().filter(|(_, value)| !value.is_null());
                let others = found.map(|(name, value)| (format!("{object}.{name}"), value));
                let others = others.filter(|(name, _)| !is_known(name));
                let text = |(name, value): (String, &Value)| {
                    format!("`{}` is {}, not absent", escape(&name), escape(&value.to_string()))
                };
                differences.extend(others.map(text));
            }
            Some(value) => differences.push(format!("`{object}` is {}, not an object", escape(&value.to_string()))),
        }
    }
    differences
}

/// Whether some of `names` are fields within this object.
fn objects_within(names: &BTreeSet<&str>, object: &str) -> bool {
    names.iter().any(|name| name.strip_prefix(object).is_some_and(|rest| rest.starts_with('.')))
}

fn read_config(path: &Path) -> Result<Value, LoadError> {
    let text = read_bounded(path, MAX_LEN_BYTES).map_err(|source| LoadError::Read { path: path.into(), source })?;
    let config: Value = serde_json::from_slice(&text)
        .map_err(|error| LoadError::ConfigFormat { path: path.into(), message: error.to_string() })?;
    match config.is_object() {
        true => Ok(config),
        false => Err(LoadError::ConfigFormat { path: path.into(), message: "it has no fields".into() }),
    }
}

/// The value of a field; `None` if it is missing or null.
pub(super) fn lookup<'a>(config: &'a Value, name: &str) -> Option<&'a Value> {
    let value = name.split('.').try_fold(config, |object, field| object.get(field))?;
    (!value.is_null()).then_some(value)
}
