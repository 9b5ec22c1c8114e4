//! An error names the dimensions of a module without its path.
//! Right with `EvenHeads` for `NumHeads` in line 17.
use typed_transformer::prelude::*;

mod sizes {
    typed_transformer::dims! {
        pub HiddenDim = 8;
        pub NumHeads = 3;
        pub EvenHeads = 4;
    }
}
use sizes::{HiddenDim, EvenHeads, NumHeads};

fn can_be_split<Heads: Divides<HiddenDim>>() {}

fn f(_: EvenHeads, _: NumHeads) {
    can_be_split::<NumHeads>();
}

fn main() {}
