use dfdx::prelude::*;

const SRC_LEN: usize = 4;
const TGT_LEN: usize = if cfg!(feature = "equal_sizes") { 4 } else { 5 };
const EMBED_DIM: usize = 8;

fn add(
    source: Tensor<(usize, Const<SRC_LEN>, Const<EMBED_DIM>), f32, Cpu>,
    target: Tensor<(usize, Const<TGT_LEN>, Const<EMBED_DIM>), f32, Cpu>,
) -> Tensor<(usize, Const<SRC_LEN>, Const<EMBED_DIM>), f32, Cpu> {
    source + target
}

fn main() {
    let device = Cpu::default();
    let source = device.ones_like(&(2, Const, Const));
    let target = device.ones_like(&(2, Const, Const));
    println!("{:?}", add(source, target).shape().concrete());
}
