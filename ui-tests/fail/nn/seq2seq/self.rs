//! A model of sources and targets has a configuration of both.
//! Covers `Self` of `nn::Seq2Seq`.
//! Right with `Seq2Seq` for `SingleStack` in line 6.
use typed_transformer::prelude::*;

fn translate<Config: SingleStack>(_: &LM<Config>) {}

fn main() {}
