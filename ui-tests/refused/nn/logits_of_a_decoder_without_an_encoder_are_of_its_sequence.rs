//! Logits of a decoder without an encoder are of its sequence.
//! Proves `S` of `nn::DecoderOnly::try_logits`.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

trait Writer: SingleStack<VocabSize = Letters, EmbedDim = EmbedDim> {}

fn logits<M: Writer>(
    model: &DecoderOnly<M, f32, Cpu>,
    decoded: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SrcLen, Letters), f32, Cpu>, OpError> {
    model.try_logits(decoded)
}

fn main() {}
