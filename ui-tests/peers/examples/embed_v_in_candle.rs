use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

const LETTERS: usize = 28;
const SOUNDS: u32 = if cfg!(feature = "equal_sizes") {
    28
} else {
    40
};
const EMBED_DIM: usize = 8;

fn embeds(table: &Tensor, ids: &Tensor) -> Result<Tensor> {
    table.embedding(ids)
}

fn main() -> anyhow::Result<()> {
    let table = Tensor::ones((LETTERS, EMBED_DIM), F32, &Cpu)?;
    let sounds = Tensor::new(&[0, SOUNDS - 1], &Cpu)?;
    println!("{:?}", embeds(&table, &sounds)?.dims());
    Ok(())
}
