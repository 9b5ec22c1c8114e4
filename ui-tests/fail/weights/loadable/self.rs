//! A function that loads any model says so.
//! Covers `Self` of `weights::Loadable`.
//! Right with `Known` for `Unknown` in line 8.
use typed_transformer::{nn::Module, weights::{self, LoadError, Loadable}, prelude::*};

trait Known: Module + Loadable<f32, Cpu> {}
trait Unknown: Module {}
fn open<Model: Unknown>(device: &Cpu) -> Result<Model, LoadError> {
    weights::load("model.safetensors", device)
}

fn main() {}
