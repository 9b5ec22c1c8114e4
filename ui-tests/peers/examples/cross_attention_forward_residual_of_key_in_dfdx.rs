use dfdx::{nn::modules::MultiHeadAttention, prelude::*};

const EMBED_DIM: usize = 8;
const NUM_HEADS: usize = 4;

type Attention = MultiHeadAttention<EMBED_DIM, NUM_HEADS, EMBED_DIM, EMBED_DIM, f32, Cpu>;
type Embeds = Tensor<(usize, usize, Const<EMBED_DIM>), f32, Cpu>;

fn block(attention: &Attention, query: Embeds, key: Embeds) -> Embeds {
    let answers = attention.forward((query.clone(), key.clone(), key.clone()));
    key + answers
}

fn main() {
    let device = Cpu::default();
    let (src_len, tgt_len) = (4, if cfg!(feature = "equal_sizes") { 4 } else { 5 });
    let query = device.ones_like(&(2, tgt_len, Const));
    let key = device.ones_like(&(2, src_len, Const));
    let embeds = block(&Attention::build(&device), query, key);
    println!("{:?}", embeds.shape().concrete());
}
