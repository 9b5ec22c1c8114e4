//! The ranks that divide a model all have the whole batch.
//! Right with `World` for `Tp` in line 9.
use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Shard};

ranks! { World; Tp = 2; }

dims! { Rows; }

type Part = Shard<Rows, Tp>;

fn f(model: &DecoderOnly<Model, f32, Cpu>, ids: &TokenIds<Part, SeqLen, VocabSize>) {
    let _ = model.forward(ids, NoneTape).unwrap();
}

fn main() {}
