//! The axes of two operands fit into one tensor.
//! Covers `Other` of `dims::FollowedBy`.
//! Right with `Four` for `Five` in line 11.
use typed_transformer::{dims::FollowedBy, prelude::*};

dims! { Batch; SrcLen; TgtLen; NumHeads = 4; EmbedDim = 8; HiddenDim = 32; }

type Four = (Batch, SrcLen, TgtLen, NumHeads);
type Five = (Batch, SrcLen, TgtLen, NumHeads, EmbedDim);

fn are_axes_of_one_tensor<Dims: FollowedBy<Five>>() {}

const _: fn() = are_axes_of_one_tensor::<(EmbedDim, HiddenDim)>;

fn main() {}
