//! The kind of a mask is a `MaskKind`.
//! Covers `Kind` of `mask::mk_mask`.
//! Covers `Self` of `mask::MaskKind`.
//! Right with `CausalMask` for `PadQueriesAndKeys` in line 11.
//! Mutants cover `Batch` by `Batch`, `SeqLen` by `SrcLen` of `mask::mk_mask`.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; Batch; }

fn mask(padding: &PaddingMask<Batch, SrcLen>) -> AttentionMask<Batch, SrcLen, SrcLen> {
    mk_mask::<PadQueriesAndKeys, PadSourceKeys, _, _>(padding)
}

fn main() {}
