//! An index is one of the axis that it selects from.
//! Covers `I` of `ops::select`.
//! Right with `NumExperts` for `NumHeads` in line 10.
use typed_transformer::{ops::select, prelude::*};

dims! { NumExperts = 4; NumHeads = 4; EmbedDim = 8; }

fn output(
    outputs: Tensor<(NumExperts, EmbedDim), f32, Cpu>,
    expert: Fin<NumHeads>,
) -> Result<Tensor<(EmbedDim,), f32, Cpu>, OpError> {
    select(outputs, axis::<NumExperts>(), expert)
}

fn main() {}
