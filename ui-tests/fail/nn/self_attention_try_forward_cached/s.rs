//! Self-attention returns one vector per new position, not per cached one.
//! Covers `S` of `nn::SelfAttention::try_forward_cached`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{nn::KeyValueCache, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

type Extended = Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu>;

fn extend<A: Arch>(
    attention: &SelfAttention<EmbedDim, CausalMask, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    cache: &mut KeyValueCache<Batch, MaxLen, A, f32, Cpu>,
) {
    let extended = attention.try_forward_cached::<_, _, MaxLen>(input, cache);
    let _extended: Result<Extended, OpError> = extended;
}

fn main() {}
