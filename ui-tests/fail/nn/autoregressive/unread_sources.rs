//! An encoder-decoder writes once it has read its sources.
//! Right with `encoded` for `model` in line 15.
use typed_transformer::{generate::{Generation, Sampler}, prelude::*};

dims! { Letters = 28; Sounds = 44; MaxLen = 16; SrcLen = 5; Batch; }

trait Speech: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxLen, MaxTgtLen = MaxLen> {}

fn write<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    start: &TokenIds<Batch, Const<1>, Sounds>,
) -> Result<(), OpError> {
    let encoded = &model.try_encode(source)?;
    let _tokens = Generation::try_new(model, start, None, &mut Sampler::greedy())?;
    let _ = encoded;
    Ok(())
}

fn main() {}
