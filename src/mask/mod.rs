//! Masks: the keys that a query may see (*The Typed Transformer*, "Masking").
//!
//! A [`PaddingMask`] is `true` at a token and `false` at padding. A [`MaskKind`] says which positions a position sees:
//! all, those up to its own, or a window. [`mk_mask`] and [`mk_cross_mask`] combine both into an [`AttentionMask`],
//! whose dimensions `(Batch, QLen, KLen)` must be those of the query and the key of the attention.

mod kinds;
mod padding;

pub use kinds::{CausalKind, CausalMask, CenteredWindow, MaskKind, NoMask, SlidingWindow};
pub use padding::{PadQueriesAndKeys, PadSourceKeys, PaddingMask, PaddingRule};

use typed_transformer_cpu::MaskRule;

use crate::dims::{DataDim, Dim, DimError, NamedShape, check_same_size};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Storage, Tensor};
use std::sync::{Arc, OnceLock};

/// The elements in row-major order. dfdx's `as_vec` panics on a tensor without elements.
pub(crate) fn bools_of<Dims: Shape, D: Storage<bool>>(tensor: &Tensor<Dims, bool, D>) -> Vec<bool> {
    if tensor.shape().num_elements() == 0 { Vec::new() } else { tensor.as_vec() }
}

/// A mask of `(Batch, QLen, KLen)`: `true` at `(b, q, k)` lets query `q` of row `b` see key `k`.
///
/// The masks of [`mk_mask`], [`mk_cross_mask`], [`causal`](Self::causal) and [`all_visible`](Self::all_visible) are
/// rules: they take memory for each position, not for each query and key. [`from_fn`](Self::from_fn),
/// [`and`](Self::and) and [`or`](Self::or) make a matrix.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// let shape = (Batch, Const::<2>, Const::<3>);
/// let mask = AttentionMask::from_fn(shape, |_sequence, query, key| key <= query);
/// assert_eq!(mask.as_slice(), [true, false, false, true, true, false]);
/// assert_eq!(AttentionMask::all_visible(shape).as_slice(), [true; 6]);
/// ```
#[derive(Clone)]
pub struct AttentionMask<Batch, QLen, KLen> {
    rule: MaskRule,
    shape: (Batch, QLen, KLen),
    /// The elements, once someone has read them.
    matrix: OnceLock<Arc<[bool]>>,
}

impl<Batch: DataDim, QLen: Dim, KLen: Dim> AttentionMask<Batch, QLen, KLen> {
    /// The mask `visible(sequence, query, key)`, with all three counted from 0.
    pub fn from_fn(shape: (Batch, QLen, KLen), visible: impl Fn(usize, usize, usize) -> bool) -> Self {
        let (queries, keys) = (shape.1.size(), shape.2.size());
        let element = |i: usize| visible(i / (queries * keys), i / keys % queries, i % keys);
        let elements = (0..shape.0.size() * queries * keys).map(element);
        Self::from_rule(shape, MaskRule::from_matrix(sizes(shape), elements.collect()))
    }

    fn from_rule(shape: (Batch, QLen, KLen), rule: MaskRule) -> Self {
        Self { rule, shape, matrix: OnceLock::new() }
    }

    /// A mask that lets every query see every key.
    pub fn all_visible(shape: (Batch, QLen, KLen)) -> Self {
        Self::from_rule(shape, MaskRule::all_visible(sizes(shape)))
    }

    /// Query `q` is at position `start + q`, where `start` may be the number of keys in a cache of your own. The query
    /// sees the keys up to its position that are in the window of `Kind`.
    ///
    /// ```
    /// use typed_transformer::{doctest::Batch, mask::SlidingWindow, prelude::*};
    /// let shape = (Batch, Const::<2>, Const::<4>);
    /// let mask = AttentionMask::causal::<CausalMask>(shape, 2);
    /// assert_eq!(mask.as_slice(), [true, true, true, false, true, true, true, true]);
    /// let mask = AttentionMask::causal::<SlidingWindow<Const<2>>>(shape, 2);
    /// assert_eq!(mask.as_slice(), [false, true, true, false, false, false, true, true]);
    /// ```
    pub fn causal<Kind: CausalKind>(shape: (Batch, QLen, KLen), start: usize) -> Self {
        Self::from_rule(shape, MaskRule::all_visible(sizes(shape)).causal_from(start, Kind::WINDOW))
    }

    /// Query `q` sees key `k` if this mask and `other` let it.
    ///
    /// # Errors
    /// [`DimError::Mismatch`] if a run-time dimension has another size in `other`.
    pub fn and(&self, other: &Self) -> Result<Self, DimError> {
        self.combined(other, |this, other| this && other)
    }

