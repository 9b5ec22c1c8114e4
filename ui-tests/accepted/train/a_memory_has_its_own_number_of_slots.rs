//! A memory has its own number of slots.
//! Proves `Slots` of `train::OptimizerState`.
use typed_transformer::{train::{OptimizerState, Slot}, prelude::*};

fn keep<M: Seq2Seq>(memory: OptimizerState<M, f32, [Slot<f32>; 1]>) {
    let _memory: OptimizerState<M, f32, [Slot<f32>; 1]> = memory;
}

fn main() {}
