//! An axis is written by its name: two axes `_` would be of two dimensions.
//! Right with `QLen` for both `_` in line 8.
use typed_transformer::prelude::*;

dims! { QLen = 5; KLen = 5; HeadDim = 8; }

fn swap(q: Tensor<(QLen, HeadDim), f32, Cpu>) -> Result<Tensor<(HeadDim, KLen), f32, Cpu>, OpError> {
    rearrange!(q: (_, HeadDim) -> (HeadDim, _))
}

fn main() {}
