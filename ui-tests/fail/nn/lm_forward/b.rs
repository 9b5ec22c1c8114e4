//! A model reads source and target of one batch.
//! Covers `B` of `nn::LM::forward`.
//! Right with `Batch` for `OtherBatch` in line 19.
use typed_transformer::prelude::*;

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; SrcLen = 5; TgtLen = 7; Batch;
    OtherBatch;
}

trait Speech:
    Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>
{
}

fn logits<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<OtherBatch, TgtLen, Sounds>,
) {
    let _logits = model.forward(source, target, NoneTape).logit_output;
}

fn main() {}
