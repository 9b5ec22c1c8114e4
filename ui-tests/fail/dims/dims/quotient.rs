//! A dimension is declared by a size, a bound or a sum.
//! Right with `Sum` for `Quotient` in line 5.
use typed_transformer::prelude::*;

dims! { NumHeads = 2; EmbedDim = 8; HeadDim: Quotient<EmbedDim, NumHeads>; }

fn main() {}
