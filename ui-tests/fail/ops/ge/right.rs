//! Tensors of the same shape are compared.
//! Covers `Right` of `ops::ge`.
//! Right with `SrcLen` for `TgtLen` in line 10.
use typed_transformer::{ops::ge, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn compare(
    x: &Tensor<(SrcLen,), f32, Cpu>,
    y: &Tensor<(TgtLen,), f32, Cpu>,
) -> Tensor<(SrcLen,), bool, Cpu> {
    ge(x, y)
}

fn main() {}
