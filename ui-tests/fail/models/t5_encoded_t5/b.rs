//! What a model has read belongs to one batch.
//! Covers `B` of `models::t5::EncodedT5`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::{models::t5::{EncodedT5, T5Config}, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn keep<One: T5Config, Other: T5Config>(read: &EncodedT5<'_, OtherBatch, SrcLen, One, f32, Cpu>) {
    let _read: &EncodedT5<'_, Batch, SrcLen, One, f32, Cpu> = read;
}

fn main() {}
