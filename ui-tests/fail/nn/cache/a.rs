//! A cache belongs to one model.
//! Covers `A` of `nn::Cache`.
//! Right with `Small` for `Large` in line 13.
use typed_transformer::{nn::Cache, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; Batch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn extend<Small: Writer, Large: Writer>(
    model: &DecoderOnly<Small, f32, Cpu>,
    text: &TokenIds<Batch, SrcLen, Letters>,
    cache: &mut Cache<Batch, MaxLen, Large, f32, Cpu>,
) {
    let _logits = model.try_forward_cached(text, cache);
}

fn main() {}
