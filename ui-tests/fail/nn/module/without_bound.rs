//! A type parameter of a field has a bound.
//! Right with `EmbedDim` for `Width` in line 9.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; }

#[module]
struct Map<Width, E, D> {
    map: Linear<EmbedDim, Width, E, D>,
}

fn main() {}
