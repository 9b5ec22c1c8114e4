//! A local dimension has one value, and nothing in the prelude makes another one.
//! Right with `clone` for `from_size` in line 8.
use typed_transformer::prelude::*;

fn chain(word: &str) {
    local_dims! { let word_len: WordLen = word.len(); }
    let size = &word_len;
    let _again = WordLen::from_size(size);
}

fn main() {}