    /// Query `q` sees key `k` if this mask or `other` lets it: a window and some global keys, for example, as in
    /// [Longformer](https://arxiv.org/abs/2004.05150).
    ///
    /// # Errors
    /// [`DimError::Mismatch`] if a run-time dimension has another size in `other`.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { SeqLen = 4; Batch = 1; }
    /// let tokens = PaddingMask::without_padding((Batch, SeqLen));
    /// let window = mk_mask::<SlidingWindow<Const<2>>, PadQueriesAndKeys, _, _>(&tokens);
    /// let is_first = PaddingMask::from_fn(tokens.shape(), |_, position| position == 0);
    /// let first_key = mk_cross_mask::<PadSourceKeys, _, _, _>(&tokens, &is_first)?;
    /// let mask = window.or(&first_key)?;
    /// assert_eq!(mask.as_slice()[8..], [true, true, true, false, true, false, true, true]);
    /// assert_eq!(window.and(&first_key)?.as_slice()[4..8], [true, false, false, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn or(&self, other: &Self) -> Result<Self, DimError> {
        self.combined(other, |this, other| this || other)
    }

    fn combined(&self, other: &Self, visible: impl Fn(bool, bool) -> bool) -> Result<Self, DimError> {
        self.shape.check_same_sizes("the mask", other.shape, "the other mask")?;
        let elements = self.as_slice().iter().zip(other.as_slice()).map(|(this, other)| visible(*this, *other));
        Ok(Self::from_rule(self.shape, MaskRule::from_matrix(sizes(self.shape), elements.collect())))
    }

    /// The dimensions.
    pub fn shape(&self) -> (Batch, QLen, KLen) {
        self.shape
    }

    /// Whether each query sees each key, in row-major order. The first call makes this matrix if the mask is a rule.
    pub fn as_slice(&self) -> &[bool] {
        self.matrix.get_or_init(|| self.rule.to_matrix())
    }

    /// The same mask without the dimensions' types, for kernels.
    pub(crate) fn rule(&self) -> MaskRule {
        self.rule.clone()
    }
}

fn sizes((batch, queries, keys): (impl DataDim, impl Dim, impl Dim)) -> (usize, usize, usize) {
    (batch.size(), queries.size(), keys.size())
}

crate::error::debug_as!(
    [Batch: DataDim, QLen: DataDim, KLen: DataDim] AttentionMask<Batch, QLen, KLen>,
    |this, f| write!(f, "AttentionMask {:?}", this.shape)
);

/// The mask of self-attention (the post's `mk_mask`).
///
/// `(Batch, SeqLen) -> (Batch, SeqLen, SeqLen)`: query `q` sees key `k` if `k` is not padding, if `q` is not padding
/// (when `Padding` masks padded queries), if `k <= q` (when `Kind` is causal), and if `k` is in the window of `Kind`.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// let padding = PaddingMask::without_padding((Batch, TgtLen));
/// let mask = mk_mask::<CausalMask, PadQueriesAndKeys, _, _>(&padding);
/// assert_eq!(mask.as_slice(), [true, false, false, true, true, false, true, true, true]);
/// ```
pub fn mk_mask<Kind: MaskKind, Padding: PaddingRule, Batch: DataDim, SeqLen: Dim>(
    padding: &PaddingMask<Batch, SeqLen>,
) -> AttentionMask<Batch, SeqLen, SeqLen> {
    let (batch, len) = padding.shape();
    let shape = (batch, len, len);
    let rule = MaskRule::all_visible(sizes(shape)).hide_padded_keys(&padding.is_token);
    let rule = match (Kind::CAUSAL, Kind::WINDOW) {
        (true, window) => rule.causal_from(0, window),
        (false, Some(window)) => rule.within(window),
        (false, None) => rule,
    };
    let rule = if Padding::MASKS_PADDED_QUERIES { rule.hide_padded_queries(&padding.is_token) } else { rule };
    AttentionMask::from_rule(shape, rule)
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
pub fn mk_cross_mask<Padding: PaddingRule, Batch: DataDim, QLen: Dim, KLen: Dim>(
    query_padding: &PaddingMask<Batch, QLen>,
    key_padding: &PaddingMask<Batch, KLen>,
) -> Result<AttentionMask<Batch, QLen, KLen>, DimError> {
    let ((batch, queries), (key_batch, keys)) = (query_padding.shape(), key_padding.shape());
    check_same_size("the query padding", batch, "the key padding", key_batch)?;
    let shape = (batch, queries, keys);
    let rule = MaskRule::all_visible(sizes(shape)).hide_padded_keys(&key_padding.is_token);
    let rule = if Padding::MASKS_PADDED_QUERIES { rule.hide_padded_queries(&query_padding.is_token) } else { rule };
    Ok(AttentionMask::from_rule(shape, rule))
}
