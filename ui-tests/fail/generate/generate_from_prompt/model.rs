//! Completion reads prompts for the model that is used.
//! Covers `Model` of `generate::generate_from_prompt`.
//! Right with `Small` for `Large` in line 16.
use typed_transformer::{generate::{Sampler, generate_from_prompt}, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; OtherLen = 6; Batch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}
type Model<M> = DecoderOnly<M, f32, Cpu>;

fn write<Small: Writer, Large: Writer>(
    model: &Model<Small>,
    prompt: &TokenIds<Batch, SrcLen, Letters>,
    sampler: &mut Sampler<Letters>,
) {
    let _text = generate_from_prompt::<_, _, _, Model<Large>, _, _>(model, prompt, None, OtherLen, sampler);
}

fn main() {}
