//! A model and its teacher see the same batch.
//! Covers `Dims` of `ops::kl_divergence`.
//! Right with `Batch` for `Other` in line 10.
use typed_transformer::{ops::kl_divergence, prelude::*};

dims! { Letters = 28; SrcLen = 5; Batch; Other; }

fn distill(
    logits: Tensor<(Batch, SrcLen, Letters), f32, Cpu>,
    teacher: &Tensor<(Other, SrcLen, Letters), f32, Cpu>,
    padding: &PaddingMask<Batch, SrcLen>,
) {
    let _loss = kl_divergence(logits, teacher, padding, Reduction::MeanAll);
}

fn main() {}
