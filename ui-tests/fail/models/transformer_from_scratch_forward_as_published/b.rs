//! The published forward pass reads source and target of one batch.
//! Covers `B` of `models::transformer_from_scratch::forward_as_published`.
//! Right with `Batch` for `OtherBatch` in line 28.
use typed_transformer::{
    models::transformer_from_scratch::{FromScratch, forward_as_published},
    prelude::*,
};

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; SrcLen = 5; TgtLen = 7; Batch;
    OtherBatch;
}

trait Speech:
    Seq2Seq<
        Conventions = FromScratch,
        SrcVocab = Letters,
        TgtVocab = Sounds,
        MaxSrcLen = MaxSrcLen,
        MaxTgtLen = MaxTgtLen,
    >
{
}

fn logits<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<OtherBatch, TgtLen, Sounds>,
) {
    let _logits = forward_as_published(model, source, target, NoneTape).logit_output;
}

fn main() {}
