//! The padding is that of the batch.
//! Covers `B` of `models::mixtral::Mixtral::vectors_and_router_logits_of`.
//! Right with `Batch` for `OtherBatch` in line 14.
//! Mutants cover `S` by `SrcLen` of `models::mixtral::Mixtral::vectors_and_router_logits_of`.
use typed_transformer::{models::{llama::LlamaConfig, mixtral::{Mixtral, MixtralConfig}}, prelude::*};

dims! { Letters = 28; Width = 8; MaxLen = 16; SrcLen = 5; TgtLen = 20; Batch; OtherBatch; }

trait Writer: LlamaConfig<VocabSize = Letters, MaxSeqLen = MaxLen, EmbedDim = Width> + MixtralConfig {}

fn vectors<Config: Writer>(
    model: &Mixtral<Config, f32, Cpu>,
    embeddings: Tensor<(Batch, SrcLen, Width), f32, Cpu>,
    padding: &PaddingMask<OtherBatch, SrcLen>,
) -> Result<Tensor<(Batch, SrcLen, Width), f32, Cpu>, OpError> {
    Ok(model.vectors_and_router_logits_of(embeddings, padding)?.0)
}

fn main() {}
