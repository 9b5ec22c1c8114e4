//! Splitting heads gives the number of heads that the projection was made for.
//! Covers `H` of `ops::split_heads`.
//! Right with `NumHeads` for `OtherHeads` in line 10.
//! Mutants cover `B` by `Batch`, `HeadDim` by `HeadDim` of `ops::split_heads`.
use typed_transformer::prelude::*;

dims! { NumHeads = 4; OtherHeads = 4; HeadDim = 2; SeqLen; Batch; }

fn heads(
    projected: Tensor<(Batch, SeqLen, Product<OtherHeads, HeadDim>), f32, Cpu>,
) -> Result<Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu>, OpError> {
    split_heads(projected)
}

fn main() {}
