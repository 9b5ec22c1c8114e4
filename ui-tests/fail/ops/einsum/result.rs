//! The contraction has the axes that are written for it.
//! Right with `KLen` for the second `QLen` in line 7.
use typed_transformer::prelude::*;

dims! { QLen = 5; KLen = 7; HeadDim = 8; Batch; }

type Scores = Tensor<(Batch, QLen, QLen), f32, Cpu>;

fn scores(q: Tensor<(Batch, QLen, HeadDim), f32, Cpu>, k: Tensor<(Batch, KLen, HeadDim), f32, Cpu>) {
    let _scores: Scores = einsum!(q: (Batch, QLen, HeadDim), k: (Batch, KLen, HeadDim) -> (Batch, QLen, KLen)).unwrap();
}

fn main() {}
