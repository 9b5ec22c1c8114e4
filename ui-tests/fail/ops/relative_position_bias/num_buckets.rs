//! A table has a row for each range of distances.
//! Covers `NumBuckets` of `ops::relative_position_bias`.
//! Right with `NumBuckets` for `Ranges` in line 11.
//! Mutants cover `H` by `NumHeads`, `K` by `SrcLen`, `Q` by `TgtLen` of `ops::relative_position_bias`.
use typed_transformer::{ops::{RelativeBuckets, relative_position_bias}, prelude::*};

dims! { NumBuckets = 32; Ranges = 32; NumHeads = 4; OtherHeads = 4; TgtLen = 7; SrcLen = 5; OtherLen = 5; }

fn bias(table: &Tensor<(NumBuckets, NumHeads), f32, Cpu>, buckets: RelativeBuckets) {
    let _bias: Tensor<(NumHeads, TgtLen, SrcLen), f32, Cpu> =
        relative_position_bias::<_, _, Ranges, _, _, _, _>(table, buckets, 0, (TgtLen, SrcLen), NoneTape).unwrap();
}

fn main() {}
