//! Each axis of the smaller shape is one of the larger.
//! Covers `Dims` of `dims::AxesAmong`.
//! Right with `SrcLen` for `TgtLen` in line 8.
use typed_transformer::{dims::AxesAmong, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn can_be_added<Smaller: AxesAmong<(Batch, TgtLen, EmbedDim), Order>, Order>() {}

const _: fn() = can_be_added::<(EmbedDim, SrcLen), _>;

fn main() {}
