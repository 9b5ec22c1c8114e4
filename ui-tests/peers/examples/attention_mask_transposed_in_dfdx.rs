use dfdx::prelude::*;

const TGT_LEN: usize = 4;
const SRC_LEN: usize = if cfg!(feature = "equal_sizes") { 4 } else { 5 };
const NUM_HEADS: usize = 4;
const HEAD_DIM: usize = 2;

type Heads<const ROWS: usize, const COLUMNS: usize> =
    Tensor<(usize, Const<NUM_HEADS>, Const<ROWS>, Const<COLUMNS>), f32, Cpu>;
type Mask<const ROWS: usize, const COLUMNS: usize> =
    Tensor<(usize, Const<ROWS>, Const<COLUMNS>), f32, Cpu>;

fn weights(
    target: Heads<TGT_LEN, HEAD_DIM>,
    source: Heads<SRC_LEN, HEAD_DIM>,
    mask: Mask<SRC_LEN, TGT_LEN>,
) -> Heads<TGT_LEN, SRC_LEN> {
    let logits = target.matmul(source.permute::<_, Axes4<0, 1, 3, 2>>());
    let mask = mask.broadcast_like::<_, Axis<1>>(logits.shape());
    (logits + mask).softmax::<Axis<3>>()
}

fn main() {
    let device = Cpu::default();
    let target = device.ones_like(&(2, Const, Const, Const));
    let source = device.ones_like(&(2, Const, Const, Const));
    let mask = device.zeros_like(&(2, Const, Const));
    println!("{:?}", weights(target, source, mask).shape().concrete());
}
