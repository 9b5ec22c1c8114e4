//! A loss is shown after it was summed over the ranks.
//! Right with `f64` for `Term` in line 9.
use typed_transformer::{ranks, ranks::*};

ranks! { World; }

type Term = Partial<f64, World>;

fn show(loss: Term) {
    println!("the loss is {loss}");
}

fn main() {}
