//! An encoder-decoder is `Autoregressive` once it has read its sources.
//! Right with `encoded` for `model` in line 15.
use typed_transformer::{generate::{Sampler, generate_from_prompt}, prelude::*};

dims! { Letters = 28; Sounds = 44; MaxLen = 16; SrcLen = 5; Batch; }

trait Speech: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxLen, MaxTgtLen = MaxLen> {}

fn write<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    start: &TokenIds<Batch, Const<1>, Sounds>,
) -> Result<TokenIds<Batch, MaxLen, Sounds>, OpError> {
    let encoded = &model.encode(source)?;
    generate_from_prompt(model, start, None, MaxLen, &mut Sampler::greedy())
}

fn main() {}
