use dfdx::{nn::modules::MultiHeadAttention, prelude::*};

const EMBED_DIM: usize = 8;
const NUM_HEADS: usize = 3;

type Attention = MultiHeadAttention<EMBED_DIM, NUM_HEADS, EMBED_DIM, EMBED_DIM, f32, Cpu>;

fn main() {
    let device = Cpu::default();
    let attention = Attention::build(&device);
    let input: Tensor<(usize, usize, Const<EMBED_DIM>), f32, Cpu> =
        device.ones_like(&(2, 4, Const));
    println!("{:?}", attention.forward(input).shape().concrete());
}
