//! Keys belong to one architecture.
//! Proves `A` of `nn::Keys`.
use typed_transformer::{nn::Keys, prelude::*};

dims! { SrcLen = 5; NumHeads = 4; OtherHeads = 3; QKDim = 10; Batch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = QKDim> {}
trait Large: Arch<NumHeads = OtherHeads, QKDim = QKDim> {}

fn read<One: Small, Other: Large>(keys: Keys<Batch, SrcLen, One, f32, Cpu>) {
    let _keys: Keys<Batch, SrcLen, One, f32, Cpu> = keys;
}

fn main() {}
