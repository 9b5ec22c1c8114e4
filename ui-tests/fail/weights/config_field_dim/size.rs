//! A field of a configuration is a compile-time dimension.
//! Covers `Size` of `weights::ConfigField::dim`.
//! Right with `EmbedDim` for `SeqLen` in line 9.
use typed_transformer::{prelude::*, weights::ConfigField};

dims! { EmbedDim = 8; SeqLen; }

fn config() -> Vec<ConfigField> {
    vec![ConfigField::dim::<SeqLen>("hidden_size")]
}

fn main() {}
