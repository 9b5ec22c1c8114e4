//! A decoder-only model keeps the batch.
//! Covers `B` of `nn::DecoderOnly::forward`.
//! Right with `Batch` for `OtherBatch` in line 12.
use typed_transformer::prelude::*;

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; Batch; OtherBatch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn logits<M: Writer>(
    model: &DecoderOnly<M, f32, Cpu>,
    text: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, Letters), f32, Cpu> {
    model.forward(text, NoneTape)
}

fn main() {}
