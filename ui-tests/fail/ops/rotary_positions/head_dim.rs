//! A rotation has pairs of columns.
//! Covers `HeadDim` of `ops::rotary_positions`.
//! Right with `HeadDim` for `OddDim` in line 11.
use typed_transformer::{
    ops::{Rotary, rotary_positions},
    prelude::*,
};

dims! { SrcLen = 5; NumHeads = 4; HeadDim = 6; OddDim = 7; Batch; }

fn rotate(query: Tensor<(Batch, NumHeads, SrcLen, OddDim), f32, Cpu>) {
    let _query = rotary_positions(query, 0, Rotary::default());
}

fn main() {}
