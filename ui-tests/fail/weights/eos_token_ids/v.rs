//! The tokens that end a text are those of the model's vocabulary.
//! Covers `V` of `weights::eos_token_ids`.
//! Right with `Letters` for `Sounds` in line 9.
use typed_transformer::{prelude::*, weights::{LoadError, eos_token_ids}};

dims! { Letters = 28; Sounds = 28; }

fn ends() {
    let _ends: Result<Vec<Fin<Letters>>, LoadError> = eos_token_ids::<Sounds>("folder");
}

fn main() {}
