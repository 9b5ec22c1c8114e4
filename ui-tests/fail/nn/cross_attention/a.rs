//! Cross-attention belongs to one architecture.
//! Covers `A` of `nn::CrossAttention`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::prelude::*;

dims! { SrcDim = 24; TgtDim = 20; }

fn replace<Small: Arch, Large: Arch>(
    layer: &mut DecoderLayer<TgtDim, SrcDim, Small, f32, Cpu>,
    attention: CrossAttention<TgtDim, SrcDim, Large, f32, Cpu>,
) {
    layer.cross_attention = attention;
}

fn main() {}
