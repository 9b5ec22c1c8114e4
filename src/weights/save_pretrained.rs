//! Saving a published model as `transformers` reads it.

use super::weight_files::SINGLE_FILE;
use super::{ExpectedTensor, Pretrained, SaveError, ensure_whole, save_tensors};
use super::{pretrained::names, save::ensure_finite_in};
use crate::{model_tensors::visit_tensors, nn::OwnsParameters, ranks::Element};
use dfdx::tensor_ops::Device;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Saves a model as `model.safetensors` in a folder, under the names and in the layout of HuggingFace's `transformers`.
/// It is [`load_pretrained`](super::load_pretrained) backwards, by the same [`Pretrained::NAMES`]:
///
/// `file[name] = inverse layout(model[path])` for each `path = name layout`
///
/// | in [`Pretrained::NAMES`] | in the file |
/// | --- | --- |
/// | `a or b` | `a` |
/// | `[in out -> out in]` | the parameter, transposed back |
/// | `part 1 of 3`, `part 2 of 3`, `part 3 of 3` | one tensor, in which the three parameters follow each other |
/// | [`Pretrained::PREFIX`] | the names have it |
/// | `copy b of a` | `a` alone: a tied weight is in the file once |
/// | `ignore a` | nothing |
///
/// The elements have the dtype `E`, whatever the file had from which the model was loaded. `from_pretrained` and
/// [`load_pretrained`](super::load_pretrained) then need `config.json` beside the weights: that of the model's folder.
/// A file of weights is replaced as [`save`](super::save) does it. The metadata are those of `save`, too: a module of
/// your own that [`load_mapped`](super::load_mapped) reads from this file must have the model's conventions.
///
/// # Errors
/// Those of [`save`](super::save), among them [`SaveError::Write`] if there is no such folder. [`SaveError::Format`]
/// also if the names are no [`NameMap`](super::NameMap), or if they have no rule for a parameter, one that does not fit
/// its dimensions, the same tensor or part for two parameters, or a part without a parameter.
///
/// ```
/// use typed_transformer::{models::published::tiny_gpt2, prelude::*, weights::{load_pretrained, save_pretrained}};
/// let device = Cpu::default();
/// let model = tiny_gpt2::Model::<f32, Cpu>::build(&device);
/// # let folder = std::env::temp_dir().join(format!("typed-transformer-tuned-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let config = r#"{
///     "model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 2, "n_head": 2, "n_layer": 2
/// }"#;
/// std::fs::write(folder.join("config.json"), config)?;
/// save_pretrained(&model, &folder)?;
/// let loaded: tiny_gpt2::Model<f32, Cpu> = load_pretrained(&folder, &device)?;
/// assert_eq!(loaded.token_embedder.as_vec(), model.token_embedder.as_vec());
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save_pretrained<Model: Pretrained + OwnsParameters<E, D>, E: Element, D: Device<E>>(
    model: &Model,
    folder: impl AsRef<Path>,
) -> Result<(), SaveError> {
    let path = &folder.as_ref().join(SINGLE_FILE);
    let format_error = |message| SaveError::Format { path: path.clone(), message };
    let names = names::<Model>().map_err(|error| format_error(error.to_string()))?;
    ensure_whole(model, path)?;
    let mut tensors = BTreeMap::new();
    visit_tensors(model, "", |visited| {
        let elements = visited.tensor.to_vec();
        ensure_finite_in(path, &visited.path, &elements)?;
        let (sizes, dims) = (visited.tensor.sizes(), visited.tensor.dims());
        let parameter = ExpectedTensor { path: &visited.path, sizes, dims };
        names.write(&mut tensors, &parameter, &elements).map_err(format_error)
    })?;
    let tensors = tensors.into_iter().map(|(name, tensor)| tensor.finish(name)).collect::<Result<Vec<_>, _>>();
    // `transformers` 4 refuses metadata without a format.
    let format = HashMap::from([("format".into(), "pt".into())]);
    save_tensors::<Model>(&tensors.map_err(format_error)?, path, format, false)
}
