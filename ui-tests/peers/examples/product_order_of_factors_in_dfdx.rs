use dfdx::{nn::modules::Linear, prelude::*};

const NUM_HEADS: usize = 4;
const HEAD_DIM: usize = 2;
const HEADS: usize = NUM_HEADS * HEAD_DIM;
const SWAPPED: usize = HEAD_DIM * NUM_HEADS;
const EMBED_DIM: usize = 8;

fn project(
    output_proj: &Linear<HEADS, EMBED_DIM, f32, Cpu>,
    attended: Tensor<(usize, usize, Const<SWAPPED>), f32, Cpu>,
) -> Tensor<(usize, usize, Const<EMBED_DIM>), f32, Cpu> {
    output_proj.forward(attended)
}

fn main() {
    let device = Cpu::default();
    let attended = device.ones_like(&(2, 5, Const));
    let embeds = project(&Linear::build(&device), attended);
    println!("{:?}", embeds.shape().concrete());
}
