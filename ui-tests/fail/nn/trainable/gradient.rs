//! A weight in 8 bits has no gradient.
//! Right with `bias` for `weight` in line 11.
use typed_transformer::{nn::{Linear, Q8}, ops::OpError, train::GradientsOf, prelude::*};

dims! { EmbedDim = 8; HiddenDim = 32; }
type Map = Linear<EmbedDim, HiddenDim, f32, Cpu>;
type Small = Linear<EmbedDim, HiddenDim, f32, Cpu, Q8>;

/// The gradient of a weight.
fn gradient(gradients: &mut GradientsOf<Map, f32, Cpu>, small: &Small) -> Result<(), OpError> {
    let _gradient = gradients.of(&small.weight)?;
    Ok(())
}

fn main() {}
