//! The keys and values of earlier positions: of one attention, of a stack of layers, of a decoder with its source.

mod edit;
mod key_value_cache;
mod layout;

pub use edit::EditableCache;
pub use key_value_cache::{CacheUpdate, KeyValueCache, Keys, KeysAndValues, Values};
pub use layout::{CacheCapacity, CachedHeads, Heads};

use crate::backend::{Backend, tensor_id};
use crate::dims::{ConstDim, DataDim, Dim, check_same_size};
use crate::mask::{AttentionMask, CausalMask, PaddingMask};
use crate::nn::Layers;
use crate::ops::{OpError, Real, dim_error};
use crate::tokens::Indices;
use dfdx::shapes::Shape;
use dfdx::tensor::{Cpu, Tensor, UniqueId};
use edit::take_rows;
use key_value_cache::check_fits;

/// The state of decoding with a stack of causal layers: a [`KeyValueCache`] of at most `MaxLen` positions
/// for each layer. It serves the model that it is made for, and clones of this model.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Autoregressive, Cache}, prelude::*};
/// let model = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::default());
/// let mut cache: Cache<Batch, MaxSeqLen, NumLayers, Model, f32, Cpu> = model.cache(Batch)?;
/// let prompt = TokenIds::from_ids(&[7, 4, 11, 11], None, (Batch, SeqLen))?;
/// let next = TokenIds::from_ids(&[14], None, (Batch, Const::<1>))?;
/// model.next_logits(&prompt, &mut cache)?;
/// let logits: Tensor<(Batch, VocabSize), f32, Cpu> = model.next_logits(&next, &mut cache)?;
/// assert_eq!(cache.len(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cache<B: DataDim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real = f32, D: Backend<E> = Cpu>
{
    /// The keys and values of each layer.
    pub layers: Layers<NumLayers, KeyValueCache<B, MaxLen, A, E, D>>,
    len: usize,
    pub(crate) batch: B,
    /// A parameter of the model that the cache is for.
    parameter: UniqueId,
}

impl<B: DataDim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>>
    Cache<B, MaxLen, NumLayers, A, E, D>
{
    /// An empty cache for the model of this parameter, on its device.
    pub fn new<Dims: Shape>(parameter: &Tensor<Dims, E, D>, batch: B) -> Result<Self, OpError> {
        let layers = Layers::try_from_fn(|_| KeyValueCache::new(parameter.device(), batch))?;
        Ok(Self { layers, len: 0, batch, parameter: tensor_id(parameter) })
    }

    /// The number of positions read so far, those that a window dropped included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the cache has no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reserves the `next` positions `(B, S)`. Each layer's [`update`](KeyValueCache::update) then fills them.
    /// `parameter` is the one that the cache was made with. Returns the number of positions before them and their
    /// causal mask `(B, S, CacheCapacity<MaxLen>)`. A layer with a window takes the [mask of its own
    /// cache](KeyValueCache::mask_of_kind) instead.
    ///
    /// # Errors
    /// [`OpError::OtherCache`] if the cache is for another model; [`OpError::Range`] if it has no room for the
    /// positions; [`OpError::Dim`] if the batches differ in size; [`OpError::UnfilledCache`] if a layer has not filled
    /// the positions that were reserved before, as after an error in between. The cache is then unchanged.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Cache, prelude::*};
    /// let device = Cpu::default();
    /// let parameter: Tensor<(VocabSize, EmbedDim), f32, Cpu> = device.zeros();
    /// let mut cache = Cache::<Batch, MaxSeqLen, NumLayers, Model, f32, Cpu>::new(&parameter, Batch)?;
    /// let (start, mask) = cache.advance(&parameter, (Batch, SeqLen))?;
    /// for layer in &mut cache.layers {
    ///     let (keys, values) = layer.update::<SeqLen>((device.zeros(), device.zeros()))?;
    ///     assert_eq!(keys.shape().1, mask.shape().2);
    /// }
    /// assert_eq!((start, cache.len()), (0, 4));
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn advance<Dims: Shape, S: Dim>(
        &mut self,
        parameter: &Tensor<Dims, E, D>,
        (batch, next): (B, S),
    ) -> Result<(usize, AttentionMask<B, S, CacheCapacity<MaxLen>>), OpError> {
        // The id stays the same where the model is moved, trained or cloned.
        if self.parameter != tensor_id(parameter) {
            return Err(OpError::OtherCache);
        }
        check_same_size("the cache", self.batch, "the tokens", batch).map_err(dim_error("cache"))?;
        check_fits(self.len, next, MaxLen::default())?;
        if let Some(layer) = self.layers.iter().find(|layer| layer.len() != self.len) {
            return Err(OpError::UnfilledCache { reserved: self.len, filled: layer.len() });
        }
        let start = self.len;
        self.len += next.size();
        let capacity = self.layers.first().map_or(CacheCapacity::for_len(self.len), |layer| layer.capacity_with(next));
        Ok((start, AttentionMask::causal::<CausalMask>((batch, next, capacity), start)))
    }
}

