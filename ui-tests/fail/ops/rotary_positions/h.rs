//! A rotation keeps the heads.
//! Covers `H` of `ops::rotary_positions`.
//! Right with `NumHeads` for `OtherHeads` in line 13.
//! Mutants cover `B` by `Batch`, `HeadDim` by `HeadDim`, `S` by `SrcLen` of `ops::rotary_positions`.
use typed_transformer::{
    ops::{Rotary, rotary_positions},
    prelude::*,
};

dims! { SrcLen = 5; TgtLen = 5; NumHeads = 4; OtherHeads = 4; HeadDim = 6; OddDim = 7; Batch; OtherBatch; }

fn rotate(
    query: Tensor<(Batch, OtherHeads, SrcLen, HeadDim), f32, Cpu>,
) -> Result<Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu>, OpError> {
    rotary_positions(query, 0, Rotary::default())
}

fn main() {}
