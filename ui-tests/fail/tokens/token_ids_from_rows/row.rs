//! A batch is made of rows of tokens.
//! Right with `row` for `token` in line 9.
use typed_transformer::{prelude::*, tokens::Fin};

dims! { VocabSize = 28; }

fn batch(token: Fin<VocabSize>) -> Result<TokenIds<Const<1>, Const<1>, VocabSize>, TokenError> {
    let row = [token];
    TokenIds::from_rows(&[token], (Const::<1>, Const::<1>))
}

fn main() {}
