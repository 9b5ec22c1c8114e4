//! A rotation keeps the length.
//! Covers `S` of `ops::rotary_positions`.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::{
    ops::{Rotary, rotary_positions},
    prelude::*,
};

dims! { SrcLen = 5; TgtLen = 5; NumHeads = 4; OtherHeads = 4; HeadDim = 6; OddDim = 7; Batch; OtherBatch; }

fn rotate(query: Tensor<(Batch, NumHeads, TgtLen, HeadDim), f32, Cpu>) {
    let _query: Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu> = rotary_positions(query, 0, Rotary::default());
}

fn main() {}
