//! Completion returns one text per prompt of the batch.
//! Covers `B` of `generate::generate_from_prompt`.
//! Right with `Batch` for `OtherBatch` in line 10.
use typed_transformer::{generate::{Sampler, try_generate_from_prompt}, prelude::*};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; OtherLen = 6; Batch; OtherBatch; }

trait Writer: SingleStack<VocabSize = Letters, MaxSeqLen = MaxLen> {}

type Text = TokenIds<OtherBatch, OtherLen, Letters>;

fn write<Small: Writer, Large: Writer>(
    model: &DecoderOnly<Small, f32, Cpu>,
    prompt: &TokenIds<Batch, SrcLen, Letters>,
    sampler: &mut Sampler<Letters>,
) {
    let text = try_generate_from_prompt(model, prompt, None, OtherLen, sampler);
    let _text: Text = text.unwrap();
}

fn main() {}
