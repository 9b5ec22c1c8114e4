use dfdx::prelude::*;

const TGT_LEN: usize = 3;
const SRC_LEN: usize = 4;
const OTHER_LEN: usize = if cfg!(feature = "equal_sizes") { 4 } else { 5 };
const NUM_HEADS: usize = 4;
const HEAD_DIM: usize = 2;

type Heads<const LEN: usize> =
    Tensor<(usize, Const<NUM_HEADS>, Const<LEN>, Const<HEAD_DIM>), f32, Cpu>;

fn attend(query: Heads<TGT_LEN>, key: Heads<SRC_LEN>, value: Heads<OTHER_LEN>) -> Heads<TGT_LEN> {
    let logits = query.matmul(key.permute::<_, Axes4<0, 1, 3, 2>>());
    logits.softmax::<Axis<3>>().matmul(value)
}

fn main() {
    let device = Cpu::default();
    let query = device.ones_like(&(2, Const, Const, Const));
    let key = device.ones_like(&(2, Const, Const, Const));
    let value = device.ones_like(&(2, Const, Const, Const));
    println!("{:?}", attend(query, key, value).shape().concrete());
}
