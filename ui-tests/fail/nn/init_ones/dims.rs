//! `ones` fills a parameter of the expected shape.
//! Covers `Dims` of `nn::init::ones`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::{nn::init, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn start(bias: &mut Tensor<(EmbedDim,), f32, Cpu>) -> Result<(), CpuError> {
    init::ones::<(HiddenDim,), _, _>(bias)
}

fn main() {}
