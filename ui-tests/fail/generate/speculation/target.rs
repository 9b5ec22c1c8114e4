//! A speculation writes the text of one target.
//! Covers `Target` of `generate::Speculation`.
//! Right with `Target` for `Other` in line 9.
use typed_transformer::{generate::Speculation, nn::Autoregressive, prelude::*};

trait Writer: Autoregressive<Const<1>, f32, Cpu> {}

fn keep<'a, Target: Writer, Other: Writer, Draft: Writer>(
    text: Speculation<'a, Other, Draft, f32, Cpu>,
) -> Speculation<'a, Target, Draft, f32, Cpu> {
    text
}

fn main() {}
