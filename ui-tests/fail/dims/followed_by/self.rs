//! A tensor has up to 6 axes.
//! Covers `Self` of `dims::FollowedBy`.
//! Right with `Four` for `Five` in line 13.
use typed_transformer::{dims::FollowedBy, prelude::*};

dims! { Batch; SrcLen; TgtLen; NumHeads = 4; EmbedDim = 8; HiddenDim = 32; }

type Four = (Batch, SrcLen, TgtLen, NumHeads);
type Five = (Batch, SrcLen, TgtLen, NumHeads, EmbedDim);

fn are_axes_of_one_tensor<Dims: FollowedBy<(EmbedDim, HiddenDim)>>() {}

const _: fn() = are_axes_of_one_tensor::<Five>;

fn main() {}
