//! Weights in files: [safetensors](https://github.com/huggingface/safetensors), each tensor under its field path.
//!
//! A file's tensor becomes a typed tensor only after every one of its dimensions was compared, and is
//! not read before, so that a file takes no more memory than the model, whatever it says of itself; and
//! a model is built only if every tensor is there, fits and is finite, and no other tensor is. What a
//! style decides without a trace in the tensors, an activation say, is in the file's metadata.
//!
//! [`save`] and [`load`] use the paths of *The Typed Transformer*; [`load_mapped`] reads a file of other
//! names by a written map of them, [`NameMap`].

mod file;
mod load;
mod names;
mod save;

pub(crate) use file::{ExpectedTensor, TensorFile, ensure_dtype, ensure_finite, ensure_regular_file};
pub(crate) use load::build;
pub use load::{LoadError, load, load_mapped, metadata};
pub use names::{NameMap, NameMapError};
pub(crate) use save::{FileTensor, clear_partial, collect, write};
pub use save::{SaveError, ensure_writable, save, save_with_metadata};

use crate::{nn::Module, ops::Real};
use safetensors::Dtype;
use std::collections::{BTreeMap, BTreeSet};

/// Where a file's metadata have the conventions of the model, one a line.
const CONVENTIONS: &str = "conventions";

/// What the styles of a model decide, by name; several values where its parts are of several styles.
pub(crate) fn conventions<Model: Module>() -> BTreeMap<String, String> {
    let mut found = BTreeSet::new();
    Model::conventions(&mut found);
    let mut values = BTreeMap::<_, Vec<_>>::new();
    for (name, value) in found {
        values.entry(name.to_string()).or_default().push(value);
    }
    let values = values.into_iter();
    values.map(|(name, values)| (name, values.join(" and "))).collect()
}

/// An element that a file can hold: `f32` or `f64`.
pub trait SafetensorsDtype: Real {
    /// What safetensors calls it.
    const DTYPE: Dtype;
    /// Appends its bytes, the least significant first.
    fn write(self, bytes: &mut Vec<u8>);
    /// Reads one from as many bytes as it has, the least significant first.
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! stored {
    ($element:ty, $dtype:expr) => {
        impl SafetensorsDtype for $element {
            const DTYPE: Dtype = $dtype;
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self::from_le_bytes)
            }
        }
    };
}
stored!(f32, Dtype::F32);
stored!(f64, Dtype::F64);

/// The elements of which these are the bytes.
pub(crate) fn decode_elements<E: SafetensorsDtype>(bytes: &[u8]) -> Vec<E> {
    let elements = bytes.chunks_exact(size_of::<E>());
    elements.filter_map(E::read).collect()
}

/// The first NaN or infinity, and its position.
pub(crate) fn first_non_finite<E: SafetensorsDtype>(elements: &[E]) -> Option<(usize, f64)> {
    let index = elements.iter().position(|element| !element.is_finite())?;
    Some((index, elements[index].to_f64().unwrap_or(f64::NAN)))
}
