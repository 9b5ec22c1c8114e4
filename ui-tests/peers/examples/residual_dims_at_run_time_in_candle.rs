use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

const EMBED_DIM: usize = 8;

fn add(source: &Tensor, target: &Tensor) -> Result<Tensor> {
    source + target
}

fn main() -> anyhow::Result<()> {
    let (src_len, tgt_len) = (4, if cfg!(feature = "equal_sizes") { 4 } else { 5 });
    let source = Tensor::ones((2, src_len, EMBED_DIM), F32, &Cpu)?;
    let target = Tensor::ones((2, tgt_len, EMBED_DIM), F32, &Cpu)?;
    println!("{:?}", add(&source, &target)?.dims());
    Ok(())
}
