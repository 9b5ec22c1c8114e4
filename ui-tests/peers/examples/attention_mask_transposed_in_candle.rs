use candle_core::{D, DType::F32, Device::Cpu, Result, Tensor};
use candle_nn::ops::softmax;

const TGT_LEN: usize = 4;
const SRC_LEN: usize = if cfg!(feature = "equal_sizes") { 4 } else { 5 };
const NUM_HEADS: usize = 4;
const HEAD_DIM: usize = 2;

fn weights(target: &Tensor, source: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let logits = target.matmul(&source.t()?)?;
    softmax(&logits.broadcast_add(&mask.unsqueeze(1)?)?, D::Minus1)
}

fn main() -> anyhow::Result<()> {
    let target = Tensor::ones((2, NUM_HEADS, TGT_LEN, HEAD_DIM), F32, &Cpu)?;
    let source = Tensor::ones((2, NUM_HEADS, SRC_LEN, HEAD_DIM), F32, &Cpu)?;
    let mask = Tensor::zeros((2, SRC_LEN, TGT_LEN), F32, &Cpu)?;
    println!("{:?}", weights(&target, &source, &mask)?.dims());
    Ok(())
}
