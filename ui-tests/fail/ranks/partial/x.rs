//! A term keeps its dimensions.
//! Covers `X` of `ranks::Partial`.
//! Right with `SeqLen` for `OtherLen` in line 10.
//! Mutants cover `Axis` by `World` of `ranks::Partial`.
use typed_transformer::{prelude::*, ranks, ranks::Partial};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn keep(term: Partial<Tensor<(OtherLen,), f32, Cpu>, World>) {
    let _term: Partial<Tensor<(SeqLen,), f32, Cpu>, World> = term;
}

fn main() {}
