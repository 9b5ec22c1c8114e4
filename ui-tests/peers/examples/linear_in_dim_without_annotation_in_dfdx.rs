use dfdx::{nn::modules::Linear, prelude::*};

const EMBED_DIM: usize = 8;
const HIDDEN_DIM: usize = if cfg!(feature = "equal_sizes") { 8 } else { 32 };

fn map(
    linear: &Linear<EMBED_DIM, HIDDEN_DIM, f32, Cpu>,
    input: Tensor<(usize, usize, Const<HIDDEN_DIM>), f32, Cpu>,
) {
    let mapped = linear.forward(input);
    println!("{:?}", mapped.shape().concrete());
}

fn main() {
    let device = Cpu::default();
    map(&Linear::build(&device), device.ones_like(&(2, 4, Const)));
}
