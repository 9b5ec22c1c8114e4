//! An axis is written by its name: `_` could be any dimension.
//! Right with `QLen` for `_` in line 8.
use typed_transformer::prelude::*;

dims! { QLen = 5; HeadDim = 8; }

fn swap(q: Tensor<(QLen, HeadDim), f32, Cpu>) -> Result<Tensor<(HeadDim, QLen), f32, Cpu>, OpError> {
    rearrange!(q: (_, HeadDim) -> (HeadDim, QLen))
}

fn main() {}
