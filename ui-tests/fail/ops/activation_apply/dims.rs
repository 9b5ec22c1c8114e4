//! An activation keeps the shape.
//! Covers `Dims` of `ops::Activation::apply`.
//! Right with `HiddenDim` for `EmbedDim` in line 10.
use typed_transformer::{ops::{Activation, Relu}, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn activate(
    hidden: Tensor<(Batch, SrcLen, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    Relu::apply(hidden)
}

fn main() {}
