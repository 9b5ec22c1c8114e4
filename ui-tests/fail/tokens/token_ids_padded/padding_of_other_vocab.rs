//! Rows are padded with a token of their own vocabulary.
//! Right with `Letters` for `Sounds` in line 9.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 28; SeqLen; Batch; }

fn ids(
    rows: &[Vec<Fin<Letters>>],
    pad: Fin<Sounds>,
    shape: (Batch, SeqLen),
) -> Result<TokenIds<Batch, SeqLen, Letters>, TokenError> {
    TokenIds::padded(rows, pad, shape)
}

fn main() {}
