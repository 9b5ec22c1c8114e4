//! A parameter of one shape is filled at random.
//! Proves `Dims` of `nn::init::uniform`.
use typed_transformer::{nn::init, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

fn start(weight: &mut Tensor<(HiddenDim, EmbedDim), f32, Cpu>) -> Result<(), CpuError> {
    init::uniform::<EmbedDim, (HiddenDim, EmbedDim), _, _>(weight)
}

fn main() {}
