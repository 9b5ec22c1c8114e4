//! Generation uses the vocabularies of its model.
//! Covers `Config` of `generate::generate`.
//! Right with `Small` for `Large` in line 20.
use typed_transformer::{generate::{Sampler, try_generate}, prelude::*};

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
    sampler: &mut Sampler<Sounds>,
) {
    let _answer = try_generate::<_, _, _, Large, _, _>(model, source, start, end, TgtLen, sampler);
}

fn main() {}
