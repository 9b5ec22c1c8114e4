//! An optimizer state has a fixed number of slots.
//! Covers `Slots` of `train::OptimizerState`.
//! Right with `1` for `2` in line 7.
use typed_transformer::{train::{OptimizerState, Slot}, prelude::*};

fn keep<M: Seq2Seq>(memory: OptimizerState<M, f32, [Slot<f32>; 1]>) {
    let _memory: OptimizerState<M, f32, [Slot<f32>; 2]> = memory;
}

fn main() {}
