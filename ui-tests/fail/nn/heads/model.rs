//! A cache belongs to a model, not to each model of its sizes: that of a draft is none of its teacher.
//! Covers `Model` of `nn::Heads`.
//! Right with `teacher` for `draft` in line 13.
use typed_transformer::{models::llama::{Llama, LlamaConfig}, nn::Autoregressive, prelude::*};

dims! { VocabSize = 28; MaxLen = 16; NumLayers = 2; KeyHeads = 1; HeadDim = 4; Batch; SeqLen; }

trait Sizes: LlamaConfig<VocabSize = VocabSize, MaxSeqLen = MaxLen, NumLayers = NumLayers, NumKeyValueHeads = KeyHeads, HeadDim = HeadDim> {}

type Ids = TokenIds<Batch, SeqLen, VocabSize>;

fn check<Large: Sizes, Small: Sizes>(teacher: &Llama<Large>, draft: &Llama<Small>, ids: &Ids) -> Result<(), OpError> {
    let mut cache = Autoregressive::cache(draft, ids.shape().0)?;
    teacher.next_logits(ids, &mut cache).map(drop)
}

fn main() {}
