//! A model's output holds the encoder's output.
//! Covers `Enc` of `nn::Output`.
//! Right with `SrcLen` for `OtherLen` in line 22.
use typed_transformer::prelude::*;

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; SrcLen = 5; TgtLen = 7;
    OtherLen = 6; EmbedDim = 8; Batch;
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

type Encoded = (Batch, OtherLen, EmbedDim);
type Decoded = (Batch, TgtLen, EmbedDim);
type Logits = (Batch, TgtLen, Sounds);
type Read = Output<Encoded, Decoded, Logits, f32, Cpu>;

fn read<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
) {
    let _output: Read = model.forward(source, target, NoneTape);
}

fn main() {}
