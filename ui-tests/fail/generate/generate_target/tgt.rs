//! A generated answer is at most as long as the model's maximum.
//! Covers `Tgt` of `generate::generate_target`.
//! Right with `TgtLen` for `Long` in line 24.
//! Mutants cover `Config` by `Small` of `generate::generate_target`.
use typed_transformer::{generate::{Sampler, generate_target}, prelude::*};

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; Long = 17; SrcLen = 5;
    TgtLen = 7; Batch;
}

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
    let _answer = generate_target::<_, _, _, Small, _, _>(model, source, start, end, Long, sampler);
}

fn main() {}
