//! A shape continues one that has the same other axes.
//! Covers `Dims` of `dims::Continues`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
//! Mutants cover `Self` by `Batch`, `One` by `PastLen`, `Other` by `PresentLen` of `dims::Continues`.
use typed_transformer::{dims::Continues, prelude::*};

dims! { PastLen = 3; PresentLen = 2; EmbedDim = 8; HiddenDim = 32; Batch; }

type Present = (Batch, PresentLen, EmbedDim);
type Past = (Batch, PastLen, HiddenDim);

fn can_follow<Next: Continues<Past, PastLen, PresentLen, WhichAxis>, WhichAxis>() {}

const _: fn() = can_follow::<Present, _>;

fn main() {}
