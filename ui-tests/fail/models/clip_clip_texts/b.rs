//! There is a vector for each text of the batch.
//! Covers `B` of `models::clip::Clip::texts`.
//! Right with `Captions` for `Images` in line 17.
//! Mutants cover `S` by `SrcLen` of `models::clip::Clip::texts`.
use typed_transformer::{
    models::clip::{Clip, ClipConfig},
    prelude::*,
};

dims! { Letters = 28; MaxLen = 16; SrcLen = 5; Width = 8; Captions; Images; }

trait Reader: ClipConfig<VocabSize = Letters, MaxSeqLen = MaxLen, ProjectionDim = Width> {}

fn texts<Config: Reader>(
    model: &Clip<Config, f32, Cpu>,
    ids: &TokenIds<Captions, SrcLen, Letters>,
) -> Result<Tensor<(Images, Width), f32, Cpu>, OpError> {
    model.texts::<_, SrcLen, _>(ids, NoneTape)
}

fn main() {}
