use super::{KeyValueHeadsOf, Llama, LlamaConfig};
use crate::{
    backend::Backend,
    dims::{Const, Dim, axis},
    nn::{Autoregressive, Cache, try_last},
    ops::{OpError, Real, try_embed, try_select},
    tokens::TokenIds,
};
use dfdx::{
    shapes::ConstDim as _,
    tensor::{Cpu, NoneTape, Tensor},
};

/// The keys and values of the earlier positions of a [`Llama`], for each layer.
///
/// ```
/// use typed_transformer::{doctest::*, models::llama::{Llama, LlamaCache}, nn::Autoregressive, prelude::*};
/// let model = Llama::<Small, f32, Cpu>::build(&Cpu::default());
/// let cache: LlamaCache<Batch, Small, f32, Cpu> = model.try_cache(Batch)?;
/// # Ok::<(), OpError>(())
/// ```
pub type LlamaCache<B, Config, E = f32, D = Cpu> =
    Cache<B, <Config as LlamaConfig>::MaxSeqLen, KeyValueHeadsOf<Config>, E, D>;

#[diagnostic::do_not_recommend]
impl<B: Dim, Config: LlamaConfig, E: Real, D: Backend<E>> Autoregressive<B, E, D> for Llama<Config, E, D> {
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxSeqLen;
    type Cache = LlamaCache<B, Config, E, D>;

    fn try_cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        Cache::try_new(self.token_embedder.device(), batch, Config::NumLayers::SIZE)
    }

    fn try_next_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, Config::VocabSize), E, D>, OpError> {
        let (start, mask) = cache.try_reserve(tokens.shape())?;
        let x = try_embed(&self.token_embedder, tokens, NoneTape)?;
        let mut layers = self.layers.iter().zip(&mut cache.layers);
        let x = layers.try_fold(x, |x, (layer, kv)| layer.try_forward(x, start, &mask, |new| kv.try_update(new)))?;
        try_select(self.try_logits(try_last(x)?)?, axis::<Const<1>>(), 0)
    }
}
