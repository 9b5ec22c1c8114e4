//! There is a slope for each head.
//! Covers `H` of `ops::alibi`.
//! Right with `NumHeads` for `OtherHeads` in line 9.
//! Mutants cover `K` by `SrcLen`, `Q` by `TgtLen` of `ops::alibi`.
use typed_transformer::{ops::alibi, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; OtherHeads = 4; }

fn bias(device: &Cpu) -> Result<Tensor<(OtherHeads, TgtLen, SrcLen), f32, Cpu>, OpError> {
    alibi(device, NumHeads, 0, TgtLen, SrcLen)
}

fn main() {}
