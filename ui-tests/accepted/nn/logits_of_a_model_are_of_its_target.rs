//! Logits of a model are of its target.
//! Proves `Tgt` of `nn::LM::try_logits`.
use typed_transformer::prelude::*;

dims! { Sounds = 44; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

trait Speech: Seq2Seq<TgtVocab = Sounds, EmbedDim = EmbedDim> {}

fn logits<M: Speech>(
    model: &LM<M, f32, Cpu>,
    decoded: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, Sounds), f32, Cpu>, OpError> {
    model.try_logits(decoded)
}

fn main() {}
