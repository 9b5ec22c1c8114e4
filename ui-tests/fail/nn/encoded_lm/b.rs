//! Sources that were read belong to one batch.
//! Covers `B` of `nn::EncodedLM`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::{nn::EncodedLM, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn keep<'a, M: Seq2Seq>(
    encoded: EncodedLM<'a, OtherBatch, SrcLen, M, f32, Cpu>,
) -> EncodedLM<'a, Batch, SrcLen, M, f32, Cpu> {
    encoded
}

fn main() {}
