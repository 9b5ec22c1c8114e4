//! The logits of a decoder-only model have its batch.
//! Covers `B` of `nn::DecoderOnly::try_logits`.
//! Right with `Batch` for `OtherBatch` in line 12.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

trait Writer: SingleStack<VocabSize = Letters, EmbedDim = EmbedDim> {}

fn logits<M: Writer>(
    model: &DecoderOnly<M, f32, Cpu>,
    decoded: Tensor<(OtherBatch, SrcLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, Letters), f32, Cpu>, OpError> {
    model.try_logits(decoded)
}

fn main() {}
