//! Heads are not positions: rotary positions name their axis, which is not the last one.
//! Covers `S` of `ops::rotary_positions`.
//! Right with `SrcLen` for `TgtLen` in line 14.
use typed_transformer::{
    ops::{Rotary, rotary_positions},
    prelude::*,
};

dims! { SrcLen = 5; TgtLen = 5; NumHeads = 4; HeadDim = 6; Batch; }

fn rotate(
    query: Tensor<(Batch, SrcLen, NumHeads, HeadDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, NumHeads, HeadDim), f32, Cpu>, OpError> {
    rotary_positions(query, axis::<TgtLen>(), 0, Rotary::default())
}

fn main() {}
