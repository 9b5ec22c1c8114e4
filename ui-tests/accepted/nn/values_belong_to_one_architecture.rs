//! Values belong to one architecture.
//! Proves `A` of `nn::Values`.
use typed_transformer::{nn::Values, prelude::*};

dims! { SrcLen = 5; NumHeads = 4; OtherHeads = 3; VODim = 11; Batch; }

trait Small: Arch<NumHeads = NumHeads, VODim = VODim> {}
trait Large: Arch<NumHeads = OtherHeads, VODim = VODim> {}

fn read<One: Small, Other: Large>(values: Values<Batch, SrcLen, One, f32, Cpu>) {
    let _values: Values<Batch, SrcLen, One, f32, Cpu> = values;
}

fn main() {}
