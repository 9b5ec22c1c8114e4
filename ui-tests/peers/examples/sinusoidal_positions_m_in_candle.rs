use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

const EMBED_DIM: usize = 7;
const SEQ_LEN: usize = 4;

fn positions() -> Result<Tensor> {
    let pairs = EMBED_DIM / 2;
    let rates: Vec<_> = (0..pairs)
        .map(|pair| 10_000_f32.powf(-(pair as f32) / pairs as f32))
        .collect();
    let places = Tensor::arange(0, SEQ_LEN as u32, &Cpu)?.to_dtype(F32)?;
    let angles = places
        .unsqueeze(1)?
        .broadcast_mul(&Tensor::new(rates, &Cpu)?)?;
    Tensor::cat(&[angles.sin()?, angles.cos()?], 1)
}

fn main() -> anyhow::Result<()> {
    let positions = positions()?;
    println!("{:?}", positions.dims());
    let embeds = Tensor::ones((2, SEQ_LEN, EMBED_DIM), F32, &Cpu)?;
    println!("{:?}", embeds.broadcast_add(&positions)?.dims());
    Ok(())
}
