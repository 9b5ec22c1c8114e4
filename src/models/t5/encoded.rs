use super::{KeyValueHeadsOf, T5, T5Config, try_source_mask};
use crate::{
    backend::Backend,
    dims::{Const, Dim, axis, check_same_size},
    mask::PaddingMask,
    nn::{Autoregressive, Cache, KeysAndValues, try_last},
    ops::{OpError, Real, dim_error, try_embed, try_select},
    tokens::TokenIds,
};
use dfdx::{
    shapes::{ConstDim as _, HasShape},
    tensor::{Cpu, NoneTape, Tensor},
};
use std::fmt;

impl<Config: T5Config, E: Real, D: Backend<E>> T5<Config, E, D> {
    /// Encodes the sources `(B, Src)`. The result is [`Autoregressive`]: it generates a target for each.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, models::t5::T5, nn::Autoregressive, prelude::*};
    /// let model = T5::<Small, f32, Cpu>::build(&Cpu::default());
    /// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(Fin::literal::<0>()), (Batch, SrcLen))?;
    /// let start = TokenIds::from_ids(&[0], None, (Batch, Const::<1>))?;
    /// let encoded = model.try_encode(&source)?;
    /// let mut cache = encoded.try_cache(Batch)?;
    /// let logits: Tensor<(Batch, VocabSize), f32, Cpu> = encoded.try_next_logits(&start, &mut cache)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_encode<B: Dim, Src: Dim>(
        &self,
        source: &TokenIds<B, Src, Config::VocabSize>,
    ) -> Result<EncodedT5<'_, B, Src, Config, E, D>, OpError> {
        let output = self.try_encoder(source, NoneTape)?;
        Ok(EncodedT5 { model: self, output, padding: source.padding_mask() })
    }
}

/// A T5 that has encoded its sources `(B, Src)`, and generates a target for each. [`T5::try_encode`] makes it.
///
/// ```
/// use typed_transformer::{doctest::*, models::t5::{EncodedT5, T5}, nn::Autoregressive, prelude::*};
/// let model = T5::<Small, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(Fin::literal::<0>()), (Batch, SrcLen))?;
/// let encoded: EncodedT5<Batch, SrcLen, Small, f32, Cpu> = model.try_encode(&source)?;
/// let start = TokenIds::from_ids(&[0], None, (Batch, Const::<1>))?;
/// let logits: Tensor<(Batch, VocabSize), f32, Cpu> = encoded.try_next_logits(&start, &mut encoded.try_cache(Batch)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EncodedT5<'a, B: Dim, Src: Dim, Config: T5Config, E: Real = f32, D: Backend<E> = Cpu> {
    model: &'a T5<Config, E, D>,
    /// The output of the encoder.
    output: Tensor<(B, Src, Config::EmbedDim), E, D>,
    padding: PaddingMask<B, Src>,
}

/// The keys and values of the earlier positions of the targets, and those of the sources, for each layer of a [`T5`].
///
/// ```
/// use typed_transformer::{doctest::*, models::t5::{T5Cache, T5}, nn::Autoregressive, prelude::*};
/// let model = T5::<Small, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(Fin::literal::<0>()), (Batch, SrcLen))?;
/// let encoded = model.try_encode(&source)?;
/// let mut cache: T5Cache<Batch, SrcLen, Small, f32, Cpu> = encoded.try_cache(Batch)?;
/// let target = TokenIds::from_ids(&[0, 7, 4], None, (Batch, TgtLen))?;
/// let logits = encoded.try_next_logits(&target, &mut cache)?;
/// assert_eq!(cache.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct T5Cache<B: Dim, Src: Dim, Config: T5Config, E: Real = f32, D: Backend<E> = Cpu> {
    target: Cache<B, Config::MaxTgtLen, KeyValueHeadsOf<Config>, E, D>,
    source: Vec<KeysAndValues<B, Src, KeyValueHeadsOf<Config>, E, D, NoneTape>>,
}

#[diagnostic::do_not_recommend]
impl<B: Dim, Src: Dim, Config: T5Config, E: Real, D: Backend<E>> Autoregressive<B, E, D>
    for EncodedT5<'_, B, Src, Config, E, D>
{
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxTgtLen;
    type Cache = T5Cache<B, Src, Config, E, D>;

    fn try_cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        check_same_size("the sources", self.output.shape().0, "the targets", batch).map_err(dim_error("cache"))?;
        let source =
            |layer: &super::DecoderLayer<Config, E, D>| layer.cross_attention.try_keys_and_values(self.output.clone());
        let target = Cache::try_new(self.model.token_embedder.device(), batch, Config::NumDecoderLayers::SIZE)?;
        Ok(T5Cache { target, source: self.model.decoder.iter().map(source).collect::<Result<_, _>>()? })
    }

    fn try_next_logits<S: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
    ) -> Result<Tensor<(B, Config::VocabSize), E, D>, OpError> {
        let (start, mask) = cache.target.try_reserve(tokens.shape())?;
        let (_, next, max) = mask.shape();
        let position_bias = self.model.try_decoder_position_bias(start, (next, max), NoneTape)?;
        let source_mask = try_source_mask(tokens.shape(), &self.padding)?;
        let mut x = try_embed(&self.model.token_embedder, tokens, NoneTape)?;
        let caches = cache.target.layers.iter_mut().zip(&cache.source);
        for (layer, (target, source)) in self.model.decoder.iter().zip(caches) {
            let with_past = |new| target.try_update(new);
            x = layer.try_forward(x, with_past, (position_bias.clone(), &mask), source.clone(), &source_mask)?;
        }
        try_select(self.model.try_logits(try_last(x)?)?, axis::<Const<1>>(), 0)
    }
}

impl<B: Dim, Src: Dim, Config: T5Config, E: Real, D: Backend<E>> T5Cache<B, Src, Config, E, D> {
    /// Number of positions of the targets in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.target.len()
    }

    /// Whether the cache has no positions of the targets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.target.is_empty()
    }
}

impl<B: Dim, Src: Dim, Config: T5Config, E: Real, D: Backend<E>> fmt::Debug for T5Cache<B, Src, Config, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T5Cache of {:?}", self.target)
    }
}

impl<B: Dim, Src: Dim, Config: T5Config, E: Real, D: Backend<E>> fmt::Debug for EncodedT5<'_, B, Src, Config, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (batch, len) = self.padding.shape();
        write!(f, "EncodedT5 ({batch:?}, {len:?})")
    }
}