#[diagnostic::do_not_recommend]
impl<B: DataDim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> EditableCache<B>
    for Cache<B, MaxLen, NumLayers, A, E, D>
{
    fn truncate(&mut self, len: usize) -> Result<(), OpError> {
        self.layers.iter().try_for_each(|layer| layer.check_truncate(len))?;
        self.layers.truncate(len)?;
        self.len = self.len.min(len);
        Ok(())
    }

    fn num_positions(&self) -> usize {
        self.len
    }

    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError>
    where
        B: Dim,
    {
        check_same_size("the cache", self.batch, "the rows", rows.axis()).map_err(dim_error("cache"))?;
        let mut layers = self.layers.clone();
        layers.reorder(rows)?;
        self.layers = layers;
        Ok(())
    }
}

crate::dims::cloned!(
    [B: DataDim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>]
    Cache<B, MaxLen, NumLayers, A, E, D> { layers, len, batch, parameter }
);
crate::error::debug_as!(
    [B: DataDim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>]
    Cache<B, MaxLen, NumLayers, A, E, D>,
    |this, f| write!(f, "Cache ({:?}, {} of {:?})", this.batch, this.len, MaxLen::default())
);

/// The state of decoding with an encoder-decoder: the self-attention keys and values of the target so
/// far, and the cross-attention keys and values of the source. The latter are computed once.
///
/// ```
/// use typed_transformer::{doctest::*, nn::DecoderCache, prelude::*};
/// let model = LM::<Model, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 11, 11], None, (Batch, SrcLen))?;
/// let encoded = model.encoder.forward(&source, NoneTape)?;
/// let mut cache: DecoderCache<Batch, SrcLen, MaxSeqLen, NumLayers, Model, f32, Cpu> =
///     model.decoder.cache(encoded, &source.padding_mask())?;
/// let start = TokenIds::from_ids(&[26], None, (Batch, Const::<1>))?;
/// model.decoder.forward_cached(&start, &mut cache)?;
/// assert_eq!(cache.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DecoderCache<
    B: DataDim,
    Src: Dim,
    MaxLen: ConstDim,
    NumLayers: ConstDim,
    A: CachedHeads,
    E: Real = f32,
    D: Backend<E> = Cpu,
> {
    /// The keys and values of the target so far.
    pub self_attention: Cache<B, MaxLen, NumLayers, A, E, D>,
    /// The keys and values of the source, for each layer.
    pub cross_attention: Layers<NumLayers, KeysAndValues<B, Src, A, E, D>>,
    /// The padding of the source.
    pub source_padding: PaddingMask<B, Src>,
}

impl<B: DataDim, Src: Dim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>>
    DecoderCache<B, Src, MaxLen, NumLayers, A, E, D>
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

#[diagnostic::do_not_recommend]
impl<B: DataDim, Src: Dim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>>
    EditableCache<B> for DecoderCache<B, Src, MaxLen, NumLayers, A, E, D>
{
    fn truncate(&mut self, len: usize) -> Result<(), OpError> {
        self.self_attention.truncate(len)
    }

    fn num_positions(&self) -> usize {
        self.len()
    }

    fn reorder(&mut self, rows: &Indices<(B,), B>) -> Result<(), OpError>
    where
        B: Dim,
    {
        let mut reordered = self.clone();
        reordered.self_attention.reorder(rows)?;
        for (keys, values) in &mut reordered.cross_attention {
            (*keys, *values) = (take_rows(keys, rows)?, take_rows(values, rows)?);
        }
        reordered.source_padding = self.source_padding.take_rows(rows)?;
        *self = reordered;
        Ok(())
    }
}

crate::dims::cloned!(
    [B: DataDim, Src: Dim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>]
    DecoderCache<B, Src, MaxLen, NumLayers, A, E, D> { self_attention, cross_attention, source_padding }
);
crate::error::debug_as!(
    [B: DataDim, Src: Dim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>]
    DecoderCache<B, Src, MaxLen, NumLayers, A, E, D>,
    |this, f| write!(f, "DecoderCache ({:?}, {} of {:?})", this.self_attention.batch, this.len(), MaxLen::default())
);
