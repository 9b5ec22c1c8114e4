//! A parameter of one shape is filled with zeros.
//! Proves `Dims` of `nn::init::zeros`.
use typed_transformer::{nn::init, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn start(bias: &mut Tensor<(EmbedDim,), f32, Cpu>) -> Result<(), CpuError> {
    init::zeros::<(HiddenDim,), _, _>(bias)
}

fn main() {}
