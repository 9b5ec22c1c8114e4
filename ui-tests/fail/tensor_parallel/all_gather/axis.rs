//! A gather joins the parts of the ranks that divide the axis.
//! Covers `Axis` of `tensor_parallel::all_gather`.
//! Right with `Tp` for `Other` in line 9.
use typed_transformer::{prelude::*, ranks, ranks::{Ranks, Shard}, tensor_parallel::all_gather};

ranks! { Other = 2; Tp = 2; }
dims! { HiddenDim = 16; SeqLen; Batch; }

fn f(x: Tensor<(Batch, SeqLen, Shard<HiddenDim, Other>), f32, Cpu>, tp: &Ranks<Tp>) {
    let _hidden = all_gather(x, axis::<HiddenDim>(), tp);
}

fn main() {}
