//! A cache belongs to one batch.
//! Covers `B` of `nn::Cache`.
//! Right with `Batch` for `Other` in line 13.
use typed_transformer::{nn::Cache, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; Batch; Other; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn extend<Small: Writer, Large: Writer>(
    model: &DecoderOnly<Small, f32, Cpu>,
    text: &TokenIds<Batch, SrcLen, Letters>,
    cache: &mut Cache<Other, MaxLen, Small, f32, Cpu>,
) {
    let _logits = model.try_forward_cached(text, cache);
}

fn main() {}
