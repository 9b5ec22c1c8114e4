//! Ranks that divide the heads of one model need not divide those of another.
//! Covers `A` of `tensor_parallel::DividesLayersOf`.
//! Right with `Small` for `Large` in line 9.
use typed_transformer::{prelude::*, tensor_parallel::DividesLayersOf};

fn divide<A: Arch, Tp: DividesLayersOf<A>>() {}

fn f<Small: Arch, Large: Arch, Tp: DividesLayersOf<Small>>() {
    divide::<Large, Tp>();
}

fn main() {}
