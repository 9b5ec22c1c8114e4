//! An embedding decoder uses the cache of its own source.
//! Covers `K` of `nn::EmbeddingDecoder::forward_cached`.
//! Right with `SrcLen` for `TgtLen` in line 19.
//! Mutants cover `B` by `Batch`, `Q` by `TgtLen` of `nn::EmbeddingDecoder::forward_cached`.
use typed_transformer::{nn::{DecoderCache, HasPositionsFor}, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20; NumLayers = 1;
    Batch;
}

type Decoded = Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>;

fn extend<A: HasPositionsFor<TgtDim>>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, A, f32, Cpu>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    cache: &mut DecoderCache<Batch, SrcLen, MaxLen, NumLayers, A, f32, Cpu>,
) {
    let _decoded: Result<Decoded, OpError> = decoder.forward_cached::<_, _, TgtLen>(target, cache);
}

fn main() {}
