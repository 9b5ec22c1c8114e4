//! Sources are read by the model that writes.
//! Covers `Config` of `nn::EncodedLM`.
//! Right with `M` for `Other` in line 9.
use typed_transformer::{nn::EncodedLM, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

fn keep<'a, M: Seq2Seq, Other: Seq2Seq>(
    encoded: EncodedLM<'a, Batch, SrcLen, Other, f32, Cpu>,
) -> EncodedLM<'a, Batch, SrcLen, M, f32, Cpu> {
    encoded
}

fn main() {}
