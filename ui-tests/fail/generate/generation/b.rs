//! A generation writes one text per row of its batch.
//! Covers `B` of `generate::Generation`.
//! Right with `Batch` for `OtherBatch` in line 9.
use typed_transformer::{generate::Generation, nn::Autoregressive, prelude::*};

dims! { Batch; OtherBatch; }

fn keep<'a, Model: Autoregressive<Batch, f32, Cpu> + Autoregressive<OtherBatch, f32, Cpu>>(
    texts: Generation<'a, OtherBatch, Model, f32, Cpu>,
) -> Generation<'a, Batch, Model, f32, Cpu> {
    texts
}

fn main() {}
