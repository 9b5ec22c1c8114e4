//! Decoder attention weights belong to the target sequence.
//! Covers `Tgt` of `nn::AttentionWeights`.
//! Right with `TgtLen` for `OtherLen` in line 9.
use typed_transformer::{nn::AttentionWeights, prelude::*};

dims! { Heads = 2; SrcLen = 5; TgtLen = 7; OtherLen = 6; Batch; }

type Source = (Batch, Heads, SrcLen, SrcLen);
type Target = (Batch, Heads, OtherLen, TgtLen);
type Cross = (Batch, Heads, TgtLen, SrcLen);

type Weights = Tensor<(Batch, Heads, TgtLen, TgtLen), f32, Cpu>;

fn first(weights: &AttentionWeights<Source, Target, Cross, f32, Cpu>) {
    let _weights: &Weights = &weights.target[0];
}

fn main() {}
