//! Masks: the keys that a query may see (*The Typed Transformer*, "Masking").
//!
//! A [`PaddingMask`] is `true` at a token and `false` at padding. A [`MaskKind`] says whether
//! attention is causal. [`mk_mask`] and [`mk_cross_mask`] combine both into an [`AttentionMask`], whose
//! dimensions `(Batch, QLen, KLen)` must be those of the query and the key of the attention.

mod kinds;

pub use kinds::{
    CausalKind, CausalMask, CenteredWindow, MaskKind, NoMask, PadQueriesAndKeys, PadSourceKeys, PaddingRule,
    SlidingWindow,
};

use typed_transformer_cpu::MaskRule;

use crate::dims::{ConstDim, Dim, DimError, MaybeSharded, NamedShape, check_same_size, name};
use crate::tokens::{Indices, TokenError, TokenIds};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Storage, Tensor};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A mask of `(Batch, SeqLen)`: `true` for a token, `false` for padding.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// let pad: Fin<VocabSize> = Fin::literal::<27>();
/// let ids = TokenIds::from_ids(&[7, 4, 27], Some(pad), (Batch, TgtLen))?;
/// assert_eq!(PaddingMask::from_lengths(&[2], (Batch, TgtLen))?.as_slice(), [true, true, false]);
/// assert_eq!(ids.padding_mask().as_slice(), [true, true, false]);
/// assert_eq!(PaddingMask::without_padding((Batch, TgtLen)).as_slice(), [true, true, true]);
/// assert_eq!(PaddingMask::from_fn((Batch, TgtLen), |_sequence, position| position > 0).as_slice(), [false, true, true]);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone)]
pub struct PaddingMask<Batch, SeqLen> {
    is_token: Arc<[bool]>,
    shape: (Batch, SeqLen),
}

impl<Batch: MaybeSharded, SeqLen: Dim, VocabSize: ConstDim> TokenIds<Batch, SeqLen, VocabSize> {
    /// The padding mask of this batch: `token_ids != pad_token_id`.
    pub fn padding_mask(&self) -> PaddingMask<Batch, SeqLen> {
        let pad = self.pad_token_id().map(|pad| pad.value());
        let is_token = self.as_slice().iter().map(|&id| Some(id) != pad);
        PaddingMask { is_token: is_token.collect(), shape: self.shape() }
    }
}

impl<Batch: MaybeSharded, SeqLen: Dim> PaddingMask<Batch, SeqLen> {
    /// The mask of a batch without padding: all `true`.
    pub fn without_padding(shape: (Batch, SeqLen)) -> Self {
        Self { is_token: vec![true; shape.0.size() * shape.1.size()].into(), shape }
    }

    /// The mask `is_token(sequence, position)`, with both counted from 0.
    pub fn from_fn(shape: (Batch, SeqLen), is_token: impl Fn(usize, usize) -> bool) -> Self {
        let len = shape.1.size();
        Self { is_token: (0..shape.0.size() * len).map(|i| is_token(i / len, i % len)).collect(), shape }
    }

    /// The mask of sequences of these lengths, each padded at its end: audio, pixels, or prompts of different lengths.
    ///
    /// # Errors
    /// [`TokenError::WrongCount`] if there are not `Batch` lengths; [`TokenError::RowTooLong`] if a length is more than
    /// `SeqLen`.
    pub fn from_lengths(lengths: &[usize], shape: (Batch, SeqLen)) -> Result<Self, TokenError> {
        let (batch, max) = (shape.0.size(), shape.1.size());
        if lengths.len() != batch {
            let dims = format!("{:?}", shape.0);
            return Err(TokenError::WrongCount { what: "lengths", dims, expected: batch, found: lengths.len() });
        }
        if let Some((row, &len)) = lengths.iter().enumerate().find(|(_, len)| **len > max) {
            return Err(TokenError::RowTooLong { row, len, dim: name::<SeqLen>(), max });
        }
        let is_token = lengths.iter().flat_map(|len| (0..max).map(move |position| position < *len));
        Ok(Self { is_token: is_token.collect(), shape })
    }

    /// The dimensions.
    pub fn shape(&self) -> (Batch, SeqLen) {
        self.shape
    }

