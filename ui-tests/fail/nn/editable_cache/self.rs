//! Only a cache whose rows can be reordered serves a beam search.
//! Covers `Self` of `nn::EditableCache`.
//! Right with `Editable` for `Plain` in line 10.
use typed_transformer::{generate::{BeamOptions, beam_search}, nn::{Autoregressive, EditableCache}, prelude::*};

dims! { Letters = 28; SrcLen = 5; Beams; }

trait Editable: Autoregressive<Beams, f32, Cpu, VocabSize = Letters, Cache: EditableCache<Beams>> {}
trait Plain: Autoregressive<Beams, f32, Cpu, VocabSize = Letters, Cache = Vec<f32>> {}
fn write<Model: Plain>(model: &Model, prompt: &TokenIds<Const<1>, SrcLen, Letters>, beams: Beams) {
    let _texts = beam_search(model, prompt, beams, None, 20, BeamOptions::default());
}

fn main() {}
