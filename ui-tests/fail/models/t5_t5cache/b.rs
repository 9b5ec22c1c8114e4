//! A cache belongs to one batch.
//! Covers `B` of `models::t5::T5Cache`.
//! Right with `Batch` for `OtherBatch` in line 8.
use typed_transformer::{models::t5::{T5Cache, T5Config}, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn keep<One: T5Config, Other: T5Config>(read: &T5Cache<OtherBatch, SrcLen, One, f32, Cpu>) {
    let _read: &T5Cache<Batch, SrcLen, One, f32, Cpu> = read;
}

fn main() {}
