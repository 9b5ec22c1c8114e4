use super::{CachedHeadsOf, T5, T5Config, source_mask};
use crate::backend::Backend;
use crate::dims::{Dim, MaybeSharded, NamedShape, axis};
use crate::mask::PaddingMask;
use crate::nn::{Autoregressive, Cache, DecoderCache, FullPrecision, Layers, Precision};
use crate::ops::{OpError, Real, slice_last};
use crate::tokens::TokenIds;
use dfdx::shapes::HasShape;
use dfdx::tensor::{Cpu, NoneTape, Tensor};
use std::fmt;

impl<Config: T5Config, E: Real, D: Backend<E>, P: Precision> T5<Config, E, D, P> {
    /// Encodes the sources `(B, Src)`. The result is [`Autoregressive`]: it generates a target for each.
    pub fn encode<B: MaybeSharded, Src: Dim>(
        &self,
        source: &TokenIds<B, Src, Config::VocabSize>,
    ) -> Result<EncodedT5<'_, B, Src, Config, E, D, P>, OpError> {
        let output = self.encoder(source, NoneTape)?;
        Ok(EncodedT5 { model: self, output, padding: source.padding_mask() })
    }
}

/// A T5 that has encoded its sources `(B, Src)`, and generates a target for each. [`T5::encode`] makes it.
///
/// ```
/// use typed_transformer::{doctest::*, models::t5::{EncodedT5, T5}, nn::Autoregressive, prelude::*};
/// let model = T5::<Small, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(Fin::literal::<0>()), (Batch, SrcLen))?;
/// let encoded: EncodedT5<Batch, SrcLen, Small, f32, Cpu> = model.encode(&source)?;
/// let start = TokenIds::from_ids(&[0], None, (Batch, Const::<1>))?;
/// let logits: Tensor<(Batch, VocabSize), f32, Cpu> = encoded.next_logits(&start, &mut encoded.cache(Batch)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EncodedT5<
    'a,
    B: MaybeSharded,
    Src: Dim,
    Config: T5Config,
    E: Real = f32,
    D: Backend<E> = Cpu,
    P: Precision = FullPrecision,
> {
    model: &'a T5<Config, E, D, P>,
    /// The output of the encoder.
    output: Tensor<(B, Src, Config::EmbedDim), E, D>,
    padding: PaddingMask<B, Src>,
}

#[diagnostic::do_not_recommend]
impl<B: MaybeSharded, Src: Dim, Config: T5Config, E: Real, D: Backend<E>, P: Precision> Autoregressive<B, E, D>
    for EncodedT5<'_, B, Src, Config, E, D, P>
{
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxTgtLen;
    type Cache = DecoderCache<B, Src, Config::MaxTgtLen, Config::NumDecoderLayers, CachedHeadsOf<Config>, E, D>;

    fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        (self.output.shape().0,).check_same_sizes("the sources", (batch,), "the targets")?;
        Ok(DecoderCache {
            self_attention: Cache::new(&self.model.decoder_norm, batch)?,
            cross_attention: Layers::try_from_fn(|i| {
                self.model.decoder[i].cross_attention.keys_and_values(self.output.clone())
            })?,
            source_padding: self.padding.clone(),
        })
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
        last: Last,
    ) -> Result<Tensor<(B, Last, Config::VocabSize), E, D>, OpError> {
        let (start, mask) = cache.self_attention.advance(&self.model.decoder_norm, tokens.shape())?;
        let (_, next, max) = mask.shape();
        let position_bias = self.model.decoder_position_bias(start, (next, max), NoneTape)?;
        let source_mask = source_mask(tokens.shape(), &cache.source_padding)?;
        let mut x = P::embed(&self.model.token_embedder, tokens, NoneTape)?;
        let caches = cache.self_attention.layers.iter_mut().zip(&cache.cross_attention);
        for (layer, (target, source)) in self.model.decoder.iter().zip(caches) {
            let update_cache = |new| target.update(new);
            x = layer.forward(x, update_cache, (position_bias.clone(), &mask), source.clone(), &source_mask)?;
        }
        self.model.logits(slice_last(x, axis::<S>(), last)?)
    }
}

impl<B: MaybeSharded, Src: Dim, Config: T5Config, E: Real, D: Backend<E>, P: Precision> fmt::Debug
    for EncodedT5<'_, B, Src, Config, E, D, P>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (batch, len) = self.padding.shape();
        write!(f, "EncodedT5 ({batch:?}, {len:?})")
    }
}
