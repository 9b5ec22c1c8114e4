//! A generation writes one text per row of its batch.
//! Covers `B` of `generate::Generation`.
//! Right with `Batch` for `Other` in line 9.
use typed_transformer::{generate::Generation, nn::Autoregressive, prelude::*};

dims! { Batch; Other; }

fn keep<'a, Model: Autoregressive<Batch, f32, Cpu> + Autoregressive<Other, f32, Cpu>>(
    texts: Generation<'a, Other, Model, f32, Cpu>,
) {
    let _texts: Generation<'a, Batch, Model, f32, Cpu> = texts;
}

fn main() {}
