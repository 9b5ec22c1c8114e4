use candle_core::{DType::F32, Device::Cpu, Result, Tensor};
use candle_nn::{Linear, Module};

const EMBED_DIM: usize = 8;
const HIDDEN_DIM: usize = if cfg!(feature = "equal_sizes") { 8 } else { 32 };

fn map(linear: &Linear, input: &Tensor) -> Result<()> {
    let mapped = linear.forward(input)?;
    println!("{:?}", mapped.dims());
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let linear = Linear::new(Tensor::ones((HIDDEN_DIM, EMBED_DIM), F32, &Cpu)?, None);
    map(&linear, &Tensor::ones((2, 4, HIDDEN_DIM), F32, &Cpu)?)?;
    Ok(())
}
