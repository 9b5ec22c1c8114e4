//! The logits of a decoder-only model have its sequence length.
//! Covers `S` of `nn::DecoderOnly::logits`.
//! Right with `SrcLen` for `TgtLen` in line 13.
//! Mutants cover `B` by `Batch` of `nn::DecoderOnly::logits`.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

trait Writer: SingleStack<VocabSize = Letters, EmbedDim = EmbedDim> {}

fn logits<M: Writer>(
    model: &DecoderOnly<M, f32, Cpu>,
    decoded: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, Letters), f32, Cpu>, OpError> {
    model.logits(decoded)
}

fn main() {}
