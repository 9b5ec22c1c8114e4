//! A rotation keeps the shape.
//! Covers `Dims` of `ops::rotary_positions`.
//! Right with `NumHeads` for `OtherHeads` in line 13.
//! Mutants cover `HeadDim` by `HeadDim` of `ops::rotary_positions`.
use typed_transformer::{
    ops::{Rotary, rotary_positions},
    prelude::*,
};

dims! { SrcLen = 5; NumHeads = 4; OtherHeads = 4; HeadDim = 6; Batch; }

fn rotate(
    query: Tensor<(Batch, OtherHeads, SrcLen, HeadDim), f32, Cpu>,
) -> Result<Tensor<(Batch, NumHeads, SrcLen, HeadDim), f32, Cpu>, OpError> {
    rotary_positions(query, axis::<SrcLen>(), 0, Rotary::default())
}

fn main() {}
