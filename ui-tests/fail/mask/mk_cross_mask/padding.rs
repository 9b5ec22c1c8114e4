//! The padding rule of a cross-attention mask is a `PaddingRule`.
//! Covers `Padding` of `mask::mk_cross_mask`.
//! Right with `PadSourceKeys` for `CausalMask` in line 13.
//! Mutants cover `Batch` by `Batch`, `KLen` by `SrcLen`, `QLen` by `TgtLen` of `mask::mk_cross_mask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; TgtLen = 7; Batch; }

fn mask(
    target_padding: &PaddingMask<Batch, TgtLen>,
    source_padding: &PaddingMask<Batch, SrcLen>,
) -> Result<AttentionMask<Batch, TgtLen, SrcLen>, DimError> {
    mk_cross_mask::<CausalMask, _, _, _>(target_padding, source_padding)
}

fn main() {}
