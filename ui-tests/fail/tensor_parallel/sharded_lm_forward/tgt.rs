//! A target is at most as long as the model writes.
//! Covers `Tgt` of `tensor_parallel::ShardedLM::forward`.
//! Right with `TgtLen` for `SrcLen` in line 11.
use typed_transformer::{prelude::*, ranks::Ranks, tensor_parallel::{DividesLayersOf, ShardedLM}};

dims! { Letters = 28; Sounds = 44; MaxSrcLen = 9; MaxTgtLen = 8; SrcLen <= MaxSrcLen; TgtLen <= MaxTgtLen; Batch; Other; }

fn predict<Tp: DividesLayersOf<Config>, Config: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxSrcLen, MaxTgtLen = MaxTgtLen>>(
    model: &ShardedLM<Config, Tp, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: &TokenIds<Batch, SrcLen, Sounds>,
    tp: &Ranks<Tp>,
) {
    let _output = model.forward(source, target, NoneTape, tp).unwrap();
}

fn main() {}
