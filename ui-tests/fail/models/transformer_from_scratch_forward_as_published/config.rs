//! The published forward pass takes the parameters of its own model.
//! Covers `Config` of `models::transformer_from_scratch::forward_as_published`.
//! Right with `Small` for `Large` in line 26.
//! Mutants cover `B` by `Batch`, `Tgt` by `TgtLen` of `models::transformer_from_scratch::forward_as_published`.
use typed_transformer::{
    models::transformer_from_scratch::{FromScratch, forward_as_published},
    prelude::*,
};

dims! { Letters = 28; Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; Batch; }

trait Published:
    Seq2Seq<Conventions = FromScratch, NumHeads: ConstDim, SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxLen, MaxTgtLen = MaxLen>
{
}

type Logits = Tensor<(Batch, TgtLen, Sounds), f32, Cpu>;

fn logits<Small: Published, Large: Published>(
    model: &LM<Small, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
) -> Result<Logits, OpError> {
    let tape = NoneTape;
    let forward =
        forward_as_published::<_, _, _, Large, f32, _, _>(model, source, target, tape)?;
    Ok(forward.logit_output)
}

fn main() {}
