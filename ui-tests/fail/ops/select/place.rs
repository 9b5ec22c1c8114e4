//! The index of a place is one of its axis.
//! Covers `Place` of `ops::select`.
//! Right with `Experts` for `NumHeads` in line 10.
use typed_transformer::{ops::select, prelude::*};

dims! { Experts = 4; NumHeads = 4; EmbedDim = 8; }

fn output(
    outputs: Tensor<(Experts, EmbedDim), f32, Cpu>,
    expert: Fin<NumHeads>,
) -> Tensor<(EmbedDim,), f32, Cpu> {
    select(outputs, axis::<Experts>(), expert)
}

fn main() {}
