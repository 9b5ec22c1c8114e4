//! A sum removes the axis that it names.
//! Right with `S` for the second `Ends` in line 8.
use typed_transformer::prelude::*;

dims! { Ends = 2; EmbedDim = 16; }

fn sum<B: Dim, S: Dim>(weighted: Tensor<(B, S, Ends, EmbedDim), f32, Cpu>) -> Result<(), OpError> {
    let _sum: Tensor<(B, Ends, EmbedDim), f32, Cpu> = sum_over(weighted, axis::<Ends>())?;
    Ok(())
}

fn main() {}
