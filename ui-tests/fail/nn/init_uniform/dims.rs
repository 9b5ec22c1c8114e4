//! `uniform` fills a parameter of the expected shape.
//! Covers `Dims` of `nn::init::uniform`.
//! Right with `HiddenDim` for the second `EmbedDim` in line 9.
use typed_transformer::{nn::init, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn start(weight: &mut Tensor<(HiddenDim, EmbedDim), f32, Cpu>) -> Result<(), CpuError> {
    init::uniform::<EmbedDim, (EmbedDim, EmbedDim), _, _>(weight)
}

fn main() {}
