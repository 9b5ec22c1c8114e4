//! Beam search reorders the rows of a cache, speculative decoding drops its last positions, and a sliding window its
//! first ones.

use super::key_value_cache::grow;
use super::{CacheCapacity, CachedHeads, KeyValueCache};
use crate::backend::Backend;
use crate::dims::{AnyDim, ConstDim, DataDim, Dim, check_same_size};
use crate::nn::Layers;
use crate::ops::{OpError, Real, device_error, dim_error, gather_runs};
use crate::tokens::Indices;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;
use std::ops::Range;

/// A cache of the batch `B` whose rows can be reordered and last positions dropped: a [`KeyValueCache`], a
/// [`Cache`](super::Cache), a [`DecoderCache`](super::DecoderCache), or one of these for each layer. [Beam
/// search](crate::generate::beam_search) and [speculative decoding](crate::generate::Speculation) need it.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Autoregressive, Cache, EditableCache}, prelude::*};
/// dims! { pub Beams = 2; }
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let mut cache: Cache<Beams, MaxSeqLen, NumLayers, Model, f32, Cpu> = model.cache(Beams)?;
/// model.next_logits(&TokenIds::from_ids(&[7, 4, 11, 11], None, (Beams, Const::<2>))?, &mut cache)?;
/// let before = cache.clone();
/// cache.truncate(1)?;
/// assert_eq!((before.len(), cache.len()), (2, 1));
/// // Both beams continue the second one.
/// cache.reorder(&Indices::new(&[1, 1], (Beams,), Beams)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no cache of `{B}` that can be edited",
    label = "`{Self}` does not implement `EditableCache<{B}>`",
    note = "beam search reorders the rows of a cache, and speculative decoding truncates it; a state of your own is in a struct that implements `EditableCache`"
)]
pub trait EditableCache<B: DataDim> {
    /// Keeps the first `len` positions, as [`Vec::truncate`] does. Speculative decoding uses this to remove the tokens
    /// that the model rejects.
    ///
    /// # Errors
    /// [`OpError::Range`] if the cache no longer has what position `len` sees, for example because a [sliding
    /// window](super::KeyValueCache::slide) has dropped it. Speculative decoding then reads the text again.
    fn truncate(&mut self, len: usize) -> Result<(), OpError>;

    /// The number of positions that were written to the cache, also those that a window dropped. Speculative decoding
    /// adds those of a new cache, such as the positions of a prefix, to the number that it keeps. A cache that always
    /// begins without positions needs no such method.
    fn num_positions(&self) -> usize {
        0
    }

    /// Row `i` of the batch becomes a copy of row `rows[i]`, in the cache of an encoder-decoder together with its
    /// source. Beam search uses this to go on with the beams that it keeps.
    ///
    /// # Errors
    /// [`OpError::Dim`] if the rows are those of another batch. The cache is then unchanged.
    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError>
    where
        B: Dim;
}

#[diagnostic::do_not_recommend]
impl<B: DataDim, NumLayers: ConstDim, Layer: EditableCache<B>> EditableCache<B> for Layers<NumLayers, Layer> {
    fn truncate(&mut self, len: usize) -> Result<(), OpError> {
        self.iter_mut().try_for_each(|layer| layer.truncate(len))
    }

    fn num_positions(&self) -> usize {
        self.first().map_or(0, EditableCache::num_positions)
    }

    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError>
    where
        B: Dim,
    {
        self.iter_mut().try_for_each(|layer| layer.reorder(rows))
    }
}

const OP: &str = "cache";

crate::dims::cloned!(
    /// A copy shares its memory with the original until one of the two changes.
    [B: DataDim, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>] KeyValueCache<B, MaxLen, A, E, D>
    { keys, values, len, num_dropped, window }
);

#[diagnostic::do_not_recommend]
impl<B: DataDim, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> EditableCache<B>
    for KeyValueCache<B, MaxLen, A, E, D>
{
    fn truncate(&mut self, len: usize) -> Result<(), OpError> {
        self.check_truncate(len)?;
        self.len = self.len.min(len);
        // An empty cache has dropped nothing.
        self.num_dropped = self.num_dropped.min(self.len);
        Ok(())
    }

    fn num_positions(&self) -> usize {
        self.len
    }

    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError>
    where
        B: Dim,
    {
        let batch = self.keys.shape().0;
        check_same_size("the cache", batch, "the rows", rows.axis()).map_err(dim_error(OP))?;
        check_same_size("the cache", batch, "the rows", rows.shape().0).map_err(dim_error(OP))?;
        (self.keys, self.values) = (take_rows(&self.keys, rows)?, take_rows(&self.values, rows)?);
        Ok(())
    }
}

impl<B: DataDim, MaxLen: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> KeyValueCache<B, MaxLen, A, E, D> {
    pub(super) fn check_truncate(&self, len: usize) -> Result<(), OpError> {
        let num_seen = self.window.saturating_sub(1).min(len);
        if (1..self.len).contains(&len) && len - num_seen < self.num_dropped {
            let part = format!("a window of {} positions", self.window);
            let whole = format!("the kept positions {}..{}", self.num_dropped, self.len);
            return Err(OpError::Range { op: OP, part, start: len - num_seen, whole });
        }
        Ok(())
    }
}

/// Row `rows[i]` for each row `i` of the batch: `(B, Len, M) -> (B, Len, M)`.
pub(super) fn take_rows<B: Dim, Len: Dim, M: AnyDim, E: Real, D: Backend<E>>(
    x: &Tensor<(B, Len, M), E, D>,
    rows: &Indices<(B,), B>,
) -> Result<Tensor<(B, Len, M), E, D>, OpError> {
    let (_, len, width) = *x.shape();
    let row_len = len.size() * width.size();
    let starts = rows.as_slice().iter().map(|row| row * row_len).collect();
    gather(x, starts, row_len, *x.shape())
}

crate::dims! {
    /// The positions that remain in a cache.
    Held;
}

/// The positions `kept` as the first ones: `(B, CacheCapacity<MaxLen>, M) -> (B, CacheCapacity<MaxLen>, M)`.
pub(super) fn keep<B: DataDim, MaxLen: ConstDim, M: AnyDim, E: Real, D: Backend<E>>(
    old: &Tensor<(B, CacheCapacity<MaxLen>, M), E, D>,
    kept: Range<usize>,
) -> Result<Tensor<(B, CacheCapacity<MaxLen>, M), E, D>, OpError> {
    let (batch, capacity, width) = *old.shape();
    let held = Held::new(kept.len());
    let starts = (0..batch.size()).map(|row| (row * capacity.size() + kept.start) * width.size()).collect();
    let part = gather(old, starts, held.size() * width.size(), (batch, held, width))?;
    grow(&part, CacheCapacity::for_len(held.size()))
}

/// [`gather_runs`], which may gather nothing.
fn gather<Dims: Shape, To: Shape, E: Real, D: Backend<E>>(
    x: &Tensor<Dims, E, D>,
    starts: Vec<usize>,
    len: usize,
    to: To,
) -> Result<Tensor<To, E, D>, OpError> {
    if to.num_elements() == 0 {
        return x.device().try_zeros_like(&to).map_err(device_error::<D::Err>(OP));
    }
    gather_runs(OP, x.clone(), starts, len, to)
}
