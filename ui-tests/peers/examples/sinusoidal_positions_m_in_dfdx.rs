use dfdx::prelude::*;

const EMBED_DIM: usize = 7;
const SEQ_LEN: usize = 4;

fn positions(device: &Cpu) -> Tensor<Rank2<SEQ_LEN, EMBED_DIM>, f32, Cpu> {
    let pairs = EMBED_DIM / 2;
    let angle = |position: usize, pair: usize| {
        position as f32 / 10_000_f32.powf(pair as f32 / pairs as f32)
    };
    let mut columns = Vec::new();
    for position in 0..SEQ_LEN {
        columns.extend((0..pairs).map(|pair| angle(position, pair).sin()));
        columns.extend((0..pairs).map(|pair| angle(position, pair).cos()));
    }
    device.tensor_from_vec(columns, (Const, Const))
}

fn main() {
    println!("{:?}", positions(&Cpu::default()).shape().concrete());
}
