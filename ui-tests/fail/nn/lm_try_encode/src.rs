//! Sources are at most as long as the model reads.
//! Covers `Src` of `nn::LM::try_encode`.
//! Right with `SrcLen` for `Long` in line 10.
use typed_transformer::prelude::*;

dims! { Letters = 28; MaxLen = 16; Long = 17; SrcLen = 5; Batch; }

trait Speech: Seq2Seq<SrcVocab = Letters, MaxSrcLen = MaxLen> {}

fn read<M: Speech>(model: &LM<M, f32, Cpu>, source: &TokenIds<Batch, Long, Letters>) {
    let _encoded = model.try_encode(source);
}

fn main() {}
