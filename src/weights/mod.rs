//! Weights as [safetensors](https://github.com/huggingface/safetensors) files, each tensor under its field path.
//!
//! Dimensions are compared before any tensor is read, so a malicious header cannot make loading use more memory than
//! the model. Loading fails if a tensor is missing, has other dimensions, is not finite, or is not in the model. Files
//! of [`save`] have checksums, so changed bytes are an error, too. The [conventions](crate::nn::Conventions) of a
//! model, such as its activation, leave no trace in the tensors; they are stored in the metadata and compared.
//!
//! [`save`] and [`load`] use the field paths of the model as names. [`load_mapped`] reads files with other
//! names and layouts by a [`NameMap`], and [`load_pretrained`] reads a folder as HuggingFace's `transformers` saves it.
//! [`save_pretrained`] writes the weights of such a folder.
//! Tensors of 16 bits, `F16` and `BF16`, are widened exactly while they are read.

pub(crate) mod atomic;
mod config_field;
#[doc(hidden)]
pub mod disk;
mod error;
mod file;
mod header;
mod load;
mod name_map;
mod outputs;
mod pretrained;
mod save;
mod save_pretrained;
mod weight_files;

pub use config_field::ConfigField;
pub(crate) use disk::sync_file;
pub use error::{LoadError, SaveError};
pub(crate) use file::{Dims, ExpectedTensor, TensorFile, ensure_dtype, ensure_finite};
#[doc(hidden)]
pub use load::TensorSource;
pub use load::{Loadable, load, load_mapped, metadata};
pub(crate) use load::{compare_conventions, load_from};
pub use name_map::{NameMap, NameMapError};
pub(crate) use name_map::{dims_in, factors, written_dims};
pub(crate) use outputs::{
    FileKind, FileLock, LOCK_SUFFIX, ensure_creatable, file_id_of, file_kind, has_no_locks, in_private_folder,
    open_file, remove_private_file, target_of,
};
pub use outputs::{ensure_distinct, ensure_space, ensure_writable};
pub use pretrained::{Pretrained, ensure_config, eos_token_ids, load_pretrained};
pub(crate) use save::{FileTensor, collect, ensure_all_finite, ensure_whole, save_tensors, write};
pub use save::{save, save_elsewhere, save_with_metadata};
pub use save_pretrained::save_pretrained;
pub(crate) use weight_files::WeightFiles;

use crate::nn::Module;
use crate::ops::cast;
use crate::ranks::{Element, by_name, swap_if_big_endian};
use half::{bf16, f16};
use safetensors::Dtype;
use std::collections::{BTreeMap, BTreeSet};

/// The metadata key of the model's conventions, one per line.
const CONVENTIONS: &str = "conventions";
/// The convention of the factors of products of dimensions. Those of all products (`4 * 8`) are stored as one set
/// without paths. So a file with other factors is refused, but not one in which two layers have exchanged theirs.
pub(crate) const FACTORS_OF_PRODUCTS: &str = "division of dimensions";
/// The convention of which positions a query of self-attention sees.
pub(crate) const MASK: &str = "mask";
/// The conventions that files of earlier versions and layers of one's own may lack.
pub(crate) const OPTIONAL_CONVENTIONS: [&str; 3] = [FACTORS_OF_PRODUCTS, "experts per token", MASK];
/// The convention of the factor by which an [`Arch`](crate::nn::Arch) scales its attention logits.
pub(crate) const ATTENTION_SCALE: &str = "attention scale";
/// The convention of the rotation of queries and keys.
pub(crate) const ROTARY_POSITIONS: &str = "rotary positions";
/// The metadata key of the training that a checkpoint holds.
pub(crate) const TRAINING: &str = "training";

/// The conventions of a model: their values by name. Values in which parts of the model differ are joined with `and`.
pub(crate) fn conventions<Model: Module>() -> BTreeMap<String, String> {
    let mut found = BTreeSet::new();
    Model::conventions(&mut found);
    by_name(found)
}

/// The metadata that say the conventions of a model, if it has any.
pub(crate) fn conventions_entry<Model: Module>() -> Option<(String, String)> {
    let lines: Vec<_> = conventions::<Model>().into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
    (!lines.is_empty()).then(|| (CONVENTIONS.into(), lines.join("\n")))
}

/// Whether elements of type `E` can be read from a tensor of this dtype: the dtype of `E`, or one of 16 bits, whose
/// values are all values of `E`, too.
pub(crate) fn is_readable<E: Element>(dtype: Dtype) -> bool {
    dtype == E::DTYPE || matches!(dtype, Dtype::F16 | Dtype::BF16)
}

/// Decodes elements of a [readable](is_readable) dtype from their bytes, in little-endian order, and appends them.
pub(crate) fn decode_elements<E: Element>(bytes: &[u8], dtype: Dtype, elements: &mut Vec<E>) {
    let mut widen = |to_f64: fn([u8; 2]) -> f64| {
        elements.extend(bytes.as_chunks().0.iter().map(|&bits| cast::<E>(to_f64(bits))));
    };
    match dtype {
        Dtype::F16 => widen(|bits| f16::from_le_bytes(bits).to_f64()),
        Dtype::BF16 => widen(|bits| bf16::from_le_bytes(bits).to_f64()),
        _ => {
            let start = elements.len();
            elements.resize(start + bytes.len() / size_of::<E>(), E::zero());
            let read: &mut [u8] = bytemuck::cast_slice_mut(&mut elements[start..]);
            read.copy_from_slice(bytes);
            swap_if_big_endian::<E>(read);
        }
    }
}

/// The position and value of the first NaN or infinity.
pub(crate) fn first_non_finite<E: Element>(elements: &[E]) -> Option<(usize, f64)> {
    let index = elements.iter().position(|element| !element.is_finite())?;
    Some((index, elements[index].to_f64().unwrap_or(f64::NAN)))
}
