use dfdx::prelude::*;

const NUM_HEADS: usize = 4;
const OTHER_HEADS: usize = if cfg!(feature = "equal_sizes") { 4 } else { 3 };
const HEAD_DIM: usize = 2;
const PROJECTED_DIM: usize = OTHER_HEADS * HEAD_DIM;
const SEQ_LEN: usize = 5;
const BATCH: usize = 2;

fn heads(
    projected: Tensor<Rank3<BATCH, SEQ_LEN, PROJECTED_DIM>, f32, Cpu>,
) -> Tensor<Rank4<BATCH, NUM_HEADS, SEQ_LEN, HEAD_DIM>, f32, Cpu> {
    let split = projected.reshape::<Rank4<BATCH, SEQ_LEN, NUM_HEADS, HEAD_DIM>>();
    split.permute::<_, Axes4<0, 2, 1, 3>>()
}

fn main() {
    println!("{:?}", heads(Cpu::default().ones()).shape().concrete());
}
