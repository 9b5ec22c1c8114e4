//! A residual adds heads of the same length.
//! Right with `QLen` for `KLen` in line 8.
use typed_transformer::prelude::*;

dims! { NumHeads = 2; QLen = 5; KLen = 5; HeadDim = 8; Batch; }

type Heads<Len> = Tensor<(Batch, NumHeads, Len, HeadDim), f32, Cpu>;
fn add(input: Heads<QLen>, output: Heads<KLen>) -> Heads<QLen> {
    residual(input, output)
}

fn main() {}
