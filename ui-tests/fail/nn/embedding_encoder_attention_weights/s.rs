//! The attention weights of an embedding encoder have its sequence length.
//! Covers `S` of `nn::EmbeddingEncoder::attention_weights`.
//! Right with `SrcLen` for `TgtLen` in line 16.
//! Mutants cover `B` by `Batch` of `nn::EmbeddingEncoder::attention_weights`.
use typed_transformer::{nn::HasPositionsFor, prelude::*};

dims! {
    Letters = 28; Heads = 2; MaxLen = 16; SrcLen = 5; TgtLen = 7; EmbedDim = 8; NumLayers = 1;
    Batch; OtherBatch;
}

type Weights = Tensor<(Batch, Heads, SrcLen, SrcLen), f32, Cpu>;

fn weigh<A: HasPositionsFor<EmbedDim> + Arch<NumHeads = Heads>>(
    encoder: &EmbeddingEncoder<Letters, MaxLen, EmbedDim, NumLayers, A, f32, Cpu>,
    source: &TokenIds<Batch, TgtLen, Letters>,
) -> Result<Vec<Weights>, OpError> {
    encoder.attention_weights(source)
}

fn main() {}
