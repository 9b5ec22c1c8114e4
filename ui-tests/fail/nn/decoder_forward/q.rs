//! A decoder uses the padding of its target.
//! Covers `Q` of `nn::Decoder::forward`.
//! Right with `TgtLen` for `SrcLen` in line 12.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; SrcDim = 24; TgtDim = 20; NumLayers = 1; Batch; }

fn decode<A: Arch>(
    decoder: &Decoder<TgtDim, SrcDim, NumLayers, A, f32, Cpu>,
    target: Tensor<(Batch, TgtLen, TgtDim), f32, Cpu>,
    source: Tensor<(Batch, SrcLen, SrcDim), f32, Cpu>,
    target_padding: &PaddingMask<Batch, SrcLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Tensor<(Batch, TgtLen, TgtDim), f32, Cpu> {
    decoder.forward(target, source, target_padding, source_padding)
}

fn main() {}
