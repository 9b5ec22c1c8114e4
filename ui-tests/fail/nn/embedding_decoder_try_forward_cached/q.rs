//! An embedding decoder returns one vector per new token, not per cached one.
//! Covers `Q` of `nn::EmbeddingDecoder::try_forward_cached`.
//! Right with `TgtLen` for `OtherLen` in line 15.
use typed_transformer::{nn::{DecoderCache, HasPositionsFor}, prelude::*};

dims! {
    Sounds = 44; MaxLen = 16; SrcLen = 5; TgtLen = 7; OtherLen = 6; SrcDim = 24; TgtDim = 20;
    NumLayers = 1; Batch;
}

type Decoded = Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>;

fn extend<A: HasPositionsFor<TgtDim>>(
    decoder: &EmbeddingDecoder<Sounds, MaxLen, TgtDim, SrcDim, NumLayers, A, f32, Cpu>,
    target: &TokenIds<Batch, OtherLen, Sounds>,
    cache: &mut DecoderCache<Batch, SrcLen, MaxLen, A, f32, Cpu>,
) {
    let _decoded: Result<Decoded, OpError> = decoder.try_forward_cached::<_, _, SrcLen>(target, cache);
}

fn main() {}
