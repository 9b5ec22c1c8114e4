//! Weights in files: [safetensors](https://github.com/huggingface/safetensors), each tensor under its field path.
//!
//! A file's tensor becomes a typed tensor only after every one of its dimensions was compared, and
//! a model is built only if every tensor is there, fits and is finite, and no other tensor is. What a
//! style decides without a trace in the tensors, an activation say, is in the file's metadata.

mod load;
mod save;

pub use load::{LoadError, load};
pub use save::{SaveError, ensure_writable, save};

use crate::{nn::Module, ops::Real};
use safetensors::Dtype;
use std::collections::BTreeSet;

/// Where a file's metadata have the conventions of the model, one a line.
const CONVENTIONS: &str = "conventions";

fn conventions<Model: Module>() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    Model::conventions(&mut found);
    found
}

/// An element that a file can hold: `f32` or `f64`.
pub trait Stored: Real {
    /// What safetensors calls it.
    const DTYPE: Dtype;
    /// Appends its bytes, the least significant first.
    fn write(self, bytes: &mut Vec<u8>);
    /// Reads one from as many bytes as it has, the least significant first.
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! stored {
    ($element:ty, $dtype:expr) => {
        impl Stored for $element {
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
