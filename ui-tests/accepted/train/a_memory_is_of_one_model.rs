//! A memory is of one model.
//! Proves `Model` of `train::Memory`.
use typed_transformer::{nn::Linear, train::{Memory, Slot}, prelude::*};

dims! { Letters = 28; Sounds = 44; EmbedDim = 8; }

fn forget(memory: Memory<Linear<EmbedDim, Letters, f32, Cpu>, f32, [Slot<f32>; 1]>) {
    let _memory: Memory<Linear<EmbedDim, Letters, f32, Cpu>, f32, _> = memory;
}

fn main() {}
