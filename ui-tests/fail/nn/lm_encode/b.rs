//! Reading keeps the batch of the sources.
//! Covers `B` of `nn::LM::encode`.
//! Right with `Batch` for `OtherBatch` in line 13.
//! Mutants cover `Src` by `SrcLen` of `nn::LM::encode`.
use typed_transformer::{nn::EncodedLM, prelude::*};

dims! { Letters = 28; MaxLen = 16; Long = 17; SrcLen = 5; Batch; OtherBatch; }

trait Speech: Seq2Seq<SrcVocab = Letters, MaxSrcLen = MaxLen> {}

fn read<'a, M: Speech>(
    model: &'a LM<M, f32, Cpu>,
    source: &TokenIds<OtherBatch, SrcLen, Letters>,
) -> Result<EncodedLM<'a, Batch, SrcLen, M, f32, Cpu>, OpError> {
    model.encode(source)
}

fn main() {}
