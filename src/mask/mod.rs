//! Masks: the keys that a query may see (*The Typed Transformer*, "Masking").
//!
//! A [`PaddingMask`] marks the positions of a batch that are padding. A [`MaskKind`] says whether
//! attention is causal. [`mk_mask`] and [`mk_cross_mask`] combine both into an [`AttentionMask`], whose
//! dimensions `(Batch, QLen, KLen)` must be those of the query and the key of the attention.

mod kinds;

pub use kinds::{CausalMask, MaskKind, NoMask, PadQueriesAndKeys, PadSourceKeys, PaddingRule, SlidingWindow};

use crate::{
    dims::{ConstDim, Dim, DimError, check_same_size},
    tokens::TokenIds,
};
use std::{fmt, sync::Arc};

/// Which positions of `(Batch, SeqLen)` hold a token: `true` for a token, `false` for padding.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// let pad: Fin<VocabSize> = Fin::literal::<27>();
/// let ids = TokenIds::from_ids(&[7, 4, 27], Some(pad), (Batch, TgtLen))?;
/// assert_eq!(ids.padding_mask().as_slice(), [true, true, false]);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone)]
pub struct PaddingMask<Batch, SeqLen> {
    is_token: Arc<[bool]>,
    shape: (Batch, SeqLen),
}

impl<Batch: Dim, SeqLen: Dim, VocabSize: ConstDim> TokenIds<Batch, SeqLen, VocabSize> {
    /// The padding mask of this batch: `token_ids != pad_token_id`.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*};
    /// let pad: Fin<VocabSize> = Fin::literal::<27>();
    /// let ids = TokenIds::padded(&[vec![Fin::literal::<7>()]], pad, (Batch, TgtLen))?;
    /// assert_eq!(ids.padding_mask().as_slice(), [true, false, false]);
    /// # Ok::<(), TokenError>(())
    /// ```
    pub fn padding_mask(&self) -> PaddingMask<Batch, SeqLen> {
        let pad = self.pad_token_id().map(|pad| pad.value());
        let is_token = self.as_slice().iter().map(|&id| Some(id) != pad);
        PaddingMask { is_token: is_token.collect(), shape: self.shape() }
    }
}

impl<Batch: Dim, SeqLen: Dim> PaddingMask<Batch, SeqLen> {
    /// The mask of a batch without padding: all `true`.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*};
    /// assert_eq!(PaddingMask::without_padding((Batch, TgtLen)).as_slice(), [true, true, true]);
    /// ```
    pub fn without_padding(shape: (Batch, SeqLen)) -> Self {
        Self { is_token: vec![true; shape.0.size() * shape.1.size()].into(), shape }
    }

    /// The dimensions.
    pub fn shape(&self) -> (Batch, SeqLen) {
        self.shape
    }

    /// Whether each position holds a token, in row-major order.
    pub fn as_slice(&self) -> &[bool] {
        &self.is_token
    }

    fn row(&self, row: usize) -> &[bool] {
        let len = self.shape.1.size();
        &self.is_token[row * len..(row + 1) * len]
    }
}

/// Which keys each query may see: `true` at `(b, q, k)` lets query `q` of row `b` see key `k`.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// let mask = AttentionMask::from_fn((Batch, Const::<2>, Const::<3>), |_, q, k| k <= q);
/// assert_eq!(mask.as_slice(), [true, false, false, true, true, false]);
/// ```
#[derive(Clone)]
pub struct AttentionMask<Batch, QLen, KLen> {
    visible: Arc<[bool]>,
    shape: (Batch, QLen, KLen),
}

impl<Batch: Dim, QLen: Dim, KLen: Dim> AttentionMask<Batch, QLen, KLen> {
    /// The mask `visible(sequence, query, key)`, with all three counted from 0.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*};
    /// // Each query sees the key of its own position.
    /// let mask = AttentionMask::from_fn((Batch, Const::<2>, Const::<2>), |_, q, k| q == k);
    /// assert_eq!(mask.as_slice(), [true, false, false, true]);
    /// ```
    pub fn from_fn(shape: (Batch, QLen, KLen), visible: impl Fn(usize, usize, usize) -> bool) -> Self {
        Self::from_queries(shape, |b, q, keys| {
            keys.iter_mut().enumerate().for_each(|(k, key)| *key = visible(b, q, k));
        })
    }

