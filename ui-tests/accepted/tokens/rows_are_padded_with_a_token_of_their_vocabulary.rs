//! A row is filled up with a token of the vocabulary of its tokens.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 28; SeqLen; Batch; }

fn ids(
    rows: &[Vec<Fin<Letters>>],
    pad: Fin<Letters>,
    shape: (Batch, SeqLen),
) -> Result<TokenIds<Batch, SeqLen, Letters>, TokenError> {
    TokenIds::padded(rows, pad, shape)
}

fn main() {}
