//! Both alternatives have the same shape.
//! Covers `Otherwise` of `ops::where_`.
//! Right with `SrcLen` for `TgtLen` in line 11.
use typed_transformer::{ops::where_, prelude::*};

dims! { SrcLen = 5; TgtLen = 5; }

fn choose(
    mask: &Tensor<(SrcLen,), bool, Cpu>,
    x: Tensor<(SrcLen,), f32, Cpu>,
    y: Tensor<(TgtLen,), f32, Cpu>,
) -> Tensor<(SrcLen,), f32, Cpu> {
    where_(mask, x, y)
}

fn main() {}
