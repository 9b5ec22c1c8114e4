//! A cache takes one value for each new key.
//! Covers `S` of `nn::KeyValueCache::update`.
//! Right with `Next` for `Prompt` in line 14.
use typed_transformer::{
    nn::{Heads, KeyValueCache, Keys, Values},
    prelude::*,
};

dims! { MaxLen = 16; Prompt; Next; NumHeads = 4; HeadDim = 6; Batch; }

fn update(
    cache: &mut KeyValueCache<Batch, MaxLen, Heads<NumHeads, HeadDim, HeadDim>, f32, Cpu>,
    keys: Keys<Batch, Next, Heads<NumHeads, HeadDim, HeadDim>>,
    values: Values<Batch, Prompt, Heads<NumHeads, HeadDim, HeadDim>>,
) {
    let _whole = cache.update((keys, values));
}

fn main() {}
