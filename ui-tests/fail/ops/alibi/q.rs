//! There is a row for each query.
//! Covers `Q` of `ops::alibi`.
//! Right with `TgtLen` for the first `SrcLen` in line 9.
use typed_transformer::{ops::alibi, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; OtherHeads = 4; }

fn bias(device: &Cpu) {
    let _bias: Tensor<(NumHeads, SrcLen, SrcLen), f32, Cpu> = alibi(device, NumHeads, 0, TgtLen, SrcLen);
}

fn main() {}
