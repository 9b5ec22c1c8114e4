//! A place is in one architecture.
//! Proves `Arch` of `nn::Place`.
use typed_transformer::{nn::{InAttention, Place}, prelude::*};

fn width<P: Place<Arch = Small>, Small: Arch, Large: Arch>() {}

fn check<Small: Arch, Large: Arch>() {
    width::<InAttention<Small>, Small, Large>();
}

fn main() {}
