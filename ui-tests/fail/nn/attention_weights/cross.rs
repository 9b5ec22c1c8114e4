//! Cross-attention weights belong to the target.
//! Covers `Cross` of `nn::AttentionWeights`.
//! Right with `TgtLen` for `OtherLen` in line 10.
use typed_transformer::{nn::AttentionWeights, prelude::*};

dims! { Heads = 2; SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

type Source = (Batch, Heads, SrcLen, SrcLen);
type Target = (Batch, Heads, TgtLen, TgtLen);
type Cross = (Batch, Heads, OtherLen, SrcLen);

type Weights = Tensor<(Batch, Heads, TgtLen, SrcLen), f32, Cpu>;

fn first(weights: &AttentionWeights<Source, Target, Cross, f32, Cpu>) {
    let _weights: &Weights = &weights.target_to_source[0];
}

fn main() {}
