//! Keys belong to one architecture.
//! Covers `A` of `nn::Keys`.
//! Right with `One` for the second `Other` in line 11.
use typed_transformer::{nn::Keys, prelude::*};

dims! { SrcLen = 5; NumHeads = 4; OtherHeads = 3; QKDim = 10; Batch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = QKDim> {}
trait Large: Arch<NumHeads = OtherHeads, QKDim = QKDim> {}

fn read<One: Small, Other: Large>(keys: Keys<Batch, SrcLen, Other, f32, Cpu>) {
    let _keys: Keys<Batch, SrcLen, One, f32, Cpu> = keys;
}

fn main() {}
