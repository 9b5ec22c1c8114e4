//! A model begins with a token of the vocabulary that it writes.
use typed_transformer::{generate::greedy, prelude::*};

dims! { Letters = 28; Sounds = 28; Max = 16; TgtLen = 4; Batch; }

trait Writer: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = Max, MaxTgtLen = Max> {}

fn write<M: Writer>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, Max, Letters>,
    start: Fin<Sounds>,
    end: Fin<Sounds>,
) -> TokenIds<Batch, TgtLen, Sounds> {
    greedy(model, source, start, end, TgtLen)
}

fn main() {}
