//! One rank's rows are not the batch.
//! Right with `Batch` for `Part` in line 10.
use typed_transformer::{prelude::*, ranks, ranks::Shard};

ranks! { World; }
dims! { Batch; }

type Part = Shard<Batch, World>;

fn show(losses: Tensor<(Part,), f32, Cpu>) {
    let _losses: Tensor<(Batch,), f32, Cpu> = losses;
}

fn main() {}
