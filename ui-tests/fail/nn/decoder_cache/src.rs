//! A decoder cache belongs to one source length.
//! Covers `Src` of `nn::DecoderCache`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{nn::DecoderCache, prelude::*};

dims! { MaxLen = 16; SrcLen = 5; TgtLen = 7; NumLayers = 2; Batch; }

fn keep<A: Arch>(cache: DecoderCache<Batch, TgtLen, MaxLen, NumLayers, A, f32, Cpu>) {
    let _cache: DecoderCache<Batch, SrcLen, MaxLen, NumLayers, A, f32, Cpu> = cache;
}

fn main() {}
