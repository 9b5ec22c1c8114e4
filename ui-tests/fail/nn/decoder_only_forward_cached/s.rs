//! A decoder-only model returns one output per new token, not per cached one.
//! Covers `S` of `nn::DecoderOnly::forward_cached`.
//! Right with `SrcLen` for `TgtLen` in line 15.
//! Mutants cover `B` by `Batch` of `nn::DecoderOnly::forward_cached`.
use typed_transformer::{nn::Cache, prelude::*};

dims! { Letters = 28; MaxLen = 16; NumLayers = 2; SrcLen = 5; TgtLen = 7; Batch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen, NumLayers = NumLayers> {}

type Logits = Tensor<(Batch, SrcLen, Letters), f32, Cpu>;

fn extend<M: Writer>(
    model: &DecoderOnly<M, f32, Cpu>,
    text: &TokenIds<Batch, TgtLen, Letters>,
    cache: &mut Cache<Batch, MaxLen, NumLayers, M, f32, Cpu>,
) {
    let _logits: Result<Logits, OpError> = model.forward_cached(text, cache);
}

fn main() {}
