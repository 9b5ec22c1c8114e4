//! The gate opens the hidden vector, not the other way round.
//! Right with `gate` for the first `hidden` in line 14.
use typed_transformer::{ops::{mul, rename}, prelude::*};

dims! { GateDim = 172; HiddenDim = 172; }

fn opening<B: Dim, S: Dim>(
    gate: Tensor<(B, S, GateDim), f32, Cpu>,
) -> Tensor<(B, S, HiddenDim), f32, Cpu> {
    rename(mul(gate.clone().sigmoid(), gate), axis::<GateDim>(), HiddenDim)
}

fn gated<B: Dim, S: Dim>(gate: Tensor<(B, S, GateDim), f32, Cpu>, hidden: Tensor<(B, S, HiddenDim), f32, Cpu>) {
    let _gated = mul(opening(hidden.clone()), hidden);
}

fn main() {}
