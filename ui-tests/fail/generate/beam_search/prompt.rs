//! A search continues one prompt, once its length is named.
//! Covers `Prompt` of `generate::beam_search`.
//! Right with `SrcLen` for `TgtLen` in line 15.
use typed_transformer::{generate::{Beam, BeamOptions, beam_search}, prelude::*};

dims! { Letters = 28; SrcLen = 5; TgtLen = 7; Beams = 4; }

trait Writer: SingleStack<VocabSize = Letters> {}

fn write<M: Writer>(
    model: &DecoderOnly<M, f32, Cpu>,
    prompt: &TokenIds<Const<1>, SrcLen, Letters>,
) -> Result<Vec<Beam<Letters>>, OpError> {
    let options = BeamOptions::default();
    beam_search::<Beams, TgtLen, _, _, _>(model, prompt, Beams, None, 20, options)
}

fn main() {}
