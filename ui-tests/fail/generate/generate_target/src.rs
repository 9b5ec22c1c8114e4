//! A source is at most as long as the model's maximum.
//! Covers `Src` of `generate::generate_target`.
//! Right with `SrcLen` for `Long` in line 20.
use typed_transformer::{generate::{Sampler, generate_target}, prelude::*};

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; Long = 17; SrcLen = 5;
    TgtLen = 7; Batch;
}

trait Writer:
    Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>
{
}

type Answer = Result<TokenIds<Batch, TgtLen, Sounds>, OpError>;

fn write<M: Writer>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, Long, Letters>,
    start: Fin<Sounds>,
    end: Fin<Sounds>,
) {
    let _answer: Answer = generate_target(model, source, start, end, TgtLen, &mut Sampler::greedy());
}

fn main() {}
