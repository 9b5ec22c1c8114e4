//! A length is at most the maximum only after it has been checked.
//! Right with `word_len` for `any_len` in line 13.
use typed_transformer::prelude::*;

dims! { MaxLen = 8; EmbedDim = 16; }

fn positions(table: &Tensor<(MaxLen, EmbedDim), f32, Cpu>, word: &str) -> Result<(), OpError> {
    local_dims! {
        let any_len: AnyLen = word.len();
        let word_len: WordLen <= MaxLen = word.len();
    }
    let word_len = word_len?;
    let _rows: Tensor<(_, EmbedDim), f32, Cpu> = learned_positions(table, any_len)?;
    Ok(())
}

fn main() {}
