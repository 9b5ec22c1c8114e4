//! Values have one sequence length.
//! Covers `Len` of `nn::Values`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{nn::Values, prelude::*};

dims! { SrcLen = 5; TgtLen = 7; NumHeads = 4; QKDim = 10; VODim = 11; Batch; }

trait Small: Arch<NumHeads = NumHeads, QKDim = QKDim, VODim = VODim> {}

fn read<A: Small>(values: Values<Batch, TgtLen, A, f32, Cpu>) {
    let _values: Tensor<(Batch, SrcLen, Product<NumHeads, VODim>), f32, Cpu> = values;
}

fn main() {}
