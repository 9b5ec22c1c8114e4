use super::{Gpt2, Gpt2Config, KeyValueHeadsOf};
use crate::{
    backend::Backend,
    dims::{Const, Dim, axis},
    nn::{Autoregressive, Cache, try_last},
    ops::{OpError, Real, try_select},
    tokens::TokenIds,
};
use dfdx::{
    shapes::ConstDim as _,
    tensor::{Cpu, NoneTape, Tensor},
};

/// The keys and values of the earlier positions of a [`Gpt2`], for each layer.
///
/// ```
/// use typed_transformer::{doctest::*, models::gpt2::{Gpt2, Gpt2Cache}, nn::Autoregressive, prelude::*};
/// let model = Gpt2::<Small, f32, Cpu>::build(&Cpu::default());
/// let cache: Gpt2Cache<Batch, Small, f32, Cpu> = model.try_cache(Batch)?;
/// # Ok::<(), OpError>(())
/// ```
pub type Gpt2Cache<B, Config, E = f32, D = Cpu> =
    Cache<B, <Config as Gpt2Config>::MaxSeqLen, KeyValueHeadsOf<Config>, E, D>;

#[diagnostic::do_not_recommend]
impl<B: Dim, Config: Gpt2Config, E: Real, D: Backend<E>> Autoregressive<B, E, D> for Gpt2<Config, E, D> {
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxSeqLen;
    type Cache = Gpt2Cache<B, Config, E, D>;

    fn try_cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        Cache::try_new(self.token_embedder.device(), batch, Config::NumLayers::SIZE)
    }

    fn try_next_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, Config::VocabSize), E, D>, OpError> {
        let (start, mask) = cache.try_reserve(tokens.shape())?;
        let x = self.try_embed(tokens, start, NoneTape)?;
        let mut layers = self.layers.iter().zip(&mut cache.layers);
        let x = layers.try_fold(x, |x, (layer, cache)| layer.try_forward(x, &mask, |new| cache.try_update(new)))?;
        try_select(self.try_logits(try_last(x)?)?, axis::<Const<1>>(), 0)
    }
}
