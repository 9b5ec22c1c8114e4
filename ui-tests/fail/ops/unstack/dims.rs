//! The steps of a sequence keep the other axes.
//! Covers `Dims` of `ops::unstack`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
//! Mutants cover `Name` by `SrcLen` of `ops::unstack`.
use typed_transformer::{ops::unstack, prelude::*};

dims! { SrcLen = 5; EmbedDim = 8; HiddenDim = 8; Batch; }

type Steps = Vec<Tensor<(Batch, HiddenDim), f32, Cpu>>;

fn steps(x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) -> Result<Steps, OpError> {
    unstack(x, axis::<SrcLen>())
}

fn main() {}
