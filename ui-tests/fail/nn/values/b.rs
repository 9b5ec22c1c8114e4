//! Values belong to one batch.
//! Covers `B` of `nn::Values`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{nn::Values, prelude::*};

dims! { SrcLen = 5; NumHeads = 4; QKDim = 10; VODim = 11; Batch; OtherBatch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = QKDim, VODim = VODim> {}

fn read<A: Small>(values: Values<OtherBatch, SrcLen, A, f32, Cpu>) {
    let _values: Tensor<(Batch, SrcLen, Product<NumHeads, VODim>), f32, Cpu> = values;
}

fn main() {}
