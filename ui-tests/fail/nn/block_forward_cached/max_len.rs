//! A block uses a cache of its own maximum length.
//! Covers `MaxLen` of `nn::Block::forward_cached`.
//! Right with `MaxLen` for `Short` in line 16.
//! Mutants cover `B` by `Batch`, `S` by `SrcLen` of `nn::Block::forward_cached`.
use typed_transformer::{nn::{Block, KeyValueCache}, prelude::*};

dims! { MaxLen = 16; Short = 4; SrcLen = 5; EmbedDim = 8; Batch; }

type Extended = Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>;

fn extend<A: Arch>(
    block: &Block<EmbedDim, CausalMask, A, f32, Cpu>,
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>,
    cache: &mut KeyValueCache<Batch, MaxLen, A, f32, Cpu>,
) {
    let extended = block.forward_cached::<_, _, Short>(input, cache);
    let _extended: Result<Extended, OpError> = extended;
}

fn main() {}
