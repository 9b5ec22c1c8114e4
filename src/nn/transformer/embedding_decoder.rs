use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, ConstDim, DataDim, Dim};
use crate::mask::PaddingMask;
use crate::module;
use crate::nn::{Cache, Decoder, DecoderCache, Embedder, HasPositionsFor, Layers};
use crate::ops::{OpError, Real};
use crate::tokens::TokenIds;
use dfdx::shapes::HasShape;
use dfdx::tensor::{NoneTape, Tensor};

/// The decoder with its embedder (*The Typed Transformer*, "Decoder"). It computes a vector for each target
/// position from the target so far and the encoder's output.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let decoder =
///     EmbeddingDecoder::<VocabSize, MaxSeqLen, EmbedDim, EmbedDim, NumLayers, Model, f32, Cpu>::build(&device);
/// let ids = TokenIds::from_ids(&[0, 1, 2], None, (Batch, TgtLen))?;
/// let source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
/// let x: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> =
///     decoder.forward(&ids, source, &PaddingMask::without_padding((Batch, SrcLen)))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(output = QDim)]
pub struct EmbeddingDecoder<
    VocabSize: ConstDim,
    MaxSeqLen: ConstDim,
    QDim: ConstDim,
    KVDim: ConstDim,
    NumLayers: ConstDim,
    A: HasPositionsFor<QDim>,
    E,
    D,
> {
    /// From token ids to vectors.
    pub embedder: Embedder<VocabSize, MaxSeqLen, QDim, A, E, D>,
    /// The layers.
    pub decoder: Decoder<QDim, KVDim, NumLayers, A, E, D>,
}

impl<VocabSize: ConstDim, MaxSeqLen: ConstDim, QDim: ConstDim, KVDim: ConstDim, NumLayers: ConstDim, A, E, D>
    EmbeddingDecoder<VocabSize, MaxSeqLen, QDim, KVDim, NumLayers, A, E, D>
where
    A: HasPositionsFor<QDim>,
    E: Real,
    D: Backend<E>,
{
    /// `(B, Q) ids of VocabSize, (B, K, KVDim), padding (B, K) -> (B, Q, QDim)`
    pub fn forward<B: DataDim, Q: AtMost<MaxSeqLen>, K: Dim, T: Tape<E, D>>(
        &self,
        decoder_ids: &TokenIds<B, Q, VocabSize>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let embeds = self.embedder.forward(decoder_ids, T::default())?;
        self.decoder.forward(embeds, key_value, &decoder_ids.padding_mask(), key_value_padding_mask)
    }

    /// A cache of `MaxSeqLen` target positions for [`forward_cached`](Self::forward_cached). It begins
    /// with the keys and values of the source for each layer, and without target positions.
    pub fn cache<B: DataDim, K: Dim>(
        &self,
        key_value: Tensor<(B, K, KVDim), E, D>,
        key_value_padding_mask: &PaddingMask<B, K>,
    ) -> Result<DecoderCache<B, K, MaxSeqLen, NumLayers, A, E, D>, OpError> {
        let (batch, _, _) = *key_value.shape();
        let source = |i: usize| self.decoder.layers[i].cross_attention.project(key_value.clone());
        Ok(DecoderCache {
            self_attention: Cache::new(&self.embedder.token_embedder.weight, batch)?,
            cross_attention: Layers::try_from_fn(source)?,
            source_padding: key_value_padding_mask.clone(),
        })
    }

    /// Decodes the next tokens of targets whose earlier tokens are in `cache`:
    /// `(B, Q) ids of VocabSize -> (B, Q, QDim)`. The new tokens join the cache. After an error of the device, the cache
    /// is not usable.
    ///
    /// The output equals that of [`forward`](Self::forward) on the whole target at these positions. No token counts as
    /// padding.
    ///
    /// # Errors
    /// [`OpError::OtherCache`] if another model made the cache; [`OpError::UnfilledCache`] after an error in a step
    /// with it; [`OpError::Range`] if it has no room for the tokens; [`OpError::Dim`] if the batches differ in size.
    pub fn forward_cached<B: DataDim, Q: Dim, K: Dim>(
        &self,
        decoder_ids: &TokenIds<B, Q, VocabSize>,
        cache: &mut DecoderCache<B, K, MaxSeqLen, NumLayers, A, E, D>,
    ) -> Result<Tensor<(B, Q, QDim), E, D>, OpError> {
        let (start, _) = cache.self_attention.advance(&self.embedder.token_embedder.weight, decoder_ids.shape())?;
        let embeds = self.embedder.forward_from(start, decoder_ids, NoneTape)?;
        self.decoder.forward_cached(embeds, cache)
    }
}
