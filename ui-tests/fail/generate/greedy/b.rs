//! Greedy decoding returns one sequence per source of the batch.
//! Covers `B` of `generate::greedy`.
//! Right with `Batch` for `OtherBatch` in line 18.
use typed_transformer::{generate::greedy, prelude::*};

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; SrcLen = 5; TgtLen = 7; Batch;
    OtherBatch;
}

trait Writer:
    Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>
{
}

fn write<M: Writer>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<OtherBatch, SrcLen, Letters>,
    start: Fin<Sounds>,
    end: Fin<Sounds>,
) {
    let _written: TokenIds<Batch, TgtLen, Sounds> = greedy(model, source, start, end, TgtLen);
}

fn main() {}
