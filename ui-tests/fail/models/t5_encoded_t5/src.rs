//! What a model has read has the length of the source.
//! Covers `Src` of `models::t5::EncodedT5`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{models::t5::{EncodedT5, T5Config}, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn keep<One: T5Config, Other: T5Config>(read: &EncodedT5<'_, Batch, TgtLen, One, f32, Cpu>) {
    let _read: &EncodedT5<'_, Batch, SrcLen, One, f32, Cpu> = read;
}

fn main() {}
