//! A causal mask kind shows no later position.
//! Covers `Self` of `mask::CausalKind`.
//! Right with `CausalMask` for `NoMask` in line 8.
use typed_transformer::{mask::CausalKind, prelude::*};

fn decode<Mask: CausalKind>() {}

const _: fn() = decode::<NoMask>;

fn main() {}
