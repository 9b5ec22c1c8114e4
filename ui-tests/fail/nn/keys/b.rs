//! Keys belong to one batch.
//! Covers `B` of `nn::Keys`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::Keys, prelude::*};

dims! { SrcLen = 5; NumHeads = 4; QKDim = 10; VODim = 11; Batch; OtherBatch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = QKDim, VODim = VODim> {}

fn read<A: Small>(keys: Keys<OtherBatch, SrcLen, A, f32, Cpu>) {
    let _keys: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu> = keys;
}

fn main() {}
