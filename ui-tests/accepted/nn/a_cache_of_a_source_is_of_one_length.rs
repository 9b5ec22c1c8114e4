//! A cache of a source is of one length.
//! Proves `Src` of `nn::CrossCache`.
use typed_transformer::{nn::CrossCache, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; TgtLen = 7; Batch; }

fn keep<A: Arch>(cache: CrossCache<Batch, SrcLen, MaxLen, A, f32, Cpu>) {
    let _cache: CrossCache<Batch, SrcLen, MaxLen, A, f32, Cpu> = cache;
}

fn main() {}
