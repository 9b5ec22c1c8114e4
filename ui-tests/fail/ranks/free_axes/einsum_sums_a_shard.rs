//! A contraction sums over all of an axis, not over this rank's part.
//! Right with `Batch` for `Part` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { World; }
dims! { EmbedDim = 8; HiddenDim = 16; Batch; }

type Part = Shard<Batch, World>;
type Rows = Part;

fn f(x: Tensor<(Rows, EmbedDim), f32, Cpu>, y: &Tensor<(Rows, HiddenDim), f32, Cpu>) {
    let _ = einsum!(x: (Rows, EmbedDim), y: (Rows, HiddenDim) -> (EmbedDim, HiddenDim)).unwrap();
}

fn main() {}
