//! There are logits for each position.
//! Covers `S` of `tensor_parallel::ShardedDecoderOnly::forward`.
//! Right with `SeqLen` for `OtherLen` in line 11.
//! Mutants cover `B` by `Batch` of `tensor_parallel::ShardedDecoderOnly::forward`.
use typed_transformer::{prelude::*, ranks::Ranks, tensor_parallel::{DividesLayersOf, ShardedDecoderOnly}};

dims! { VocabSize = 28; MaxSeqLen = 8; SeqLen <= MaxSeqLen; OtherLen <= MaxSeqLen; Batch; Other; }

fn predict<Tp: DividesLayersOf<Config>, Config: SingleStack<VocabSize = VocabSize, MaxSeqLen = MaxSeqLen>>(
    model: &ShardedDecoderOnly<Config, Tp, f32, Cpu>,
    ids: &TokenIds<Batch, OtherLen, VocabSize>,
    tp: &Ranks<Tp>,
) -> Result<Tensor<(Batch, SeqLen, VocabSize), f32, Cpu>, OpError> {
    model.forward(ids, NoneTape, tp)
}

fn main() {}
