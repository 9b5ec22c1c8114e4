//! A generation belongs to one model.
//! Covers `Model` of `generate::Generation`.
//! Right with `Model` for `Other` in line 9.
use typed_transformer::{generate::Generation, nn::Autoregressive, prelude::*};

dims! { Batch; }

fn keep<'a, Model: Autoregressive<Batch, f32, Cpu>, Other: Autoregressive<Batch, f32, Cpu>>(
    texts: Generation<'a, Batch, Other, f32, Cpu>,
) -> Generation<'a, Batch, Model, f32, Cpu> {
    texts
}

fn main() {}
