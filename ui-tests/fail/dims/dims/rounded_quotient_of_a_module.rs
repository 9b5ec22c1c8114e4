//! A quotient of sizes is not rounded, in whichever module they are.
//! Right with `96` for `100` in line 6.
use typed_transformer::prelude::*;

mod sizes {
    typed_transformer::dims! { pub EmbedDim = 100; pub NumHeads = 12; }
}

dims! { HeadDim = sizes::EmbedDim::SIZE / sizes::NumHeads::SIZE; }

fn main() {}
