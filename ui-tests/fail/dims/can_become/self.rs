//! A new name does not change the size of an axis.
//! Covers `Self` of `dims::CanBecome`.
//! Right with `EmbedDim` for `HiddenDim` in line 10.
use typed_transformer::{dims::CanBecome, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; NumHeads = 4; HeadDim = 2; }

fn can_be_split<Width: CanBecome<Product<NumHeads, HeadDim>>>() {}

const _: fn() = can_be_split::<HiddenDim>;

fn main() {}
