//! A source is at most as long as the model reads.
//! Covers `Src` of `tensor_parallel::ShardedLM::forward`.
//! Right with `SrcLen` for the second `Batch` in line 11.
//! Mutants cover `B` by `Batch` of `tensor_parallel::ShardedLM::forward`.
use typed_transformer::{prelude::*, ranks::Ranks, tensor_parallel::{DividesLayersOf, ShardedLM}};

dims! { Letters = 28; Sounds = 44; MaxSrcLen = 9; MaxTgtLen = 8; SrcLen <= MaxSrcLen; TgtLen <= MaxTgtLen; Batch; Other; }

fn predict<Tp: DividesLayersOf<Config>, Config: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>>(
    model: &ShardedLM<Config, Tp, f32, Cpu>,
    source: &TokenIds<Batch, Batch, Letters>,
    target: &TokenIds<Batch, TgtLen, Sounds>,
    tp: &Ranks<Tp>,
) {
    let _output = model.forward(source, target, NoneTape, tp).unwrap();
}

fn main() {}
