//! Weights in 8 bits are not trained: no pass of them is recorded.
//! Covers `Self` of `nn::Trainable`.
//! Right with `FullPrecision` for `Q8` in line 7.
use typed_transformer::{nn::*, train::Recording, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }
type Map = Linear<EmbedDim, HiddenDim, f32, Cpu, Q8>;

fn tape(map: &Map) -> Recording<Map> {
    map.recording()
}

fn main() {}
