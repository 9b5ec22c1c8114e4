//! Keys have one sequence length.
//! Covers `Len` of `nn::Keys`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{nn::Keys, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; QKDim = 10; VODim = 11; Batch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = QKDim, VODim = VODim> {}

fn read<A: Small>(keys: Keys<Batch, TgtLen, A, f32, Cpu>) {
    let _keys: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu> = keys;
}

fn main() {}
