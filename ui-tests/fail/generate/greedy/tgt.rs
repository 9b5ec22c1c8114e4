//! Greedy decoding writes at most as many tokens as the model's maximum.
//! Covers `Tgt` of `generate::greedy`.
//! Right with `16` for `17` in line 6.
use typed_transformer::{generate::greedy, prelude::*};

dims! { Letters = 28; Max = 16; TgtLen = 17; Batch; }

trait Writer:
    Seq2Seq<SrcVocab = Letters, TgtVocab = Letters, MaxSrcLen = Max, MaxTgtLen = Max>
{
}

fn write<M: Writer>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, Max, Letters>,
    start: Fin<Letters>,
    end: Fin<Letters>,
) -> Result<TokenIds<Batch, TgtLen, Letters>, OpError> {
    greedy(model, source, start, end, TgtLen)
}

fn main() {}
