//! A product gets its name by `type`.
//! Right with `Sum` for `Product` in line 5.
use typed_transformer::prelude::*;

dims! { NumHeads = 2; HeadDim = 4; EmbedDim: Product<NumHeads, HeadDim>; }

fn main() {}
