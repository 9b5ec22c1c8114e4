//! A cache has the maximum length of its model.
//! Covers `MaxLen` of `nn::Cache`.
//! Right with `MaxLen` for `Short` in line 13.
use typed_transformer::{nn::{Autoregressive, Cache}, prelude::*};

dims! { Letters = 28; MaxLen = 16; Short = 4; SrcLen = 5; NumLayers = 2; Batch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen, NumLayers = NumLayers> {}

fn extend<Small: Writer, Large: Writer>(
    model: &DecoderOnly<Small, f32, Cpu>,
    text: &TokenIds<Batch, SrcLen, Letters>,
    cache: &mut Cache<Batch, Short, NumLayers, Small, f32, Cpu>,
) {
    let _logits = model.all_logits(text, cache);
}

fn main() {}
