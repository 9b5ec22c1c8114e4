//! A decoder-only model has a configuration of one stack.
//! Covers `Self` of `nn::SingleStack`.
//! Right with `SingleStack` for `Arch` in line 6.
use typed_transformer::prelude::*;

fn read<Config: Arch>(_: &DecoderOnly<Config>) {}

fn main() {}