    /// The mask whose row `i` is row `rows[i]` of this one: that of the batch after
    /// [`EditableCache::reorder`](crate::nn::EditableCache::reorder).
    ///
    /// # Errors
    /// [`DimError::Mismatch`] if the rows are those of a batch of another size.
    ///
    /// ```
    /// use typed_transformer::{mask::PaddingMask, prelude::*, tokens::Indices};
    /// dims! { Batch = 2; SeqLen = 2; }
    /// let mask = PaddingMask::from_lengths(&[1, 2], (Batch, SeqLen))?;
    /// let rows = Indices::new(&[1, 1], (Batch,), Batch)?;
    /// assert_eq!(mask.take_rows(&rows)?.as_slice(), [true; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take_rows(&self, rows: &Indices<(Batch,), Batch>) -> Result<Self, DimError>
    where
        Batch: Dim,
    {
        check_same_size("the mask", self.shape.0, "the rows", rows.axis())?;
        check_same_size("the mask", self.shape.0, "the rows", rows.shape().0)?;
        let len = self.shape.1.size();
        let rows = rows.as_slice().iter();
        let is_token = rows.flat_map(|row| &self.is_token[row * len..][..len]).copied().collect();
        Ok(Self { is_token, shape: self.shape })
    }

    /// Whether each position holds a token, in row-major order.
    pub fn as_slice(&self) -> &[bool] {
        &self.is_token
    }
}

/// The mask of a boolean tensor: `true` for a token, `false` for padding.
///
/// ```
/// use typed_transformer::{doctest::*, ops::ne, prelude::*};
/// let pixels: Tensor<(Batch, TgtLen), f32, Cpu> = tensor(&Cpu::default(), [0.5, 0.0, 0.25], (Batch, TgtLen))?;
/// let mask = PaddingMask::from(&ne(&pixels, 0.0)?);
/// assert_eq!(mask.as_slice(), [true, false, true]);
/// # Ok::<(), OpError>(())
/// ```
impl<Batch: MaybeSharded, SeqLen: Dim, D: Storage<bool>> From<&Tensor<(Batch, SeqLen), bool, D>>
    for PaddingMask<Batch, SeqLen>
where
    (Batch, SeqLen): Shape,
{
    fn from(is_token: &Tensor<(Batch, SeqLen), bool, D>) -> Self {
        Self { is_token: bools_of(is_token).into(), shape: *is_token.shape() }
    }
}

/// The elements in row-major order. dfdx's `as_vec` panics on a tensor without elements.
pub(crate) fn bools_of<Dims: Shape, D: Storage<bool>>(tensor: &Tensor<Dims, bool, D>) -> Vec<bool> {
    if tensor.shape().num_elements() == 0 { Vec::new() } else { tensor.as_vec() }
}

/// A mask of `(Batch, QLen, KLen)`: `true` at `(b, q, k)` lets query `q` of row `b` see key `k`.
///
/// The masks of [`mk_mask`], [`mk_cross_mask`] and [`all_visible`](Self::all_visible) are rules: they take memory for
/// each position, not for each query and key. [`from_fn`](Self::from_fn) makes a matrix.
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

impl<Batch: MaybeSharded, QLen: Dim, KLen: Dim> AttentionMask<Batch, QLen, KLen> {
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

    /// Query `q` sees the keys up to position `start + q`; with a window, only the last `window` of these.
    pub(crate) fn causal_from(shape: (Batch, QLen, KLen), start: usize, window: Option<usize>) -> Self {
        Self::from_rule(shape, MaskRule::all_visible(sizes(shape)).causal_from(start, window))
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
    /// use typed_transformer::{mask::SlidingWindow, prelude::*};
    /// dims! { SeqLen = 4; Batch = 1; }
    /// let tokens = PaddingMask::without_padding((Batch, SeqLen));
    /// let window = mk_mask::<SlidingWindow<2>, PadQueriesAndKeys, _, _>(&tokens);
    /// let first_key = mk_cross_mask(&tokens, &PaddingMask::from_fn(tokens.shape(), |_, k| k == 0))?;
    /// let mask = window.or(&first_key)?;
    /// assert_eq!(mask.as_slice()[8..], [true, true, true, false, true, false, true, true]);
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

fn sizes((batch, queries, keys): (impl MaybeSharded, impl Dim, impl Dim)) -> (usize, usize, usize) {
    (batch.size(), queries.size(), keys.size())
}

macro_rules! debug_with_shape {
    ($name:ident<$($dim:ident),*>) => {
        impl<$($dim: MaybeSharded),*> fmt::Debug for $name<$($dim),*> {
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
/// `(Batch, SeqLen) -> (Batch, SeqLen, SeqLen)`: query `q` sees key `k` if `k` is not padding, if `q` is not padding
/// (when `Padding` masks padded queries), if `k <= q` (when `Kind` is causal), and if `k` is in the window of `Kind`.
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
pub fn mk_mask<Kind: MaskKind, Padding: PaddingRule, Batch: MaybeSharded, SeqLen: Dim>(
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
pub fn mk_cross_mask<Padding: PaddingRule, Batch: MaybeSharded, QLen: Dim, KLen: Dim>(
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
