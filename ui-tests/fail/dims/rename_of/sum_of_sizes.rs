//! A sum has the size of its parts, if both are known at compile time.
//! Right with `Total` for `Other` in line 8.
use typed_transformer::{ops::rename, prelude::*};

dims! { Past = 3; Present = 2; Total = 5; Other = 6; Batch; }

fn joined(x: Tensor<(Batch, Sum<Past, Present>), f32, Cpu>) {
    let _joined = rename(x, axis::<Sum<Past, Present>>(), Other).unwrap();
}

fn main() {}
