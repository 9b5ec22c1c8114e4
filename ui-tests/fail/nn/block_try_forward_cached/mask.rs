//! A block that sees later positions has no cache.
//! Right with `CausalMask` for `NoMask` in line 8.
use typed_transformer::{nn::{Block, KeyValueCache}, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; EmbedDim = 8; Batch; }

fn extend<A: Arch>(
    block: &Block<EmbedDim, NoMask, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    cache: &mut KeyValueCache<Batch, MaxLen, A, f32, Cpu>,
) {
    let _extended = block.try_forward_cached(input, cache);
}

fn main() {}
