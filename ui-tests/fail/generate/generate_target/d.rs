//! Greedy decoding runs on the device of its model.
//! Covers `D` of `generate::generate_target`.
//! Right with `One` for `Other` in line 22.
use typed_transformer::{generate::{Sampler, generate_target}, prelude::*};

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; SrcLen = 5; TgtLen = 7; Batch;
    Other;
}

trait Writer:
    Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>
{
}

fn write<M: Writer, One: Backend<f32>, Other: Backend<f32>>(
    model: &LM<M, f32, One>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    start: Fin<Sounds>,
    end: Fin<Sounds>,
) -> Result<TokenIds<Batch, TgtLen, Sounds>, OpError> {
    generate_target::<_, _, _, _, _, Other>(model, source, start, end, TgtLen, &mut Sampler::greedy())
}

fn main() {}
