//! Source and target are of one batch.
//! Covers `B` of `tensor_parallel::ShardedLM::forward`.
//! Right with `Batch` for `Other` in line 10.
use typed_transformer::{prelude::*, ranks::Ranks, tensor_parallel::{DividesLayersOf, ShardedLM}};

dims! { Letters = 28; Sounds = 44; MaxSrcLen = 9; MaxTgtLen = 8; SrcLen <= MaxSrcLen; TgtLen <= MaxTgtLen; Batch; Other; }

fn predict<Tp: DividesLayersOf<Config>, Config: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>>(
    model: &ShardedLM<Config, Tp, f32, Cpu>,
    source: &TokenIds<Other, SrcLen, Letters>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    tp: &Ranks<Tp>,
) {
    let _output = model.forward(source, target, NoneTape, tp);
}

fn main() {}
