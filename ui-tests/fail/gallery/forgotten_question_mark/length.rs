//! `SeqLen::new` gives a `Result<SeqLen, DimError>`, as `SeqLen` has a bound: `?` takes the length out.
//! Right with `)?` for `)` in line 10.
//!
//! The same line is right for `Batch`, which has no bound.
use typed_transformer::prelude::*;

dims! { VocabSize = 28; MaxSeqLen = 16; SeqLen <= MaxSeqLen; Batch; }

fn read(ids: &[usize]) -> Result<(), Box<dyn std::error::Error>> {
    let length = SeqLen::new(7);
    let _tokens: TokenIds<_, _, VocabSize> = TokenIds::from_ids(ids, None, (Batch::new(2), length))?;
    Ok(())
}

fn main() {}
