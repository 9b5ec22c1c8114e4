//! An index of an expert is not a token.
//! Right with `Letters` for `NumExperts` in line 9.
use typed_transformer::{models::{llama::LlamaConfig, mixtral::{Mixtral, MixtralConfig}}, prelude::*};

dims! { Letters = 28; NumExperts = 8; SrcLen = 5; MaxLen = 16; Batch; }

trait Writer: LlamaConfig<VocabSize = Letters, MaxSeqLen = MaxLen> + MixtralConfig<NumExperts = NumExperts> {}

fn logits<Config: Writer>(model: &Mixtral<Config, f32, Cpu>, ids: &TokenIds<Batch, SrcLen, NumExperts>) {
    let _logits = model.forward(ids, NoneTape).unwrap();
}

fn main() {}
