//! A quotient of sizes is not rounded.
//! Right with `12` for `10` in line 5.
use typed_transformer::prelude::*;

dims! { EmbedDim = 10; NumHeads = 3; HeadDim = EmbedDim::SIZE / NumHeads::SIZE; }

fn main() {}
