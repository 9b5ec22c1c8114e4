use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

const SRC_LEN: usize = 4;
const TGT_LEN: usize = if cfg!(feature = "equal_sizes") { 4 } else { 5 };
const EMBED_DIM: usize = 8;

fn add(source: &Tensor, target: &Tensor) -> Result<Tensor> {
    source + target
}

fn main() -> anyhow::Result<()> {
    let source = Tensor::ones((2, SRC_LEN, EMBED_DIM), F32, &Cpu)?;
    let target = Tensor::ones((2, TGT_LEN, EMBED_DIM), F32, &Cpu)?;
    println!("{:?}", add(&source, &target)?.dims());
    Ok(())
}
