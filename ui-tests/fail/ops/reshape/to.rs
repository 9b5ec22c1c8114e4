//! A reshaped tensor keeps the order of its axes.
//! Covers `To` of `ops::reshape`.
//! Right with `HeadsFirst` for `HeadsLast` in line 11.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; NumHeads = 4; HeadDim = 2; Batch; }

type HeadsFirst = (Batch, Product<NumHeads, SrcLen>, HeadDim);
type HeadsLast = (Batch, SrcLen, Product<NumHeads, HeadDim>);

fn merge(heads: Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu>, shape: HeadsLast) {
    let _heads = reshape(heads, shape).unwrap();
}

fn main() {}
