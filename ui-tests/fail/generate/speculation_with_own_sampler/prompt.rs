//! A speculation with a sampler of its own reads a prompt of any length, once it is named.
//! Covers `Prompt` of `generate::Speculation::with_own_sampler`.
//! Right with `SrcLen` for `TgtLen` in line 14.
use typed_transformer::{generate::{Sampler, Speculation}, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; }

fn write<M: SingleStack<VocabSize = Letters>>(
    target: &DecoderOnly<M, f32, Cpu>,
    draft: &DecoderOnly<M, f32, Cpu>,
    prompt: &TokenIds<Const<1>, SrcLen, Letters>,
    sampler: Sampler<Letters>,
) {
    let _text = Speculation::with_own_sampler::<TgtLen>(target, draft, prompt, None, 4, sampler);
}

fn main() {}
