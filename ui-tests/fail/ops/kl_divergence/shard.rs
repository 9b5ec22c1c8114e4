//! A divergence sums over the whole batch; a rank has a part of it.
//! Right with `Batch` for `Part` in line 9.
use typed_transformer::{ops::kl_divergence, prelude::*, ranks, ranks::Shard};

ranks! { World; }
dims! { VocabSize = 28; SrcLen = 5; Batch; }

type Part = Shard<Batch, World>;
type Rows = Part;

fn distill(logits: Tensor<(Rows, SrcLen, VocabSize), f32, Cpu>, padding: &PaddingMask<Rows, SrcLen>) {
    let _loss = kl_divergence(logits.clone(), &logits, padding, Reduction::MeanAll);
}

fn main() {}
