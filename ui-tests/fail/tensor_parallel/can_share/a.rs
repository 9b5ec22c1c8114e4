//! Ranks that divide the heads of one model need not divide those of another.
//! Covers `A` of `tensor_parallel::CanShare`.
//! Right with `Small` for `Large` in line 9.
use typed_transformer::{prelude::*, tensor_parallel::CanShare};

fn share<A: Arch, Tp: CanShare<A>>() {}

fn f<Small: Arch, Large: Arch, Tp: CanShare<Small>>() {
    share::<Large, Tp>();
}

fn main() {}
