//! A product has its size at compile time.
//! Right with `Height` for `Batch` in line 7.
use typed_transformer::prelude::*;

dims! { Height = 2; Width = 4; EmbedDim = 8; Batch; }

type Outer = Batch;

fn merge(x: Tensor<(Outer, Width, EmbedDim), f32, Cpu>) {
    let _rows = rearrange!(x: (Outer, Width, EmbedDim) -> (Product<Outer, Width>, EmbedDim)).unwrap();
}

fn main() {}
