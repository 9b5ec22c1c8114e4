//! A tensor has an axis once.
//! Right with `NumHeads` for the second `HeadDim` in line 10.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 2; Batch; }

fn split(
    x: Tensor<(Batch, SrcLen, Product<NumHeads, HeadDim>), f32, Cpu>,
) {
    let _heads = rearrange!(x: (Batch, SrcLen, Product<NumHeads, HeadDim>) -> (Batch, HeadDim, SrcLen, HeadDim)).unwrap();
}

fn main() {}
