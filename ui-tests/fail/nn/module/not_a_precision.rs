//! Behind dtype and device stands a precision.
//! Right with `Precision` for `Clone` in line 13.
use typed_transformer::{nn::Precision, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }

#[module]
struct Up<E, D, P: Precision> {
    map: Linear<EmbedDim, HiddenDim, E, D, P>,
}

#[module]
struct Down<E, D, P: Clone> {
    map: Linear<HiddenDim, EmbedDim, E, D, P>,
}

fn main() {}
