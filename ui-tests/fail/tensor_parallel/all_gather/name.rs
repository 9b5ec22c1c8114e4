//! A gather joins the parts of an axis that the tensor has.
//! Covers `Name` of `tensor_parallel::all_gather`.
//! Right with `HiddenDim` for `EmbedDim` in line 10.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::all_gather};

ranks! { Tp = 2; }
dims! { EmbedDim = 8; HiddenDim = 16; SeqLen; Batch; }

fn f(x: Tensor<(Batch, SeqLen, Shard<HiddenDim, Tp>), f32, Cpu>, tp: &Ranks<Tp>) {
    let _hidden = all_gather(x, axis::<EmbedDim>(), tp);
}

fn main() {}
