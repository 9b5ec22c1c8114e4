//! A draft has the vocabulary of its target.
//! Covers `Draft` of `generate::Speculation`.
//! Covers `Self` of `generate::SameVocabulary`.
//! Covers `Vocab` of `generate::SameVocabulary`.
//! Right with `Letters` for `Sounds` in line 11.
use typed_transformer::{generate::{Sampler, Speculation}, prelude::*};

dims! { Letters = 28; Sounds = 44; SrcLen = 5; }

trait Large: SingleStack<VocabSize = Letters> {}
trait Small: SingleStack<VocabSize = Sounds> {}

fn write<Target: Large, Draft: Small>(
    target: &DecoderOnly<Target, f32, Cpu>,
    draft: &DecoderOnly<Draft, f32, Cpu>,
    prompt: &TokenIds<Const<1>, SrcLen, Letters>,
    sampler: &mut Sampler<Letters>,
) {
    let _text = Speculation::new(target, draft, prompt, None, 4, sampler);
}

fn main() {}
