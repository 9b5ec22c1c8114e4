//! A struct is a module if its attribute says so.
//! Covers `Self` of `nn::Module`.
//! Right with `Layer` for `Rope` in line 14.
use typed_transformer::{nn::{Linear, Summary}, prelude::*};

dims! { EmbedDim = 8; }

type Layer = Linear<EmbedDim, EmbedDim, f32, Cpu>;
struct Rope {
    _layer: Layer,
}

fn main() {
    let _summary = Summary::of::<Rope>();
}
