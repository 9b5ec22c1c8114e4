//! The logits of a model have its target length.
//! Covers `Tgt` of `nn::LM::logits`.
//! Right with `TgtLen` for `SrcLen` in line 13.
//! Mutants cover `B` by `Batch` of `nn::LM::logits`.
use typed_transformer::prelude::*;

dims! { Sounds = 44; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

trait Speech: Seq2Seq<TgtVocab = Sounds, EmbedDim = EmbedDim> {}

fn logits<M: Speech>(
    model: &LM<M, f32, Cpu>,
    decoded: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
) -> Result<Tensor<(Batch, TgtLen, Sounds), f32, Cpu>, OpError> {
    model.logits(decoded)
}

fn main() {}
