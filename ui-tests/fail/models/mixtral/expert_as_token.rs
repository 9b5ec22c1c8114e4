//! An index of an expert is not a token.
//! Right with `Letters` for `Experts` in line 9.
use typed_transformer::{models::{llama::LlamaConfig, mixtral::{Mixtral, MixtralConfig}}, prelude::*};

dims! { Letters = 28; Experts = 8; SrcLen = 5; MaxLen = 16; Batch; }

trait Writer: LlamaConfig<VocabSize = Letters, MaxSeqLen = MaxLen> + MixtralConfig<Experts = Experts> {}

fn logits<Config: Writer>(model: &Mixtral<Config, f32, Cpu>, ids: &TokenIds<Batch, SrcLen, Experts>) {
    let _logits = model.forward(ids, NoneTape);
}

fn main() {}
