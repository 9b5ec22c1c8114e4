use dfdx::prelude::*;

const MAX_SEQ_LEN: usize = 16;
const SEQ_LEN: usize = 17;
const EMBED_DIM: usize = 8;

fn positions(
    table: Tensor<Rank2<MAX_SEQ_LEN, EMBED_DIM>, f32, Cpu>,
) -> Tensor<Rank2<SEQ_LEN, EMBED_DIM>, f32, Cpu> {
    table.slice((..SEQ_LEN, ..)).realize()
}

fn main() {
    println!("{:?}", positions(Cpu::default().ones()).shape().concrete());
}
