//! The published forward pass takes the parameters of its own model.
//! Covers `M` of `models::transformer_from_scratch::forward_as_published`.
//! Right with `Published` for `Other` in line 20.
use typed_transformer::{
    models::transformer_from_scratch::{FromScratch, forward_as_published},
    prelude::*,
};

dims! { Letters = 28; Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; Batch; }

trait Published:
    Seq2Seq<Conventions = FromScratch, SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxLen, MaxTgtLen = MaxLen>
{
}
trait Other:
    Seq2Seq<Conventions = TypedTransformer, SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxLen, MaxTgtLen = MaxLen>
{
}

fn logits<M: Other>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
) {
    let _logits = forward_as_published(model, source, target, NoneTape).logit_output;
}

fn main() {}
