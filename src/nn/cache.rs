use super::CachedHeads;
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim, MaybeSharded, Product, check_same_size},
    mask::{AttentionMask, CausalKind, CausalMask, PaddingMask},
    ops::{OpError, Real, device_error, dim_error},
};
use dfdx::{
    shapes::HasShape,
    tensor::{NoneTape, Tensor},
};
use std::fmt;

/// The keys and values of one causal self-attention. A decoding step then computes keys and values for new
/// positions only.
///
/// The buffers are allocated for `MaxLen` positions at once, and [`mask`](Self::mask) hides the unused ones.
/// Attention runs over all `MaxLen` positions at every step, unless a fused kernel skips hidden keys.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{KeyValueCache, Keys, Values}, prelude::*};
/// let device = Cpu::default();
/// let mut cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::try_new(&device, Batch)?;
/// let keys: Keys<Batch, SeqLen, Model, f32, Cpu> = device.zeros();
/// let values: Values<Batch, SeqLen, Model, f32, Cpu> = device.zeros();
/// cache.try_append(&keys, &values)?;
/// assert_eq!(cache.len(), 4);
/// // The next position sees these 4 and itself.
/// let mask: AttentionMask<Batch, Const<1>, MaxSeqLen> = cache.mask(Const);
/// assert_eq!(mask.as_slice().iter().filter(|&&is_visible| is_visible).count(), 5);
/// # Ok::<(), OpError>(())
/// ```
pub struct KeyValueCache<B: MaybeSharded, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> {
    keys: Keys<B, MaxLen, A, E, D>,
    values: Values<B, MaxLen, A, E, D>,
    len: usize,
}

/// The keys of all heads: `(B, Len, Product<NumHeads, QKDim>)`.
pub type Keys<B, Len, A, E, D> =
    Tensor<(B, Len, Product<<A as CachedHeads>::NumHeads, <A as CachedHeads>::QKDim>), E, D>;

/// The values of all heads: `(B, Len, Product<NumHeads, VODim>)`.
pub type Values<B, Len, A, E, D> =
    Tensor<(B, Len, Product<<A as CachedHeads>::NumHeads, <A as CachedHeads>::VODim>), E, D>;

/// The keys and the values of `Len` positions.
pub(crate) type KeysAndValues<B, Len, A, E, D, T> = (
    Tensor<(B, Len, Product<<A as CachedHeads>::NumHeads, <A as CachedHeads>::QKDim>), E, D, T>,
    Tensor<(B, Len, Product<<A as CachedHeads>::NumHeads, <A as CachedHeads>::VODim>), E, D, T>,
);

/// Puts the keys and values of the earlier positions before those of `Q` positions: of all `K` positions.
///
/// It is `Ok` if there are no earlier positions, and [`KeyValueCache::try_extend`] if they are in a cache.
pub(crate) trait WithEarlier<B: MaybeSharded, Q: Dim, K: Dim, A: CachedHeads, E: Real, D: Backend<E>, T>:
    FnOnce(KeysAndValues<B, Q, A, E, D, T>) -> Result<KeysAndValues<B, K, A, E, D, T>, OpError>
{
}
impl<B: MaybeSharded, Q: Dim, K: Dim, A: CachedHeads, E: Real, D: Backend<E>, T, F> WithEarlier<B, Q, K, A, E, D, T>
    for F
where
    F: FnOnce(KeysAndValues<B, Q, A, E, D, T>) -> Result<KeysAndValues<B, K, A, E, D, T>, OpError>,
{
}

impl<B: MaybeSharded, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> KeyValueCache<B, MaxLen, A, E, D> {
    /// An empty cache.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub fn try_new(device: &D, batch: B) -> Result<Self, OpError> {
        let allocate = || {
            Ok(Self {
                keys: device.try_zeros_like(&(batch, MaxLen::default(), Product::default()))?,
                values: device.try_zeros_like(&(batch, MaxLen::default(), Product::default()))?,
                len: 0,
            })
        };
        allocate().map_err(device_error::<D::Err>("cache"))
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

    /// The mask for `next` new positions, `(B, S, MaxLen)`: each sees itself and all positions before it.
    ///
    /// The keys include the unused positions, which are hidden.
    #[must_use]
    pub fn mask<S: Dim>(&self, next: S) -> AttentionMask<B, S, MaxLen> {
        self.mask_of_kind::<CausalMask, S>(next)
    }

