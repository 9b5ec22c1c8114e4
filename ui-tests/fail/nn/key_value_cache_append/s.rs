//! A key-value cache takes one value per new key.
//! Covers `S` of `nn::KeyValueCache::append`.
//! Right with `SrcLen` for `TgtLen` in line 13.
use typed_transformer::{nn::KeyValueCache, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; TgtLen = 7; NumHeads = 4; QKDim = 10; VODim = 11; Batch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = QKDim, VODim = VODim> {}

fn append<A: Small>(
    cache: &mut KeyValueCache<Batch, MaxLen, A, f32, Cpu>,
    keys: &Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu>,
    values: &Tensor<(Batch, TgtLen, Product<NumHeads, VODim>), f32, Cpu>,
) -> Result<(), OpError> {
    cache.append(keys, values)
}

fn main() {}
