//! Both operands of a residual have the same tape.
//! Covers `T` of `ops::residual`.
//! Right with `Recorded` for `NoneTape` in line 12.
use typed_transformer::prelude::*;

dims! { SrcLen = 5; EmbedDim = 8; Batch; }

type Recorded = typed_transformer::train::Recording<(), f32, Cpu>;

fn add(
    input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu, Recorded>,
    output: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu, NoneTape>,
) -> Result<Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu, Recorded>, OpError> {
    residual(input, output)
}

fn main() {}
