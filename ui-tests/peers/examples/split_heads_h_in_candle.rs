use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

const NUM_HEADS: usize = 4;
const OTHER_HEADS: usize = if cfg!(feature = "equal_sizes") { 4 } else { 3 };
const HEAD_DIM: usize = 2;

fn heads(projected: &Tensor) -> Result<Tensor> {
    let (batch, seq_len, _) = projected.dims3()?;
    let split = projected.reshape((batch, seq_len, NUM_HEADS, HEAD_DIM))?;
    split.transpose(1, 2)
}

fn main() -> anyhow::Result<()> {
    let projected = Tensor::ones((2, 5, OTHER_HEADS * HEAD_DIM), F32, &Cpu)?;
    println!("{:?}", heads(&projected)?.dims());
    Ok(())
}
