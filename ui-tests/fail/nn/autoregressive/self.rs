//! A model that generates text implements `Autoregressive`.
//! Covers `Self` of `nn::Autoregressive`.
//! Right with `DecoderOnly` for `EncoderOnly` in line 11.
use typed_transformer::{generate::{Sampler, generate_from_prompt}, prelude::*};

dims! { Letters = 28; MaxLen = 16; EmbedDim = 8; Layers = 2; Prompt = 5; Batch; }

trait Small: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen, EmbedDim = EmbedDim, NumLayers = Layers> {}

fn write<M: Small>(
    model: &EncoderOnly<M, f32, Cpu>,
    prompt: &TokenIds<Batch, Prompt, Letters>,
    sampler: &mut Sampler<Letters>,
) {
    let _text: TokenIds<Batch, MaxLen, Letters> = generate_from_prompt(model, prompt, None, MaxLen, sampler).unwrap();
}

fn main() {}
