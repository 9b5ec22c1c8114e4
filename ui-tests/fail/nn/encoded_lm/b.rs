//! Sources that were read belong to one batch.
//! Covers `B` of `nn::EncodedLM`.
//! Right with `Batch` for `Other` in line 9.
use typed_transformer::{nn::EncodedLM, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Batch; Other; }

fn keep<'a, M: Seq2Seq>(
    encoded: EncodedLM<'a, Other, SrcLen, M, f32, Cpu>,
) {
    let _encoded: EncodedLM<'a, Batch, SrcLen, M, f32, Cpu> = encoded;
}

fn main() {}
