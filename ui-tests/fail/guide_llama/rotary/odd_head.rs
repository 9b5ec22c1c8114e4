//! Rotary positions turn the columns of a head in pairs.
//! Right with `64` for `56` in line 5.
use typed_transformer::{ops::{Rotary, rotary_positions}, prelude::*};

dims! { EmbedDim = 56; NumHeads = 8; QKDim = EmbedDim::SIZE / NumHeads::SIZE; }

fn turned<B: Dim, S: Dim>(heads: Tensor<(B, NumHeads, S, QKDim), f32, Cpu>) {
    let _turned = rotary_positions(heads, 0, Rotary::default());
}

fn main() {}
