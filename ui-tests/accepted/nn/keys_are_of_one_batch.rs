//! Keys are of one batch.
//! Proves `B` of `nn::Keys`.
use typed_transformer::{nn::Keys, prelude::*};

dims! { SrcLen = 5; NumHeads = 4; QKDim = 10; VODim = 11; Batch; OtherBatch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = QKDim, VODim = VODim> {}

fn read<A: Small>(keys: Keys<Batch, SrcLen, A, f32, Cpu>) {
    let _keys: Tensor<(Batch, SrcLen, Product<NumHeads, QKDim>), f32, Cpu> = keys;
}

fn main() {}
