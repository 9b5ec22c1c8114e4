use super::{CachedHeadsOf, Features, Whisper, WhisperConfig};
use crate::backend::Backend;
use crate::dims::{Dim, MaybeSharded, NamedShape, axis};
use crate::mask::PaddingMask;
use crate::nn::{Autoregressive, Cache, DecoderCache, FullPrecision, Layers, Precision};
use crate::ops::{OpError, Real, slice_last};
use crate::tokens::TokenIds;
use dfdx::shapes::HasShape;
use dfdx::tensor::{Cpu, NoneTape, Tensor};
use std::fmt;

impl<Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> Whisper<Config, E, D, P> {
    /// Encodes the sounds `(B, NumMelBins, NumFrames)`. The result is [`Autoregressive`]: it writes a text for each.
    pub fn encode<B: MaybeSharded>(
        &self,
        features: Features<B, Config, E, D>,
    ) -> Result<EncodedWhisper<'_, B, Config, E, D, P>, OpError> {
        Ok(EncodedWhisper { model: self, output: self.encoder(features, NoneTape)? })
    }
}

/// A Whisper that has encoded a batch of sounds, and writes a text for each. [`Whisper::encode`] makes it.
///
/// ```
/// use typed_transformer::{doctest::*, models::whisper::{EncodedWhisper, Features, Whisper}, nn::Autoregressive, prelude::*};
/// let model = Whisper::<Small, f32, Cpu>::build(&Cpu::default());
/// let features: Features<Batch, Small, f32, Cpu> = Cpu::default().zeros();
/// let encoded: EncodedWhisper<Batch, Small, f32, Cpu> = model.encode(features)?;
/// let start = TokenIds::from_ids(&[26], None, (Batch, Const::<1>))?;
/// let logits: Tensor<(Batch, VocabSize), f32, Cpu> = encoded.next_logits(&start, &mut encoded.cache(Batch)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EncodedWhisper<
    'a,
    B: MaybeSharded,
    Config: WhisperConfig,
    E: Real = f32,
    D: Backend<E> = Cpu,
    P: Precision = FullPrecision,
> {
    model: &'a Whisper<Config, E, D, P>,
    /// The output of the encoder.
    output: Tensor<(B, Config::SrcLen, Config::EmbedDim), E, D>,
}

#[diagnostic::do_not_recommend]
impl<B: MaybeSharded, Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> Autoregressive<B, E, D>
    for EncodedWhisper<'_, B, Config, E, D, P>
{
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxTgtLen;
    type Cache =
        DecoderCache<B, Config::SrcLen, Config::MaxTgtLen, Config::NumDecoderLayers, CachedHeadsOf<Config>, E, D>;

    fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        let (sounds, len, _) = *self.output.shape();
        (sounds,).check_same_sizes("the sounds", (batch,), "the texts")?;
        Ok(DecoderCache {
            self_attention: Cache::new(&self.model.position_embedder, batch)?,
            cross_attention: Layers::try_from_fn(|i| {
                self.model.decoder[i].cross_attention.keys_and_values(self.output.clone())
            })?,
            source_padding: PaddingMask::without_padding((batch, len)),
        })
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
        last: Last,
    ) -> Result<Tensor<(B, Last, Config::VocabSize), E, D>, OpError> {
        let (start, mask) = cache.self_attention.advance(&self.model.position_embedder, tokens.shape())?;
        let mut x = self.model.embed(tokens, start, NoneTape)?;
        let caches = cache.self_attention.layers.iter_mut().zip(&cache.cross_attention);
        for (layer, (target, source)) in self.model.decoder.iter().zip(caches) {
            x = layer.forward(x, |new| target.update(new), &mask, source.clone())?;
        }
        self.model.logits(slice_last(x, axis::<S>(), last)?)
    }
}

impl<B: MaybeSharded, Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> fmt::Debug
    for EncodedWhisper<'_, B, Config, E, D, P>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (batch, len, _) = self.output.shape();
        write!(f, "EncodedWhisper ({batch:?}, {len:?})")
    }
}
