//! A comparison has a tensor or an `f64` on its right side, and `0` is neither.
//! Right with `y` for `0` in line 9.
use typed_transformer::{ops::gt, prelude::{Cpu, OpError, Tensor, dims}};

dims! { SrcLen = 5; }

fn compare(x: &Tensor<(SrcLen,), f32, Cpu>) -> Result<Tensor<(SrcLen,), bool, Cpu>, OpError> {
    let y = x;
    gt(y, 0)
}

fn main() {}
