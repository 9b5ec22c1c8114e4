//! A completed text has the requested length.
//! Covers `Len` of `generate::generate_from_prompt`.
//! Right with `OtherLen` for `SrcLen` in line 11.
//! Mutants cover `B` by `Batch` of `generate::generate_from_prompt`.
use typed_transformer::{generate::{Sampler, generate_from_prompt}, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; OtherLen = 6; Batch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}

type Text = TokenIds<Batch, SrcLen, Letters>;

fn write<Small: Writer, Large: Writer>(
    model: &DecoderOnly<Small, f32, Cpu>,
    prompt: &TokenIds<Batch, SrcLen, Letters>,
    sampler: &mut Sampler<Letters>,
) {
    let text = generate_from_prompt(model, prompt, None, OtherLen, sampler);
    let _text: Text = text.unwrap();
}

fn main() {}
