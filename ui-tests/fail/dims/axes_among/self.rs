//! A tensor that is added has no axis of its own.
//! Covers `Self` of `dims::AxesAmong`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::{dims::AxesAmong, prelude::*};

dims! { SrcLen = 5; HiddenDim = 32; EmbedDim = 8; Batch; }

fn can_be_added<Smaller: AxesAmong<(Batch, SrcLen, EmbedDim), Order>, Order>() {}

const _: fn() = can_be_added::<(HiddenDim,), _>;

fn main() {}
