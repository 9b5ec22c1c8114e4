use candle_core::{D, DType::F32, Device::Cpu, Result, Tensor};
use candle_nn::ops::softmax;

const TGT_LEN: usize = 3;
const SRC_LEN: usize = 4;
const OTHER_LEN: usize = if cfg!(feature = "equal_sizes") { 4 } else { 5 };
const NUM_HEADS: usize = 4;
const HEAD_DIM: usize = 2;

fn attend(query: &Tensor, key: &Tensor, value: &Tensor) -> Result<Tensor> {
    let logits = query.matmul(&key.t()?)?;
    softmax(&logits, D::Minus1)?.matmul(value)
}

fn main() -> anyhow::Result<()> {
    let query = Tensor::ones((2, NUM_HEADS, TGT_LEN, HEAD_DIM), F32, &Cpu)?;
    let key = Tensor::ones((2, NUM_HEADS, SRC_LEN, HEAD_DIM), F32, &Cpu)?;
    let value = Tensor::ones((2, NUM_HEADS, OTHER_LEN, HEAD_DIM), F32, &Cpu)?;
    println!("{:?}", attend(&query, &key, &value)?.dims());
    Ok(())
}
