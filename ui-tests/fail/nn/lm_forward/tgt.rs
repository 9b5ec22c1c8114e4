//! A target is at most as long as the model's maximum.
//! Covers `Tgt` of `nn::LM::forward`.
//! Right with `TgtLen` for `Long` in line 19.
use typed_transformer::prelude::*;

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; Long = 17; SrcLen = 5;
    TgtLen = 7; Batch;
}

trait Speech:
    Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>
{
}

fn logits<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<Batch, Long, Sounds>,
) {
    let _logits = model.forward(source, target, NoneTape).unwrap().logit_output;
}

fn main() {}
