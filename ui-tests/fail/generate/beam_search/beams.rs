//! A model that is bound to its sources reads one for each beam.
//! Covers `Beams` of `generate::beam_search`.
//! Right with `Beams` for `Batch` in line 12.
use typed_transformer::{generate::{Beam, BeamOptions, beam_search}, nn::EncodedLM, prelude::*};

dims! { Letters = 28; Sounds = 44; SrcLen = 5; TgtLen = 1; Batch; Beams; }

trait Writer: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds> {}

type Found = Result<Vec<Beam<Sounds>>, OpError>;
/// The model has read its sources.
type Encoded<'a, M> = EncodedLM<'a, Batch, SrcLen, M, f32, Cpu>;

fn write<M: Writer>(model: &Encoded<'_, M>, start: &TokenIds<Const<1>, TgtLen, Sounds>, beams: Beams) -> Found {
    beam_search(model, start, beams, None, 20, BeamOptions::default())
}

fn main() {}
