//! `constant` fills a parameter of the expected shape.
//! Covers `Dims` of `nn::init::constant`.
//! Right with `HiddenDim` for the first `EmbedDim` in line 9.
use typed_transformer::{nn::init, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn start(weight: &mut Tensor<(HiddenDim, EmbedDim), f32, Cpu>) -> Result<(), CpuError> {
    init::constant::<(EmbedDim, EmbedDim), _, _>(weight, 0.5)
}

fn main() {}
