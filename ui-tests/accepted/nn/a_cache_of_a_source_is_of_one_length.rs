//! A cache of a source is of one length.
//! Proves `Src` of `nn::DecoderCache`.
use typed_transformer::{nn::DecoderCache, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; TgtLen = 7; Batch; }

fn keep<A: Arch>(cache: DecoderCache<Batch, SrcLen, MaxLen, A, f32, Cpu>) {
    let _cache: DecoderCache<Batch, SrcLen, MaxLen, A, f32, Cpu> = cache;
}

fn main() {}
