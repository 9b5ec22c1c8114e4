//! A model that is bound to its sources reads one for each beam, by rules too.
//! Covers `Beams` of `generate::beam_search_by`.
//! Right with `Beams` for `Batch` in line 13.
//! Mutants cover `Prompt` by `TgtLen`, `Model` by `Small` of `generate::beam_search_by`.
use typed_transformer::{generate::{Beam, BeamOptions, beam_search_by}, nn::EncodedLM, prelude::*};

dims! { Letters = 28; Sounds = 44; SrcLen = 5; TgtLen = 1; Batch; Beams; }

trait Writer: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds> {}

type Found = Result<Vec<Beam<Sounds>>, OpError>;
/// The model has read its sources.
type Encoded<'a, M> = EncodedLM<'a, Batch, SrcLen, M, f32, Cpu>;

fn write<Small: Writer, Large: Writer>(
    model: &Encoded<'_, Small>,
    start: &TokenIds<Const<1>, TgtLen, Sounds>,
    beams: Beams,
) -> Found {
    let (options, rules) = (BeamOptions::default(), |_: &[Fin<Sounds>], _: &mut [f64]| {});
    beam_search_by::<_, TgtLen, Encoded<'_, Small>, _, _>(model, start, beams, None, 20, options, rules)
}

fn main() {}
