//! The attention weights of a decoder-only model have its sequence length.
//! Covers `S` of `nn::DecoderOnly::attention_weights`.
//! Right with `SrcLen` for `TgtLen` in line 15.
//! Mutants cover `B` by `Batch` of `nn::DecoderOnly::attention_weights`.
use typed_transformer::prelude::*;

dims! { Letters = 28; Heads = 2; MaxLen = 16; SrcLen = 5; TgtLen = 7; Batch; OtherBatch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen, NumHeads = Heads> {}

type Weights = Tensor<(Batch, Heads, SrcLen, SrcLen), f32, Cpu>;

fn weigh<M: Writer>(
    model: &DecoderOnly<M, f32, Cpu>,
    text: &TokenIds<Batch, TgtLen, Letters>,
) -> Result<Vec<Weights>, OpError> {
    model.attention_weights(text)
}

fn main() {}
