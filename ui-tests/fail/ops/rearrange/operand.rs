//! The operand has the axes that are written for it.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; HeadDim = 2; QKDim = 2; Batch; }

fn split(
    x: Tensor<(Batch, TgtLen, Product<NumHeads, HeadDim>), f32, Cpu>,
) {
    let _heads = rearrange!(x: (Batch, SrcLen, Product<NumHeads, HeadDim>) -> (Batch, NumHeads, SrcLen, HeadDim)).unwrap();
}

fn main() {}
