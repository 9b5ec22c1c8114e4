//! The mask has a row for each new position.
//! Covers `Q` of `nn::LatentAttention::forward`.
//! Right with `Step` for `Prompt` in line 18.
//! Mutants cover `B` by `Batch`, `K` by `MaxLen` of `nn::LatentAttention::forward`.
use typed_transformer::{
    nn::{CacheCapacity, LatentArch, LatentAttention, LatentCache},
    prelude::*,
};

dims! { Width = 8; MaxLen = 16; Step = 1; Prompt = 2; Batch; OtherBatch; }

trait Small: LatentArch<EmbedDim = Width> {}

fn step<A: Small>(
    layer: &LatentAttention<A, f32, Cpu>,
    x: Tensor<(Batch, Step, Width), f32, Cpu>,
    cache: &mut LatentCache<Batch, MaxLen, A>,
    mask: &AttentionMask<Batch, Prompt, CacheCapacity<MaxLen>>,
) -> Result<Tensor<(Batch, Step, Width), f32, Cpu>, OpError> {
    layer.forward(x, cache.len(), mask, |new| cache.update(new))
}

fn main() {}
