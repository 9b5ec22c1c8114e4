//! The heads of the keys divide the heads of the queries.
//! Right with `2` for `3` in line 5.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 64; NumHeads = 8; KeyValueHeads = 3; }

type Groups = Quotient<NumHeads, KeyValueHeads>;

struct Attention {
    group: Linear<EmbedDim, Groups, f32, Cpu>,
}

fn main() {}
