//! Self-attention uses the cache of its own batch.
//! Covers `B` of `nn::SelfAttention::try_forward_cached`.
//! Right with `Batch` for `OtherBatch` in line 13.
use typed_transformer::{nn::KeyValueCache, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; EmbedDim = 8; Batch; OtherBatch; }

type Extended = Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>;

fn extend<A: Arch>(
    attention: &SelfAttention<EmbedDim, CausalMask, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    cache: &mut KeyValueCache<OtherBatch, MaxLen, A, f32, Cpu>,
) {
    let extended = attention.try_forward_cached::<_, _, MaxLen>(input, cache);
    let _extended: Result<Extended, OpError> = extended;
}

fn main() {}
