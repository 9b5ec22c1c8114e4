//! A prompt is at most as long as the model's maximum.
//! Covers `Prompt` of `generate::generate_from_prompt`.
//! Right with `SrcLen` for `Long` in line 12.
use typed_transformer::{generate::{Sampler, generate_from_prompt}, prelude::*};

dims! { Letters = 28; MaxLen = 16; Long = 17; SrcLen = 5; OtherLen = 6; Batch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}

fn write<M: Writer>(
    model: &DecoderOnly<M, f32, Cpu>,
    prompt: &TokenIds<Batch, Long, Letters>,
    sampler: &mut Sampler<Letters>,
) {
    let _text = generate_from_prompt(model, prompt, None, OtherLen, sampler);
}

fn main() {}
