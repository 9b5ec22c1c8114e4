//! The gate opens the hidden vector, not the other way round.
//! Right with `gate` for the first `hidden` in line 17.
use typed_transformer::{ops::{Activation, Silu, mul, rename}, prelude::*};

dims! { GateDim = 172; HiddenDim = 172; }

fn opening<B: Dim, S: Dim>(
    gate: Tensor<(B, S, GateDim), f32, Cpu>,
) -> Result<Tensor<(B, S, HiddenDim), f32, Cpu>, OpError> {
    rename(Silu::apply(gate)?, axis::<GateDim>(), HiddenDim)
}

fn gated<B: Dim, S: Dim>(
    gate: Tensor<(B, S, GateDim), f32, Cpu>,
    hidden: Tensor<(B, S, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(B, S, HiddenDim), f32, Cpu>, OpError> {
    mul(opening(hidden.clone())?, hidden)
}

fn main() {}
