use super::{CacheCapacity, CachedHeads, KeyValueCache, Keys, Values, key_value_cache::check_fits};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim, MaybeSharded, check_same_size},
    mask::{AttentionMask, PaddingMask},
    ops::{OpError, Real, dim_error},
};
use dfdx::tensor::Cpu;
use std::fmt;

/// The state of decoding with a stack of causal layers: a [`KeyValueCache`] of at most `MaxLen` positions
/// for each layer.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Cache, prelude::*};
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let mut cache: Cache<Batch, MaxSeqLen, Model, f32, Cpu> = model.try_cache(Batch)?;
/// let prompt = TokenIds::from_ids(&[7, 4, 11, 11], None, (Batch, SeqLen))?;
/// let next = TokenIds::from_ids(&[14], None, (Batch, Const::<1>))?;
/// model.try_forward_cached(&prompt, &mut cache)?;
/// let logits: Tensor<(Batch, Const<1>, VocabSize), f32, Cpu> = model.try_forward_cached(&next, &mut cache)?;
/// assert_eq!(cache.len(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cache<B: MaybeSharded, MaxLen: ConstDim, A: CachedHeads, E: Real = f32, D: Backend<E> = Cpu> {
    pub(crate) layers: Vec<KeyValueCache<B, MaxLen, A, E, D>>,
    pub(crate) len: usize,
    pub(crate) batch: B,
}

impl<B: MaybeSharded, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> Cache<B, MaxLen, A, E, D> {
    /// An empty cache for this number of layers.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub(crate) fn try_new(device: &D, batch: B, layers: usize) -> Result<Self, OpError> {
        let layers = (0..layers).map(|_| KeyValueCache::try_new(device, batch));
        Ok(Self { layers: layers.collect::<Result<_, _>>()?, len: 0, batch })
    }

    /// Number of positions in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the cache has no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reserves `next` positions. Returns the number of positions before them and their mask `(B, S, CacheCapacity<MaxLen>)`.
    /// Each layer's cache is filled afterwards.
    pub(crate) fn try_reserve<S: Dim>(
        &mut self,
        (batch, next): (B, S),
    ) -> Result<(usize, AttentionMask<B, S, CacheCapacity<MaxLen>>), OpError> {
        self.check_fits(batch, next)?;
        let start = self.len;
        self.len += next.size();
        Ok((start, AttentionMask::causal_from((batch, next, CacheCapacity::for_len(self.len)), start, None)))
    }

    /// Checks the batch and the capacity before any layer is changed.
    pub(crate) fn check_fits<S: Dim>(&self, batch: B, next: S) -> Result<(), OpError> {
        check_same_size("the cache", self.batch, "the tokens", batch).map_err(dim_error("cache"))?;
        check_fits(self.len, next, MaxLen::default())
    }
}

/// The state of decoding with an encoder-decoder: the self-attention keys and values of the target so
/// far, and the cross-attention keys and values of the source. The latter are computed once.
///
/// ```
/// use typed_transformer::{doctest::*, nn::DecoderCache, prelude::*};
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 11, 11], None, (Batch, SrcLen))?;
/// let encoded = model.encoder.try_forward(&source, NoneTape)?;
/// let mut cache: DecoderCache<Batch, SrcLen, MaxSeqLen, Model, f32, Cpu> =
///     model.decoder.try_cache(encoded, &source.padding_mask())?;
/// let start = TokenIds::from_ids(&[26], None, (Batch, Const::<1>))?;
/// model.decoder.try_forward_cached(&start, &mut cache)?;
/// assert_eq!(cache.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DecoderCache<B: MaybeSharded, Src: Dim, MaxLen: ConstDim, A: CachedHeads, E: Real = f32, D: Backend<E> = Cpu>
{
    pub(crate) self_attention: Cache<B, MaxLen, A, E, D>,
    /// One for each layer.
    pub(crate) cross_attention: Vec<CrossKeyValues<B, Src, A, E, D>>,
    pub(crate) source_padding: PaddingMask<B, Src>,
}

/// The keys and values that one cross-attention projects from the source.
pub(crate) type CrossKeyValues<B, Src, A, E, D> = (Keys<B, Src, A, E, D>, Values<B, Src, A, E, D>);

impl<B: MaybeSharded, Src: Dim, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>>
    DecoderCache<B, Src, MaxLen, A, E, D>
{
    /// Number of target positions in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.self_attention.len()
    }

    /// Whether the cache has no target positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.self_attention.is_empty()
    }
}

impl<B: MaybeSharded, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> fmt::Debug
    for Cache<B, MaxLen, A, E, D>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cache ({:?}, {} of {:?})", self.batch, self.len, MaxLen::default())
    }
}

impl<B: MaybeSharded, Src: Dim, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> fmt::Debug
    for DecoderCache<B, Src, MaxLen, A, E, D>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cache { batch, len, .. } = &self.self_attention;
        write!(f, "DecoderCache ({batch:?}, {len} of {:?})", MaxLen::default())
    }
}
