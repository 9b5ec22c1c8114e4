//! An optimizer state belongs to one model.
//! Covers `Model` of `train::OptimizerState`.
//! Right with `Small` for the second `Large` in line 8.
use typed_transformer::{train::{OptimizerState, Slot}, prelude::*};

type Velocity<Model> = OptimizerState<Model, f32, [Slot<f32>; 1]>;

fn keep<Small: Seq2Seq, Large: Seq2Seq>(memory: Velocity<Large>) {
    let _memory: Velocity<Small> = memory;
}

fn main() {}
