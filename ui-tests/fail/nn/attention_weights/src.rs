//! Encoder attention weights belong to the source sequence.
//! Covers `Src` of `nn::AttentionWeights`.
//! Right with `SrcLen` for `OtherLen` in line 8.
use typed_transformer::{nn::AttentionWeights, prelude::*};

dims! { Heads = 2; SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

type Source = (Batch, Heads, OtherLen, SrcLen);
type Target = (Batch, Heads, TgtLen, TgtLen);
type Cross = (Batch, Heads, TgtLen, SrcLen);

type Weights = Tensor<(Batch, Heads, SrcLen, SrcLen), f32, Cpu>;

fn first(weights: &AttentionWeights<Source, Target, Cross, f32, Cpu>) {
    let _weights: &Weights = &weights.source[0];
}

fn main() {}
