//! A model encodes the source, not the target, even if both have the same vocabulary size.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::prelude::*;

dims! { Letters = 28; MaxSeqLen = 16; SrcLen = 4; TgtLen = 4; EmbedDim = 8; Batch; }

trait FromLetters: Seq2Seq<SrcVocab = Letters, MaxSrcLen = MaxSeqLen, EmbedDim = EmbedDim> {}

fn encode<M: FromLetters>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, TgtLen, Letters>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>, OpError> {
    model.encoder.forward(source, NoneTape)
}

fn main() {}
