use candle_core::{D, DType::F32, Device::Cpu, Result, Tensor};
use candle_nn::ops::softmax;

const EMBED_DIM: usize = 8;

fn attend(query: &Tensor, key: &Tensor, value: &Tensor) -> Result<Tensor> {
    softmax(&query.matmul(&key.t()?)?, D::Minus1)?.matmul(value)
}

fn block(query: &Tensor, key: &Tensor) -> Result<Tensor> {
    let answers = attend(query, key, key)?;
    key + answers
}

fn main() -> anyhow::Result<()> {
    let (src_len, tgt_len) = (4, if cfg!(feature = "equal_sizes") { 4 } else { 5 });
    let query = Tensor::ones((2, tgt_len, EMBED_DIM), F32, &Cpu)?;
    let key = Tensor::ones((2, src_len, EMBED_DIM), F32, &Cpu)?;
    println!("{:?}", block(&query, &key)?.dims());
    Ok(())
}
