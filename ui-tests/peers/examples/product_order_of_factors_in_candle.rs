use candle_core::{DType::F32, Device::Cpu, Result, Tensor};
use candle_nn::{Linear, Module};

const NUM_HEADS: usize = 4;
const HEAD_DIM: usize = 2;
const EMBED_DIM: usize = 8;

fn project(output_proj: &Linear, attended: &Tensor) -> Result<Tensor> {
    output_proj.forward(attended)
}

fn main() -> anyhow::Result<()> {
    let weight = Tensor::ones((EMBED_DIM, NUM_HEADS * HEAD_DIM), F32, &Cpu)?;
    let attended = Tensor::ones((2, 5, HEAD_DIM * NUM_HEADS), F32, &Cpu)?;
    println!(
        "{:?}",
        project(&Linear::new(weight, None), &attended)?.dims()
    );
    Ok(())
}
