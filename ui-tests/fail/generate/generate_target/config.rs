//! Greedy decoding uses the vocabularies of its model.
//! Covers `Config` of `generate::generate_target`.
//! Right with `Small` for `Large` in line 20.
//! Mutants cover `B` by `Batch` of `generate::generate_target`.
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
    generate_target::<_, _, _, Large, f32, _>(model, source, start, end, TgtLen, &mut Sampler::greedy())
}

fn main() {}