    /// [`mask`](Self::mask) by a mask kind: in a [`SlidingWindow`](crate::mask::SlidingWindow), each position sees only
    /// the last ones.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, mask::SlidingWindow, nn::KeyValueCache, prelude::*};
    /// dims! { pub Width = 1; }
    /// let cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::try_new(&Cpu::default(), Batch)?;
    /// let mask: AttentionMask<Batch, Const<2>, MaxSeqLen> = cache.mask_of_kind::<SlidingWindow<Width>, _>(Const);
    /// assert_eq!(mask.as_slice().iter().filter(|&&is_visible| is_visible).count(), 2);
    /// # Ok::<(), OpError>(())
    /// ```
    #[must_use]
    pub fn mask_of_kind<Mask: CausalKind, S: Dim>(&self, next: S) -> AttentionMask<B, S, MaxLen> {
        let (batch, max, _) = *self.keys.shape();
        AttentionMask::causal_from((batch, next, max), self.len, Mask::WINDOW)
    }

    /// Appends the keys and values of the next positions.
    ///
    /// # Errors
    /// [`OpError::Range`] if the cache would have more than `MaxLen` positions; [`OpError::Dim`] if the
    /// batches or the two lengths differ in size; [`OpError::Device`] if the device fails.
    pub fn try_append<S: Dim>(
        &mut self,
        keys: &Keys<B, S, A, E, D>,
        values: &Values<B, S, A, E, D>,
    ) -> Result<(), OpError> {
        let (batch, max, _) = *self.keys.shape();
        let ((key_batch, len, _), (value_batch, value_len, _)) = (*keys.shape(), *values.shape());
        let check = || {
            check_same_size("the cache", batch, "the keys", key_batch)?;
            check_same_size("the cache", batch, "the values", value_batch)?;
            check_same_size("the keys", len, "the values", value_len)
        };
        check().map_err(dim_error("cache"))?;
        check_capacity(self.len, len, max)?;
        D::try_assign_positions(&mut self.keys, keys, self.len)?;
        D::try_assign_positions(&mut self.values, values, self.len)?;
        self.len += len.size();
        Ok(())
    }

    /// Appends the keys and values of the next positions: all of the cache, including the unused positions.
    pub(crate) fn try_extend<S: Dim>(
        &mut self,
        (keys, values): KeysAndValues<B, S, A, E, D, NoneTape>,
    ) -> Result<KeysAndValues<B, MaxLen, A, E, D, NoneTape>, OpError> {
        self.try_append(&keys, &values)?;
        Ok((self.keys.clone(), self.values.clone()))
    }

    /// The keys, including the unused positions.
    #[must_use]
    pub fn keys(&self) -> &Keys<B, MaxLen, A, E, D> {
        &self.keys
    }

    /// The values, including the unused positions.
    #[must_use]
    pub fn values(&self) -> &Values<B, MaxLen, A, E, D> {
        &self.values
    }
}

/// Checks that `next` positions from `start` on fit into `max`.
fn check_capacity<S: Dim, MaxLen: Dim>(start: usize, next: S, max: MaxLen) -> Result<(), OpError> {
    if start + next.size() > max.size() {
        return Err(OpError::Range { op: "cache", part: format!("{next:?}"), start, whole: format!("{max:?}") });
    }
    Ok(())
}

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
pub struct Cache<B: MaybeSharded, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> {
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

    /// Makes room for `next` positions: the number of positions before them, and their mask `(B, S, MaxLen)`. The layers'
    /// caches take the keys and values after that.
    pub(crate) fn try_advance<S: Dim>(
        &mut self,
        (batch, next): (B, S),
    ) -> Result<(usize, AttentionMask<B, S, MaxLen>), OpError> {
        self.check_fits(batch, next)?;
        let start = self.len;
        self.len += next.size();
        Ok((start, AttentionMask::causal_from((batch, next, MaxLen::default()), start, None)))
    }

    /// Checks the batch and the capacity before any layer is changed.
    pub(crate) fn check_fits<S: Dim>(&self, batch: B, next: S) -> Result<(), OpError> {
        check_same_size("the cache", self.batch, "the tokens", batch).map_err(dim_error("cache"))?;
        check_capacity(self.len, next, MaxLen::default())
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
pub struct DecoderCache<B: MaybeSharded, Src: Dim, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> {
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

macro_rules! impl_debug {
    ($name:ident<$($dim:ident: $bound:path),*>, $batch:expr) => {
        impl<$($dim: $bound,)* MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> fmt::Debug
            for $name<$($dim,)* MaxLen, A, E, D>
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let batch: fn(&Self) -> B = $batch;
                let (name, max) = (stringify!($name), MaxLen::default());
                write!(f, "{name} ({:?}, {} of {max:?})", batch(self), self.len())
            }
        }
    };
}
impl_debug!(KeyValueCache<B: MaybeSharded>, |cache| cache.keys.shape().0);
impl_debug!(Cache<B: MaybeSharded>, |cache| cache.batch);
impl_debug!(DecoderCache<B: MaybeSharded, Src: Dim>, |cache| cache.self_attention.batch);
