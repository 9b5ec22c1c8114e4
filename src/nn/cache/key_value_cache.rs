use super::{CacheCapacity, CachedHeads, edit::keep};
use crate::backend::{Backend, assign_positions};
use crate::dims::{AnyDim, ConstDim, DataDim, Dim, Product, check_same_size};
use crate::mask::{AttentionMask, CausalKind, CausalMask};
use crate::ops::{OpError, Real, device_error, dim_error, range_error};
use dfdx::shapes::HasShape;
use dfdx::tensor::{Cpu, NoneTape, Tensor};

/// The keys and values of one causal self-attention. A decoding step then computes keys and values for new
/// positions only.
///
/// It serves a sequence of at most `MaxLen` positions, those that a window drops included. Its tensors have a [few
/// unused positions](CacheCapacity) at the end. [`mask`](Self::mask) hides these from attention.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{CacheCapacity, KeyValueCache, Keys, Values}, prelude::*};
/// let device = Cpu::default();
/// let mut cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::new(&device, Batch)?;
/// let keys: Keys<Batch, SeqLen, Model, f32, Cpu> = device.zeros();
/// let values: Values<Batch, SeqLen, Model, f32, Cpu> = device.zeros();
/// cache.append(&keys, &values)?;
/// assert_eq!((cache.len(), cache.is_empty(), cache.values().shape().2), (4, false, Product::default()));
/// // The next position sees these 4 and itself.
/// let mask: AttentionMask<Batch, Const<1>, CacheCapacity<MaxSeqLen>> = cache.mask(Const);
/// assert_eq!(mask.as_slice().iter().filter(|&&is_visible| is_visible).count(), 5);
/// # Ok::<(), OpError>(())
/// ```
pub struct KeyValueCache<B: DataDim, MaxLen: ConstDim, A: CachedHeads, E: Real = f32, D: Backend<E> = Cpu> {
    pub(super) keys: Keys<B, CacheCapacity<MaxLen>, A, E, D>,
    pub(super) values: Values<B, CacheCapacity<MaxLen>, A, E, D>,
    /// The positions decoded so far, dropped ones included.
    pub(super) len: usize,
    /// The positions that the tensors no longer hold, because they lie before a sliding window.
    pub(super) num_dropped: usize,
    /// The width of that window; 0 if none has dropped anything.
    pub(super) window: usize,
}

/// The keys of all heads: `(B, Len, Product<NumHeads, QKDim>)`.
pub type Keys<B, Len, A, E = f32, D = Cpu, T = NoneTape> =
    Tensor<(B, Len, Product<<A as CachedHeads>::NumHeads, <A as CachedHeads>::QKDim>), E, D, T>;

/// The values of all heads: `(B, Len, Product<NumHeads, VODim>)`.
pub type Values<B, Len, A, E = f32, D = Cpu, T = NoneTape> =
    Tensor<(B, Len, Product<<A as CachedHeads>::NumHeads, <A as CachedHeads>::VODim>), E, D, T>;

/// The keys and the values of `Len` positions.
pub type KeysAndValues<B, Len, A, E = f32, D = Cpu, T = NoneTape> =
    (Keys<B, Len, A, E, D, T>, Values<B, Len, A, E, D, T>);

/// What an attention does with the keys and values of `Q` new positions: they join a cache, and those of all `K`
/// positions come back, the cached ones first.
///
/// Training has no cache and passes `Ok`, which returns the new keys and values as they are. Decoding passes
/// [`KeyValueCache::update`]. So one `forward` serves both:
///
/// ```
/// use typed_transformer::{doctest::*, nn::{CacheUpdate, KeyValueCache, Linear}, prelude::*};
///
/// type Columns = Product<NumHeads, HeadDim>;
///
/// #[module(output = EmbedDim)]
/// struct Attention<E, D> {
///     query: Linear<EmbedDim, Columns, E, D>,
///     key: Linear<EmbedDim, Columns, E, D>,
///     value: Linear<EmbedDim, Columns, E, D>,
///     output: Linear<Columns, EmbedDim, E, D>,
/// }
///
/// impl<E: Real, D: Backend<E>> Attention<E, D> {
///     fn forward<B: Dim, Q: Dim, K: Dim, T: Tape<E, D>>(
///         &self,
///         x: Tensor<(B, Q, EmbedDim), E, D, T>,
///         mask: &AttentionMask<B, Q, K>,
///         update_cache: impl CacheUpdate<B, Q, K, Model, E, D, T>,
///     ) -> Result<Tensor<(B, Q, EmbedDim), E, D, T>, OpError> {
///         let query = self.query.forward(x.clone())?;
///         let (key, value) = update_cache((self.key.forward(x.clone())?, self.value.forward(x)?))?;
///         self.output.forward(multi_head_attention(query, key, value, mask, AttentionOptions::default())?)
///     }
/// }
///
/// let device = Cpu::seed_from_u64(0);
/// let layer = Attention::<f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.sample_normal();
///
/// let mask = mk_mask::<CausalMask, PadSourceKeys, _, _>(&PaddingMask::without_padding((Batch, SeqLen)));
/// let whole = layer.forward(x.clone(), &mask, Ok)?;
///
/// let mut cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::new(&device, Batch)?;
/// // The mask comes before the update: afterwards the new positions would count as earlier ones.
/// let mask = cache.mask(SeqLen);
/// let cached = layer.forward(x, &mask, |new| cache.update(new))?;
/// assert!(whole.as_vec().iter().zip(cached.as_vec()).all(|(x, y)| (x - y).abs() < 1e-5));
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the update of a cache does not lead from the keys and values of `{Q}` positions to those of `{K}`",
    label = "this is not an update of a cache from `{Q}` to `{K}` positions",
    note = "`Ok` keeps the `{Q}` new positions; `|new| cache.update(new)` returns all `CacheCapacity` positions of a cache"
)]
pub trait CacheUpdate<B: DataDim, Q: Dim, K: Dim, A: CachedHeads, E: Real, D: Backend<E>, T>:
    FnOnce(KeysAndValues<B, Q, A, E, D, T>) -> Result<KeysAndValues<B, K, A, E, D, T>, OpError>
{
}
#[diagnostic::do_not_recommend]
impl<B: DataDim, Q: Dim, K: Dim, A: CachedHeads, E: Real, D: Backend<E>, T, F> CacheUpdate<B, Q, K, A, E, D, T> for F where
    F: FnOnce(KeysAndValues<B, Q, A, E, D, T>) -> Result<KeysAndValues<B, K, A, E, D, T>, OpError>
{
}

