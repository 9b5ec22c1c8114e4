use super::{Cache, CachedHeads, EditableCache, KeysAndValues, edit::take_rows};
use crate::backend::Backend;
use crate::dims::{ConstDim, Dim, MaybeSharded};
use crate::mask::PaddingMask;
use crate::nn::Layers;
use crate::ops::{OpError, Real};
use crate::tokens::Indices;
use dfdx::tensor::Cpu;

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
    B: MaybeSharded,
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

impl<B: MaybeSharded, Src: Dim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>>
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
impl<B: MaybeSharded, Src: Dim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>>
    EditableCache<B> for DecoderCache<B, Src, MaxLen, NumLayers, A, E, D>
{
    fn truncate(&mut self, len: usize) -> Result<(), OpError> {
        self.self_attention.truncate(len)
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

impl<B: MaybeSharded, Src: Dim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>> Clone
    for DecoderCache<B, Src, MaxLen, NumLayers, A, E, D>
{
    fn clone(&self) -> Self {
        Self {
            self_attention: self.self_attention.clone(),
            cross_attention: self.cross_attention.clone(),
            source_padding: self.source_padding.clone(),
        }
    }
}

crate::error::debug_as!(
    [B: MaybeSharded, Src: Dim, MaxLen: ConstDim, NumLayers: ConstDim, A: CachedHeads, E: Real, D: Backend<E>]
    DecoderCache<B, Src, MaxLen, NumLayers, A, E, D>,
    |this, f| write!(f, "DecoderCache ({:?}, {} of {:?})", this.self_attention.batch, this.len(), MaxLen::default())
);
