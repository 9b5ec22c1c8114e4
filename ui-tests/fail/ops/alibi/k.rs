//! There is a column for each key.
//! Covers `K` of `ops::alibi`.
//! Right with `SrcLen` for the second `TgtLen` in line 9.
use typed_transformer::{ops::alibi, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; OtherHeads = 4; }

fn bias(device: &Cpu) {
    let _bias: Tensor<(NumHeads, TgtLen, TgtLen), f32, Cpu> = alibi(device, NumHeads, 0, TgtLen, SrcLen);
}

fn main() {}
