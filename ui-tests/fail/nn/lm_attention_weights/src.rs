//! Attention weights are for a source of at most the model's maximum length.
//! Covers `Src` of `nn::LM::attention_weights`.
//! Right with `SrcLen` for `Long` in line 19.
//! Mutants cover `B` by `Batch` of `nn::LM::attention_weights`.
use typed_transformer::prelude::*;

dims! {
    Letters = 28; Sounds = 44; MaxSrcLen = 16; MaxTgtLen = 12; Long = 17; SrcLen = 5;
    TgtLen = 7; Batch; OtherBatch;
}

trait Speech:
    Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>
{
}

fn weigh<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, Long, Letters>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
) {
    let _weights = model.attention_weights(source, target);
}

fn main() {}
