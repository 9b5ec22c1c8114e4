//! A cache of keys and values is of one batch.
//! Proves `B` of `nn::KeyValueCache`.
use typed_transformer::{nn::KeyValueCache, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; Batch; OtherBatch; }

fn mask<A: Arch>(cache: &KeyValueCache<OtherBatch, MaxLen, A, f32, Cpu>) {
    let _mask: AttentionMask<Batch, SrcLen, MaxLen> = cache.mask(SrcLen);
}

fn main() {}
