//! A replicated value keeps its dimensions.
//! Covers `X` of `ranks::Replicated`.
//! Right with `SeqLen` for `OtherLen` in line 10.
//! Mutants cover `Axis` by `World` of `ranks::Replicated`.
use typed_transformer::{prelude::*, ranks, ranks::Replicated};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn keep(weights: Replicated<Tensor<(OtherLen,), f32, Cpu>, World>) {
    let _weights: Replicated<Tensor<(SeqLen,), f32, Cpu>, World> = weights;
}

fn main() {}
