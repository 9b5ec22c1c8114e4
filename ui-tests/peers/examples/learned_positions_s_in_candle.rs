use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

const MAX_SEQ_LEN: usize = 16;
const SEQ_LEN: usize = 17;
const EMBED_DIM: usize = 8;

fn positions(table: &Tensor) -> Result<Tensor> {
    table.narrow(0, 0, SEQ_LEN)
}

fn main() -> anyhow::Result<()> {
    let table = Tensor::ones((MAX_SEQ_LEN, EMBED_DIM), F32, &Cpu)?;
    println!("{:?}", positions(&table)?.dims());
    Ok(())
}
