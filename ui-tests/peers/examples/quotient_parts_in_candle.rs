use candle_core::{D, DType::F32, Device::Cpu, Result, Tensor};
use candle_nn::{Linear, Module, ops::softmax};

const EMBED_DIM: usize = 8;
const NUM_HEADS: usize = 3;

struct Attention {
    query_key_value: Linear,
    output: Linear,
}

impl Attention {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let (batch, seq_len, _) = input.dims3()?;
        let heads = self.query_key_value.forward(input)?;
        let heads = heads.reshape((batch, seq_len, 3, NUM_HEADS, EMBED_DIM / NUM_HEADS))?;
        let heads = heads.permute((2, 0, 3, 1, 4))?.contiguous()?;
        let (query, key, value) = (heads.get(0)?, heads.get(1)?, heads.get(2)?);
        let attended = softmax(&query.matmul(&key.t()?)?, D::Minus1)?.matmul(&value)?;
        let merged = attended
            .transpose(1, 2)?
            .reshape((batch, seq_len, EMBED_DIM))?;
        self.output.forward(&merged)
    }
}

fn main() -> anyhow::Result<()> {
    let attention = Attention {
        query_key_value: Linear::new(Tensor::ones((3 * EMBED_DIM, EMBED_DIM), F32, &Cpu)?, None),
        output: Linear::new(Tensor::ones((EMBED_DIM, EMBED_DIM), F32, &Cpu)?, None),
    };
    let input = Tensor::ones((2, 4, EMBED_DIM), F32, &Cpu)?;
    println!("{:?}", attention.forward(&input)?.dims());
    Ok(())
}
