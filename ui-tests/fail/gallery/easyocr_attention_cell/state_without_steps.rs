//! One state for a whole sequence is broadcast over the steps before it is added to them.
//! Right with `every_step` for `unsqueezed` in line 18.
//!
//! EasyOCR's attention cell, which *The Typed Transformer* quotes, adds `prev_hidden_proj.unsqueeze(1)` to the
//! projected features of every step; that the two shapes differ stands in no comment.
use typed_transformer::prelude::*;

dims! { HiddenDim = 16; NumSteps; One = 1; Batch; }

fn add(
    batch_h_proj: Tensor<(Batch, NumSteps, HiddenDim), f32, Cpu>,
    prev_hidden_proj: Tensor<(Batch, HiddenDim), f32, Cpu>,
) -> Result<Tensor<(Batch, NumSteps, HiddenDim), f32, Cpu>, OpError> {
    let (batch, steps, width) = *batch_h_proj.shape();
    let unsqueezed = broadcast(prev_hidden_proj.clone(), (batch, One, width), axis::<One>())?;
    let every_step = broadcast(prev_hidden_proj, (batch, steps, width), axis::<NumSteps>())?;
    let _ = (&unsqueezed, &every_step);
    residual(batch_h_proj, unsqueezed)
}

fn main() {}
