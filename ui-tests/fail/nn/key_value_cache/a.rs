//! A key-value cache belongs to one architecture.
//! Covers `A` of `nn::KeyValueCache`.
//! Right with `Small` for `Large` in line 11.
use typed_transformer::{nn::KeyValueCache, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; EmbedDim = 8; Batch; }

fn extend<Small: Arch, Large: Arch>(
    attention: &SelfAttention<EmbedDim, CausalMask, Small, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    cache: &mut KeyValueCache<Batch, MaxLen, Large, f32, Cpu>,
) {
    let _extended = attention.try_forward_cached(input, cache);
}

fn main() {}
