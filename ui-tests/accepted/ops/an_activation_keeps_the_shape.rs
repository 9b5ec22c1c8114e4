//! An activation keeps the shape.
//! Proves `Dims` of `ops::Activation::try_apply`.
use typed_transformer::{ops::{Activation, Relu}, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn activate(
    hidden: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>, OpError> {
    Relu::try_apply(hidden)
}

fn main() {}
