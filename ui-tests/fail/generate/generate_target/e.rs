//! Greedy decoding uses the element type of its model.
//! Covers `E` of `generate::generate_target`.
//! Right with `f32` for `f64` in line 19.
use typed_transformer::{generate::{Sampler, generate_target}, prelude::*};

dims! { Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; SrcLen = 5; TgtLen = 7; Batch; }

trait Writer:
    Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>
{
}

fn write<Small: Writer, Large: Writer>(
    model: &LM<Small, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    start: Fin<Sounds>,
    end: Fin<Sounds>,
) -> Result<TokenIds<Batch, TgtLen, Sounds>, OpError> {
    generate_target::<_, _, _, Small, f64, _>(model, source, start, end, TgtLen, &mut Sampler::greedy())
}

fn main() {}
