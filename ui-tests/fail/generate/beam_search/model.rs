//! A search uses the model that is named.
//! Covers `Model` of `generate::beam_search`.
//! Right with `Small` for `Large` in line 16.
use typed_transformer::{generate::{Beam, BeamOptions, beam_search}, prelude::*};

dims! { Letters = 28; SrcLen = 5; Beams = 4; }

trait Writer: SingleStack<VocabSize = Letters> {}
type Model<M> = DecoderOnly<M, f32, Cpu>;

fn write<Small: Writer, Large: Writer>(
    model: &Model<Small>,
    prompt: &TokenIds<Const<1>, SrcLen, Letters>,
) -> Result<Vec<Beam<Letters>>, OpError> {
    let options = BeamOptions::default();
    beam_search::<_, _, Model<Large>, _, _>(model, prompt, Beams, None, 20, options)
}

fn main() {}
