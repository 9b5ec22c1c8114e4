//! A model's output holds its logits.
//! Covers `Logits` of `nn::Output`.
//! Right with `Sounds` for `Letters` in line 25.
//! Mutants cover `Dec` by `TgtLen`, `Enc` by `SrcLen` of `nn::Output`.
use typed_transformer::prelude::*;

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; SrcLen = 5; TgtLen = 7;
    EmbedDim = 8; Batch;
}

trait Speech:
    Seq2Seq<
        SrcVocab = Letters,
        TgtVocab = Sounds,
        MaxSrcLen = MaxSrcLen,
        MaxTgtLen = MaxTgtLen,
        EmbedDim = EmbedDim,
    >
{
}

type Encoded = (Batch, SrcLen, EmbedDim);
type Decoded = (Batch, TgtLen, EmbedDim);
type Logits = (Batch, TgtLen, Letters);
type Read = Output<Encoded, Decoded, Logits, f32, Cpu>;

fn read<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
) {
    let _output: Read = model.forward(source, target, NoneTape).unwrap();
}

fn main() {}
