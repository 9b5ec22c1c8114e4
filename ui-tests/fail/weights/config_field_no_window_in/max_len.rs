//! A window is compared with a length that is known at compile time.
//! Covers `MaxLen` of `weights::ConfigField::no_window_in`.
//! Right with `MaxSeqLen` for `SeqLen` in line 9.
use typed_transformer::{prelude::*, weights::ConfigField};

dims! { MaxSeqLen = 8; SeqLen; }

fn config() -> Vec<ConfigField> {
    vec![ConfigField::no_window_in::<SeqLen>("mistral", "sliding_window")]
}

fn main() {}
