use dfdx::prelude::*;

const EMBED_DIM: usize = 8;

fn add(
    source: Tensor<(usize, usize, Const<EMBED_DIM>), f32, Cpu>,
    target: Tensor<(usize, usize, Const<EMBED_DIM>), f32, Cpu>,
) -> Tensor<(usize, usize, Const<EMBED_DIM>), f32, Cpu> {
    source + target
}

fn main() {
    let device = Cpu::default();
    let (src_len, tgt_len) = (4, if cfg!(feature = "equal_sizes") { 4 } else { 5 });
    let source = device.ones_like(&(2, src_len, Const));
    let target = device.ones_like(&(2, tgt_len, Const));
    println!("{:?}", add(source, target).shape().concrete());
}
