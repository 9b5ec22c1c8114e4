//! The source of greedy decoding is at most as long as the model's maximum.
//! Covers `Src` of `generate::greedy`.
//! Right with `SrcLen` for `Long` in line 18.
use typed_transformer::{generate::greedy, prelude::*};

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; Long = 17; SrcLen = 5;
    TgtLen = 7; Batch;
}

trait Writer:
    Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>
{
}

fn write<M: Writer>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, Long, Letters>,
    start: Fin<Sounds>,
    end: Fin<Sounds>,
) {
    let _written: TokenIds<Batch, TgtLen, Sounds> = greedy(model, source, start, end, TgtLen).unwrap();
}

fn main() {}
