use super::Arch;
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim, Product, same},
    mask::{AttentionMask, PaddingMask},
    ops::{OpError, Real, device_error, dim_error},
};
use dfdx::{shapes::HasShape, tensor::Tensor};
use std::fmt;

/// The keys and values of positions that a causal attention has read, of at most `MaxLen` positions, so
/// that the next position need not read them again.
///
/// Its room is set aside once. What is not read yet is hidden by [`mask`](Self::mask), so attention costs
/// the same at every position.
pub struct KeyValueCache<B: Dim, MaxLen: ConstDim, A: Arch, E: Real, D: Backend<E>> {
    keys: Keys<B, MaxLen, A, E, D>,
    values: Values<B, MaxLen, A, E, D>,
    len: usize,
}

/// The keys of all heads.
pub type Keys<B, Len, A, E, D> = Tensor<(B, Len, Product<<A as Arch>::NumHeads, <A as Arch>::QKDim>), E, D>;

/// The values of all heads.
pub type Values<B, Len, A, E, D> = Tensor<(B, Len, Product<<A as Arch>::NumHeads, <A as Arch>::VODim>), E, D>;

impl<B: Dim, MaxLen: ConstDim, A: Arch, E: Real, D: Backend<E>> KeyValueCache<B, MaxLen, A, E, D> {
    /// A cache of nothing yet.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub fn try_new(device: &D, batch: B) -> Result<Self, OpError> {
        let compute = || {
            Ok(Self {
                keys: device.try_zeros_like(&(batch, MaxLen::default(), Product::default()))?,
                values: device.try_zeros_like(&(batch, MaxLen::default(), Product::default()))?,
                len: 0,
            })
        };
        compute().map_err(device_error::<D::Err>("cache"))
    }

    /// How many positions it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Which of its keys the next positions may see: all before them, and themselves.
    #[must_use]
    pub fn mask<S: Dim>(&self, next: S) -> AttentionMask<B, S, MaxLen> {
        let (batch, max, _) = *self.keys.shape();
        AttentionMask::from_fn((batch, next, max), |_, q, k| k <= self.len + q)
    }

    /// Adds the keys and values of the next positions.
    ///
    /// # Errors
    /// [`OpError::Range`] if there is no room for them; [`OpError::Dim`] if the batches or the two
    /// lengths differ in size; [`OpError::Device`] if the device fails.
    pub fn try_append<S: Dim>(
        &mut self,
        keys: &Keys<B, S, A, E, D>,
        values: &Values<B, S, A, E, D>,
    ) -> Result<(), OpError> {
        let (batch, max, _) = *self.keys.shape();
        let ((key_batch, len, _), (value_batch, value_len, _)) = (*keys.shape(), *values.shape());
        let check = || {
            same("the cache", batch, "the keys", key_batch)?;
            same("the cache", batch, "the values", value_batch)?;
            same("the keys", len, "the values", value_len)
        };
        check().map_err(dim_error("cache"))?;
        room_for(self.len, len, max)?;
        D::try_assign_rows(&mut self.keys, keys, self.len)?;
        D::try_assign_rows(&mut self.values, values, self.len)?;
        self.len += len.size();
        Ok(())
    }

    /// The keys of all positions that there is room for.
    #[must_use]
    pub fn keys(&self) -> &Keys<B, MaxLen, A, E, D> {
        &self.keys
    }

    /// The values of all positions that there is room for.
    #[must_use]
    pub fn values(&self) -> &Values<B, MaxLen, A, E, D> {
        &self.values
    }
}

/// Refuses positions past the last.
pub(crate) fn room_for<S: Dim, MaxLen: Dim>(start: usize, next: S, max: MaxLen) -> Result<(), OpError> {
    if start + next.size() > max.size() {
        return Err(OpError::Range {
            op: "cache",
            part: format!("{next:?}"),
            start,
            whole: format!("{max:?}"),
        });
    }
    Ok(())
}

/// What a stack of causal layers has read, of at most `MaxLen` positions: a [`KeyValueCache`] for each.
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
pub struct Cache<B: Dim, MaxLen: ConstDim, A: Arch, E: Real, D: Backend<E>> {
    pub(crate) layers: Vec<KeyValueCache<B, MaxLen, A, E, D>>,
    pub(crate) len: usize,
    pub(crate) batch: B,
}

impl<B: Dim, MaxLen: ConstDim, A: Arch, E: Real, D: Backend<E>> Cache<B, MaxLen, A, E, D> {
    /// A cache of nothing yet for as many layers.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    pub(crate) fn try_new(device: &D, batch: B, layers: usize) -> Result<Self, OpError> {
        let layers = (0..layers).map(|_| KeyValueCache::try_new(device, batch));
        Ok(Self { layers: layers.collect::<Result<_, _>>()?, len: 0, batch })
    }

    /// How many positions were read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Refuses what has another batch or finds no room, before anything is changed.
    pub(crate) fn check<S: Dim>(&self, batch: B, next: S) -> Result<(), OpError> {
        same("the cache", self.batch, "the tokens", batch).map_err(dim_error("cache"))?;
        room_for(self.len, next, MaxLen::default())
    }
}

/// What the decoder of an encoder-decoder keeps while it writes: of the target, what it has written; of
/// the source, the keys and values that each layer's cross-attention makes of it once.
pub struct DecoderCache<B: Dim, Src: Dim, MaxLen: ConstDim, A: Arch, E: Real, D: Backend<E>> {
    pub(crate) written: Cache<B, MaxLen, A, E, D>,
    pub(crate) source: Vec<SourceKeys<B, Src, A, E, D>>,
    pub(crate) source_padding: PaddingMask<B, Src>,
}

/// What one cross-attention makes of a source.
pub(crate) type SourceKeys<B, Src, A, E, D> = (Keys<B, Src, A, E, D>, Values<B, Src, A, E, D>);

impl<B: Dim, Src: Dim, MaxLen: ConstDim, A: Arch, E: Real, D: Backend<E>>
    DecoderCache<B, Src, MaxLen, A, E, D>
{
    /// How many positions were written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.written.len()
    }

    /// Whether none was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.written.is_empty()
    }
}

macro_rules! debug {
    ($name:ident<$($dim:ident: $bound:path),*>, $batch:expr) => {
        impl<$($dim: $bound,)* MaxLen: ConstDim, A: Arch, E: Real, D: Backend<E>> fmt::Debug
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
debug!(KeyValueCache<B: Dim>, |cache| cache.keys.shape().0);
debug!(Cache<B: Dim>, |cache| cache.batch);
debug!(DecoderCache<B: Dim, Src: Dim>, |cache| cache.written.batch);
