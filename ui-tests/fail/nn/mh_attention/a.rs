//! Multi-head attention belongs to one architecture.
//! Covers `A` of `nn::MHAttention`.
//! Right with `Small` for `Large` in line 10.
use typed_transformer::prelude::*;

dims! { SrcDim = 24; TgtDim = 20; }

fn replace<Small: Arch, Large: Arch>(
    attention: &mut MHAttention<TgtDim, SrcDim, SrcDim, TgtDim, Small, f32, Cpu>,
    other: MHAttention<TgtDim, SrcDim, SrcDim, TgtDim, Large, f32, Cpu>,
) {
    *attention = other;
}

fn main() {}
