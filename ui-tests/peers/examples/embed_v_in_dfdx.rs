use dfdx::prelude::*;

const LETTERS: usize = 28;
const SOUNDS: usize = if cfg!(feature = "equal_sizes") {
    28
} else {
    40
};
const EMBED_DIM: usize = 8;

fn embeds(
    table: Tensor<Rank2<LETTERS, EMBED_DIM>, f32, Cpu>,
    ids: Tensor<(usize,), usize, Cpu>,
) -> Tensor<(usize, Const<EMBED_DIM>), f32, Cpu> {
    table.gather(ids)
}

fn main() {
    let device = Cpu::default();
    let sounds = device.tensor_from_vec(vec![0, SOUNDS - 1], (2,));
    println!("{:?}", embeds(device.ones(), sounds).shape().concrete());
}
