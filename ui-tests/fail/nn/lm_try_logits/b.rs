//! The logits of a model have its batch.
//! Covers `B` of `nn::LM::try_logits`.
//! Right with `Batch` for `OtherBatch` in line 12.
use typed_transformer::prelude::*;

dims! { Sounds = 44; TgtLen = 7; EmbedDim = 8; Batch; OtherBatch; }

trait Speech: Seq2Seq<TgtVocab = Sounds, EmbedDim = EmbedDim> {}

fn logits<M: Speech>(
    model: &LM<M, f32, Cpu>,
    decoded: Tensor<(OtherBatch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, Sounds), f32, Cpu>, OpError> {
    model.try_logits(decoded)
}

fn main() {}
