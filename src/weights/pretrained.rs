use super::{ConfigField, LoadError, Loadable, NameMap, WeightFiles, config, load::build_mapped};
use crate::ranks::Element;
use crate::{dims::name, nn::Module};
use dfdx::tensor_ops::Device;
use std::io::{self, ErrorKind};
use std::path::Path;

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
/// # let folder = std::env::temp_dir().join("typed-transformer-pretrained");
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
    note = "implement `Pretrained` for the model, or use `load_mapped` with a `NameMap`"
)]
pub trait Pretrained: Module {
    /// The rules of a [`NameMap`]: the parameters and the names that `transformers` gives to their tensors.
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
    if folder.is_file() {
        let message = "a model is a folder with config.json and its weights, but this is a file";
        return Err(LoadError::Read { path: folder.into(), source: io::Error::new(ErrorKind::NotADirectory, message) });
    }
    config::compare::<Model>(&folder.join(config::CONFIG), &Model::config())?;
    let names: Result<NameMap, _> = Model::NAMES.parse();
    let names = names.map_err(|source| LoadError::Names { model: name::<Model>(), source })?;
    let mut files = WeightFiles::open(folder)?;
    let has_prefix = |name: &String| name.starts_with(Model::PREFIX);
    let names = match files.files.iter().any(|file| file.names().iter().any(has_prefix)) {
        true => names,
        false => names.without_prefix(Model::PREFIX),
    };
    build_mapped(&mut files, &names, device)
}