impl<B: DataDim, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> KeyValueCache<B, MaxLen, A, E, D> {
    /// An empty cache.
    pub fn new(device: &D, batch: B) -> Result<Self, OpError> {
        let capacity = CacheCapacity::for_len(0);
        let allocate = || {
            Ok(Self {
                keys: device.try_zeros_like(&(batch, capacity, Product::default()))?,
                values: device.try_zeros_like(&(batch, capacity, Product::default()))?,
                len: 0,
                num_dropped: 0,
                window: 0,
            })
        };
        allocate().map_err(device_error::<D::Err>("cache"))
    }

    /// The number of positions that were read so far, those that a window dropped included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The number of positions whose keys and values the tensors hold: [`len`](Self::len) without those that a
    /// [window dropped](Self::slide).
    ///
    /// Before an update, it is the `start` of a bias by position, such as [`alibi`](crate::ops::alibi), which counts
    /// from the first key that the tensors hold. Rotary positions start at `len`.
    #[must_use]
    pub fn num_held(&self) -> usize {
        self.len - self.num_dropped
    }

    /// The capacity once `next` positions are appended. Appending never shrinks it, so a truncated cache has more room
    /// than it needs.
    pub(super) fn capacity_with<S: Dim>(&self, next: S) -> CacheCapacity<MaxLen> {
        let (_, capacity, _) = *self.keys.shape();
        let needed = CacheCapacity::for_len(self.num_held() + next.size());
        if needed.size() > capacity.size() { needed } else { capacity }
    }

    /// Whether the cache has no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The mask for `next` new positions, `(B, S, CacheCapacity<MaxLen>)`: each sees itself and all positions before it
    /// that the cache holds.
    ///
    /// The keys are those of the cache after the new positions are appended. Unused positions are hidden.
    #[must_use]
    pub fn mask<S: Dim>(&self, next: S) -> AttentionMask<B, S, CacheCapacity<MaxLen>> {
        self.mask_of_kind::<CausalMask, S>(next)
    }

    /// [`mask`](Self::mask) of a mask kind: under a [`SlidingWindow`](crate::mask::SlidingWindow), each position sees
    /// only the last positions up to itself.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, mask::SlidingWindow, nn::{CacheCapacity, KeyValueCache}, prelude::*};
    /// dims! { pub Width = 1; }
    /// let cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::new(&Cpu::default(), Batch)?;
    /// let mask: AttentionMask<Batch, Const<2>, CacheCapacity<MaxSeqLen>> = cache.mask_of_kind::<SlidingWindow<Width>, _>(Const);
    /// assert_eq!(mask.as_slice().iter().filter(|&&is_visible| is_visible).count(), 2);
    /// # Ok::<(), OpError>(())
    /// ```
    #[must_use]
    pub fn mask_of_kind<Mask: CausalKind, S: Dim>(&self, next: S) -> AttentionMask<B, S, CacheCapacity<MaxLen>> {
        const { assert!(Mask::CAUSAL, "decoding with a cache needs a mask kind with `CAUSAL = true`") };
        let (batch, _, _) = *self.keys.shape();
        // The mask counts from the first key that the tensors hold. Rotary positions count dropped ones, too: they
        // begin at `len`.
        AttentionMask::causal::<Mask>((batch, next, self.capacity_with(next)), self.num_held())
    }

