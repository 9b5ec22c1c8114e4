//! Ranks divide a dimension if the type says how many they are.
//! Covers `Self` of `ranks::ConstRankAxis`.
//! Right with `Tp` for `World` in line 12.
use typed_transformer::{prelude::*, ranks, ranks::ConstRankAxis};

ranks! { World; Data; Tp = 2; Other = 2; }
dims! { EmbedDim = 8; Letters = 28; Sounds = 28; SeqLen; OtherLen; Batch; Rows; }

fn divide<Axis: ConstRankAxis>() {}

fn f() {
    divide::<World>();
}

fn main() {}
