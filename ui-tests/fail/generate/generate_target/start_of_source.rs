//! Greedy decoding starts with a token of the target vocabulary.
//! Right with `Sounds` for `Letters` in line 12.
use typed_transformer::{generate::{Sampler, generate_target}, prelude::*};

dims! { Letters = 28; Sounds = 28; Max = 16; TgtLen = 4; Batch; }

trait Writer: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = Max, MaxTgtLen = Max> {}

fn write<M: Writer>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, Max, Letters>,
    start: Fin<Letters>,
    end: Fin<Sounds>,
) -> Result<TokenIds<Batch, TgtLen, Sounds>, OpError> {
    generate_target(model, source, start, end, TgtLen, &mut Sampler::greedy())
}

fn main() {}
