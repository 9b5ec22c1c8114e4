//! There is a row for each query.
//! Covers `Q` of `ops::relative_position_bias`.
//! Right with `TgtLen` for `OtherLen` in line 9.
use typed_transformer::{ops::{RelativeBuckets, relative_position_bias}, prelude::*};

dims! { NumBuckets = 32; Ranges = 32; NumHeads = 4; OtherHeads = 4; TgtLen = 7; SrcLen = 5; OtherLen = 5; }

fn bias(table: &Tensor<(NumBuckets, NumHeads), f32, Cpu>, buckets: RelativeBuckets) {
    let _bias: Tensor<(NumHeads, OtherLen, SrcLen), f32, Cpu> =
        relative_position_bias(table, buckets, 0, (TgtLen, SrcLen), NoneTape);
}

fn main() {}
