//! The heads of the keys divide the heads of the queries.
//! Right with `2` for `3` in line 5.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 64; NumHeads = 8; NumKeyValueHeads = 3; }

type GroupSize = Quotient<NumHeads, NumKeyValueHeads>;

struct Attention {
    group: Linear<EmbedDim, GroupSize, f32, Cpu>,
}

fn main() {}
