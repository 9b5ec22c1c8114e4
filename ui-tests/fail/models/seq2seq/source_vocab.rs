//! A model reads a source in its own source vocabulary.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 28; Max = 16; SrcLen = 4; TgtLen = 4; Batch; }

trait Speech: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = Max, MaxTgtLen = Max> {}

fn logits<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Sounds>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
) -> Result<Tensor<(Batch, TgtLen, Sounds), f32, Cpu>, OpError> {
    Ok(model.forward(source, target, NoneTape)?.logit_output)
}

fn main() {}
