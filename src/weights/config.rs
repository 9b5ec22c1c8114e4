//! `config.json` of HuggingFace's `transformers`, compared with the type of a model.

use super::{ConfigField, LoadError};
use crate::dims::{ConstDim, name};
use crate::escape::escape;
use crate::files::read_bounded;
use crate::tokens::Fin;
use serde_json::Value;
use std::{collections::BTreeSet, path::Path};

/// The configuration in a folder.
pub(super) const CONFIG: &str = "config.json";
/// The longest configuration. One that names 21,843 classes has 1.6 MB.
const MAX_LEN_BYTES: u64 = 4_000_000;

/// The tokens that end a text: `eos_token_id` of `generation_config.json` in the folder of a model if that file exists,
/// otherwise of `config.json`. It is a token, a list, or nothing.
///
/// # Errors
/// [`LoadError::Read`] and [`LoadError::ConfigFormat`] if there is no such file, or if it names no tokens of `V`.
///
/// ```
/// use typed_transformer::{prelude::*, weights::eos_token_ids};
/// dims! { pub VocabSize = 50_257; }
/// # let folder = std::env::temp_dir().join("typed-transformer-eos");
/// # std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("config.json"), r#"{"eos_token_id": 50256}"#)?;
/// assert_eq!(format!("{:?}", eos_token_ids::<VocabSize>(&folder)?), "[50256]");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn eos_token_ids<V: ConstDim>(folder: impl AsRef<Path>) -> Result<Vec<Fin<V>>, LoadError> {
    const FIELD: &str = "eos_token_id";
    let mut path = folder.as_ref().join("generation_config.json");
    if !path.exists() {
        path = folder.as_ref().join(CONFIG);
    }
    let config = read(&path)?;
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

/// Compares a file with the fields of `Model`. The error has all that differ.
pub(super) fn compare<Model>(path: &Path, fields: &[ConfigField]) -> Result<(), LoadError> {
    let config = read(path)?;
    let mut differences: Vec<_> =
        fields.iter().filter_map(|field| field.difference(&config, ToString::to_string)).collect();
    // An object that overrides another one has the fields that are required of that one, under its own name.
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
        false => Err(LoadError::Config { path: path.into(), model: name::<Model>(), differences }),
    }
}

/// The faults of the objects that the names of `fields` lead into: each must be an object, and have no other field if
/// it is not the configuration of a part of the model.
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

/// Whether a name leads to some of `names`.
fn objects_within(names: &BTreeSet<&str>, object: &str) -> bool {
    names.iter().any(|name| name.strip_prefix(object).is_some_and(|rest| rest.starts_with('.')))
}

fn read(path: &Path) -> Result<Value, LoadError> {
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
