//! Characters are tokens of their vocabulary.
//! Proves `V` of `tokens::Characters`.
use typed_transformer::{tokens::Characters, prelude::*};

dims! { Letters = 28; Sounds = 44; }

fn first(alphabet: &Characters<Sounds>) {
    let _letters: Result<Vec<Fin<Letters>>, TokenError> = alphabet.encode("a");
}

fn main() {}