    /// Builds a mask query by query. `fill(b, q, keys)` marks the keys that query `q` of sequence `b` sees; `keys`
    /// starts all `false`.
    fn from_queries(shape: (Batch, QLen, KLen), fill: impl Fn(usize, usize, &mut [bool])) -> Self {
        let (batch, queries, keys) = (shape.0.size(), shape.1.size(), shape.2.size());
        let mut visible = vec![false; batch * queries * keys];
        for (i, keys) in visible.chunks_mut(keys.max(1)).enumerate() {
            fill(i / queries, i % queries, keys);
        }
        Self { visible: visible.into(), shape }
    }

    /// A mask that lets every query see every key.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*};
    /// let mask = AttentionMask::all_visible((Batch, Const::<1>, Const::<2>));
    /// assert_eq!(mask.as_slice(), [true, true]);
    /// ```
    pub fn all_visible(shape: (Batch, QLen, KLen)) -> Self {
        Self::from_fn(shape, |_, _, _| true)
    }

    /// The dimensions.
    pub fn shape(&self) -> (Batch, QLen, KLen) {
        self.shape
    }

    /// Whether each query sees each key, in row-major order.
    pub fn as_slice(&self) -> &[bool] {
        &self.visible
    }

    /// The same elements, for a backward pass to keep without a copy.
    pub(crate) fn clone_arc(&self) -> Arc<[bool]> {
        self.visible.clone()
    }
}

macro_rules! debug_with_shape {
    ($name:ident<$($dim:ident),*>) => {
        impl<$($dim: Dim),*> fmt::Debug for $name<$($dim),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {:?}", stringify!($name), self.shape)
            }
        }
    };
}
debug_with_shape!(PaddingMask<Batch, SeqLen>);
debug_with_shape!(AttentionMask<Batch, QLen, KLen>);

/// The mask of self-attention (the post's `mk_mask`).
///
/// `(Batch, SeqLen) -> (Batch, SeqLen, SeqLen)`: query `q` sees key `k` if `k` is not padding, if `q` is
/// not padding (when `Padding` masks padded queries), if `k <= q` (when `Kind` is causal), and if `k` is in the window
/// of `Kind`.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// let padding = PaddingMask::without_padding((Batch, TgtLen));
/// let mask = mk_mask::<CausalMask, PadQueriesAndKeys, _, _>(&padding);
/// assert_eq!(
///     mask.as_slice(),
///     [true, false, false, true, true, false, true, true, true],
/// );
/// ```
pub fn mk_mask<Kind: MaskKind, Padding: PaddingRule, Batch: Dim, SeqLen: Dim>(
    padding: &PaddingMask<Batch, SeqLen>,
) -> AttentionMask<Batch, SeqLen, SeqLen> {
    let (batch, len) = padding.shape();
    AttentionMask::from_queries((batch, len, len), |b, q, visible| {
        let is_token = padding.row(b);
        if is_token[q] || !Padding::MASKS_PADDED_QUERIES {
            let start = Kind::WINDOW.map_or(0, |width| (q + 1).saturating_sub(width));
            let end = if Kind::CAUSAL { q + 1 } else { is_token.len() };
            visible[start..end].copy_from_slice(&is_token[start..end]);
        }
    })
}

/// The mask of cross-attention (*The Typed Transformer*, "Cross-attention").
///
/// `(Batch, QLen), (Batch, KLen) -> (Batch, QLen, KLen)`: query `q` sees key `k` if `k` is not padding
/// and if `q` is not padding (when `Padding` masks padded queries).
///
/// # Errors
/// [`DimError::Mismatch`] if the two batches have different sizes.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// let target = PaddingMask::without_padding((Batch, TgtLen));
/// let source = PaddingMask::without_padding((Batch, SrcLen));
/// let mask = mk_cross_mask::<PadQueriesAndKeys, _, _, _>(&target, &source)?;
/// assert_eq!(mask.shape(), (Batch, TgtLen, SrcLen));
/// # Ok::<(), DimError>(())
/// ```
pub fn mk_cross_mask<Padding: PaddingRule, Batch: Dim, QLen: Dim, KLen: Dim>(
    query_padding: &PaddingMask<Batch, QLen>,
    key_padding: &PaddingMask<Batch, KLen>,
) -> Result<AttentionMask<Batch, QLen, KLen>, DimError> {
    let ((batch, queries), (key_batch, keys)) = (query_padding.shape(), key_padding.shape());
    check_same_size("the query padding", batch, "the key padding", key_batch)?;
    Ok(AttentionMask::from_queries((batch, queries, keys), |b, q, visible| {
        if query_padding.row(b)[q] || !Padding::MASKS_PADDED_QUERIES {
            visible.copy_from_slice(key_padding.row(b));
        }
    }))
}
