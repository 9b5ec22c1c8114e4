//! A bias has the heads of its table.
//! Covers `H` of `ops::relative_position_bias`.
//! Right with `NumHeads` for `OtherHeads` in line 8.
use typed_transformer::{ops::{RelativeBuckets, relative_position_bias}, prelude::*};

dims! { Buckets = 32; Ranges = 32; NumHeads = 4; OtherHeads = 4; TgtLen = 7; SrcLen = 5; OtherLen = 5; }

fn bias(table: &Tensor<(Buckets, OtherHeads), f32, Cpu>, buckets: RelativeBuckets) {
    let _bias: Tensor<(NumHeads, TgtLen, SrcLen), f32, Cpu> =
        relative_position_bias(table, buckets, 0, (TgtLen, SrcLen), NoneTape);
}

fn main() {}