    /// Drops the positions that the next query does not see under `Mask`, once there are as many of them as the window
    /// is wide. After the call, the cache of a [`SlidingWindow`](crate::mask::SlidingWindow) holds fewer than two
    /// windows. Call it before a step, not after it, so that `truncate` can still remove the last step. A later call
    /// with a wider window, or with [`CausalMask`], does not see what was dropped.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, mask::SlidingWindow, nn::KeyValueCache, prelude::*};
    /// dims! { pub Width = 2; }
    /// let device = Cpu::default();
    /// let mut cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::new(&device, Batch)?;
    /// cache.append::<SeqLen>(&device.zeros(), &device.zeros())?;
    /// cache.slide::<SlidingWindow<Width>>()?;
    /// // The next position sees itself and the last of these 4.
    /// assert_eq!((cache.len(), cache.num_held(), cache.keys().shape().1.size()), (4, 1, 1));
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn slide<Mask: CausalKind>(&mut self) -> Result<(), OpError> {
        let Some(window) = Mask::WINDOW else { return Ok(()) };
        let num_out_of_window = self.num_held().saturating_sub(window.saturating_sub(1));
        if num_out_of_window < window.max(1) {
            return Ok(());
        }
        let kept = num_out_of_window..self.num_held();
        (self.keys, self.values) = (keep(&self.keys, kept.clone())?, keep(&self.values, kept)?);
        self.num_dropped += num_out_of_window;
        self.window = window;
        Ok(())
    }

    /// Appends the keys and values of the next positions.
    ///
    /// # Errors
    /// [`OpError::Range`] if the cache would have more than `MaxLen` positions; [`OpError::Dim`] if the batches or the
    /// two lengths differ in size.
    pub fn append<S: Dim>(
        &mut self,
        keys: &Keys<B, S, A, E, D>,
        values: &Values<B, S, A, E, D>,
    ) -> Result<(), OpError> {
        let (batch, capacity, _) = *self.keys.shape();
        let ((key_batch, len, _), (value_batch, value_len, _)) = (*keys.shape(), *values.shape());
        let check = || {
            check_same_size("the cache", batch, "the keys", key_batch)?;
            check_same_size("the cache", batch, "the values", value_batch)?;
            check_same_size("the keys", len, "the values", value_len)
        };
        check().map_err(dim_error("cache"))?;
        check_fits(self.len, len, MaxLen::default())?;
        let needed = self.capacity_with(len);
        if needed != capacity {
            self.keys = grow(&self.keys, needed)?;
            self.values = grow(&self.values, needed)?;
        }
        let num_held = self.num_held();
        assign_positions(&mut self.keys, keys, num_held)?;
        assign_positions(&mut self.values, values, num_held)?;
        self.len += len.size();
        Ok(())
    }

    /// Appends the keys and values of the next positions. Returns those of the whole cache, unused positions included:
    /// a [`CacheUpdate`].
    ///
    /// # Errors
    /// Those of [`append`](Self::append).
    pub fn update<S: Dim>(
        &mut self,
        (keys, values): KeysAndValues<B, S, A, E, D>,
    ) -> Result<KeysAndValues<B, CacheCapacity<MaxLen>, A, E, D>, OpError> {
        self.append(&keys, &values)?;
        Ok((self.keys.clone(), self.values.clone()))
    }

    /// The keys of the positions that the cache holds, then the unused ones.
    #[must_use]
    pub fn keys(&self) -> &Keys<B, CacheCapacity<MaxLen>, A, E, D> {
        &self.keys
    }

    /// The values of the positions that the cache holds, then the unused ones.
    #[must_use]
    pub fn values(&self) -> &Values<B, CacheCapacity<MaxLen>, A, E, D> {
        &self.values
    }
}

/// These keys or values with room for more: `(B, Len, M) -> (B, CacheCapacity<MaxLen>, M)`.
pub(super) fn grow<B: DataDim, Len: Dim, MaxLen: ConstDim, M: AnyDim, E: Real, D: Backend<E>>(
    old: &Tensor<(B, Len, M), E, D>,
    capacity: CacheCapacity<MaxLen>,
) -> Result<Tensor<(B, CacheCapacity<MaxLen>, M), E, D>, OpError> {
    let (batch, _, width) = *old.shape();
    let grown = old.device().try_zeros_like(&(batch, capacity, width));
    let mut grown = grown.map_err(device_error::<D::Err>("cache"))?;
    assign_positions(&mut grown, old, 0)?;
    Ok(grown)
}

/// Checks that `next` positions from `start` on fit into `max`.
pub(super) fn check_fits<S: Dim, MaxLen: Dim>(start: usize, next: S, max: MaxLen) -> Result<(), OpError> {
    if start + next.size() > max.size() {
        return Err(range_error("cache", &next, start, &max));
    }
    Ok(())
}

crate::error::debug_as!(
    [B: DataDim, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>] KeyValueCache<B, MaxLen, A, E, D>,
    |this, f| write!(f, "KeyValueCache ({:?}, {} of {:?})", this.keys.shape().0, this.len, MaxLen::default())
);
