//! A source of the published forward pass is at most as long as the model's maximum.
//! Covers `Src` of `models::transformer_from_scratch::forward_as_published`.
//! Right with `SrcLen` for `Long` in line 27.
use typed_transformer::{
    models::transformer_from_scratch::{FromScratch, forward_as_published},
    prelude::*,
};

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; Long = 17; SrcLen = 5;
    TgtLen = 7; Batch;
}

trait Speech:
    Seq2Seq<
        Conventions = FromScratch, NumHeads: ConstDim,
        SrcVocab = Letters,
        TgtVocab = Sounds,
        MaxSrcLen = MaxSrcLen,
        MaxTgtLen = MaxTgtLen,
    >
{
}

fn logits<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, Long, Letters>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
) {
    let _logits = forward_as_published(model, source, target, NoneTape).unwrap().logit_output;
}

fn main() {}
