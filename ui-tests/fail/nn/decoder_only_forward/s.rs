//! A decoder-only model keeps the sequence length.
//! Covers `S` of `nn::DecoderOnly::forward`.
//! Right with `SrcLen` for `TgtLen` in line 13.
//! Mutants cover `B` by `Batch` of `nn::DecoderOnly::forward`.
use typed_transformer::prelude::*;

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; TgtLen = 7; Batch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn logits<M: Writer>(
    model: &DecoderOnly<M, f32, Cpu>,
    text: &TokenIds<Batch, TgtLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, Letters), f32, Cpu>, OpError> {
    model.forward(text, NoneTape)
}

fn main() {}
