//! A memory is of one model.
//! Proves `Model` of `train::Memory`.
use typed_transformer::{train::{Memory, Slot}, prelude::*};

type Velocity<Model> = Memory<Model, f32, [Slot<f32>; 1]>;

fn keep<Small: Seq2Seq, Large: Seq2Seq>(memory: Velocity<Large>) {
    let _memory: Velocity<Small> = memory;
}

fn main() {}
