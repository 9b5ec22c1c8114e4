//! A memory has its own number of slots.
//! Proves `Slots` of `train::Memory`.
use typed_transformer::{train::{Memory, Slot}, prelude::*};

fn keep<M: Seq2Seq>(memory: Memory<M, f32, [Slot<f32>; 1]>) {
    let _memory: Memory<M, f32, [Slot<f32>; 1]> = memory;
}

fn main() {}
