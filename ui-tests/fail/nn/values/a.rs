//! Values belong to one architecture.
//! Covers `A` of `nn::Values`.
//! Right with `One` for the second `Other` in line 11.
use typed_transformer::{nn::Values, prelude::*};

dims! { SrcLen = 5; NumHeads = 4; OtherHeads = 3; VODim = 11; Batch; }

trait Small: Arch<NumHeads = NumHeads, VODim = VODim> {}
trait Large: Arch<NumHeads = OtherHeads, VODim = VODim> {}

fn read<One: Small, Other: Large>(values: Values<Batch, SrcLen, Other, f32, Cpu>) {
    let _values: Values<Batch, SrcLen, One, f32, Cpu> = values;
}

fn main() {}
