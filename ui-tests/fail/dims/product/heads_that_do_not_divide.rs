//! The columns of all heads are a whole dimension if the number of heads divides the width.
//! Right with `4` for `3` in line 5.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 8; NumHeads = 3; }

type Columns = Product<NumHeads, Quotient<EmbedDim, NumHeads>>;

struct Attention {
    queries: Linear<EmbedDim, Columns, f32, Cpu>,
}

fn main() {}
