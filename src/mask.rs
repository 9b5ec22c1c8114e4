//! Masks: which positions a query may see (*The Typed Transformer*, "Masking").
//!
//! There are two kinds, and both are typed. A [`PaddingMask`] says which positions of a batch are
//! real; a [`MaskKind`] says whether a sequence may see its own future. [`mk_mask`] and
//! [`mk_cross_mask`] interpret them as an [`AttentionMask`], whose dimensions `(Batch, QLen, KLen)`
//! must be those of the query and the key that it is used with.

use crate::{
    dims::{ConstDim, Dim, DimError, same},
    tokens::TokenIds,
};
use std::{fmt, sync::Arc};

/// Which positions of `(Batch, SeqLen)` hold real tokens; the others are padding.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 28; pub SrcLen; pub Batch; }
/// let shape = (Batch::new(1), SrcLen::new(3));
/// let ids = TokenIds::<_, _, VocabSize>::from_ids(&[7, 4, 27], Some(Fin::literal::<27>()), shape)?;
/// assert_eq!(ids.padding_mask().as_slice(), [true, true, false]);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone)]
pub struct PaddingMask<Batch, SeqLen> {
    real: Arc<[bool]>,
    shape: (Batch, SeqLen),
}

impl<Batch: Dim, SeqLen: Dim, VocabSize: ConstDim> TokenIds<Batch, SeqLen, VocabSize> {
    /// Where these ids are not padding: `token_ids != pad_token_id`.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub VocabSize = 28; pub SrcLen = 3; pub Batch = 1; }
    /// let pad: Fin<VocabSize> = Fin::literal::<27>();
    /// let ids = TokenIds::padded(&[vec![Fin::literal::<7>()]], pad, (Batch, SrcLen))?;
    /// assert_eq!(ids.padding_mask().as_slice(), [true, false, false]);
    /// # Ok::<(), TokenError>(())
    /// ```
    pub fn padding_mask(&self) -> PaddingMask<Batch, SeqLen> {
        let pad = self.pad_token_id().map(|pad| pad.value());
        PaddingMask { real: self.as_slice().iter().map(|&id| Some(id) != pad).collect(), shape: self.shape() }
    }
}

impl<Batch: Dim, SeqLen: Dim> PaddingMask<Batch, SeqLen> {
    /// A mask that hides nothing.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub SrcLen = 2; pub Batch; }
    /// assert_eq!(PaddingMask::without_padding((Batch::new(1), SrcLen)).as_slice(), [true, true]);
    /// ```
    pub fn without_padding(shape: (Batch, SeqLen)) -> Self {
        Self { real: vec![true; shape.0.size() * shape.1.size()].into(), shape }
    }

    /// The dimensions.
    pub fn shape(&self) -> (Batch, SeqLen) {
        self.shape
    }

    /// In row-major order, whether each position is real.
    pub fn as_slice(&self) -> &[bool] {
        &self.real
    }

    fn row(&self, row: usize) -> &[bool] {
        let len = self.shape.1.size();
        &self.real[row * len..(row + 1) * len]
    }
}

/// Which keys each query may see: `true` at `(b, q, k)` lets query `q` of row `b` see its key `k`.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub QLen = 2; pub KLen = 3; pub Batch; }
/// let mask = AttentionMask::from_fn((Batch::new(1), QLen, KLen), |_, q, k| k <= q);
/// assert_eq!(mask.as_slice(), [true, false, false, true, true, false]);
/// ```
#[derive(Clone)]
pub struct AttentionMask<Batch, QLen, KLen> {
    visible: Arc<[bool]>,
    shape: (Batch, QLen, KLen),
}

impl<Batch: Dim, QLen: Dim, KLen: Dim> AttentionMask<Batch, QLen, KLen> {
    /// A mask from a rule of batch row, query and key, each counted from 0.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub QLen = 2; pub KLen = 2; pub Batch; }
    /// // Each query sees the key at its own place.
    /// let mask = AttentionMask::from_fn((Batch::new(1), QLen, KLen), |_, q, k| q == k);
    /// assert_eq!(mask.as_slice(), [true, false, false, true]);
    /// ```
    pub fn from_fn(shape: (Batch, QLen, KLen), visible: impl Fn(usize, usize, usize) -> bool) -> Self {
        let (batch, queries, keys) = (shape.0.size(), shape.1.size(), shape.2.size());
        let mut all = Vec::with_capacity(batch * queries * keys);
        for b in 0..batch {
            for q in 0..queries {
                all.extend((0..keys).map(|k| visible(b, q, k)));
            }
        }
        Self { visible: all.into(), shape }
    }

    /// A mask that hides all but what `show` shows of the keys of a query, by batch row and query.
    fn from_rows(shape: (Batch, QLen, KLen), show: impl Fn(usize, usize, &mut [bool])) -> Self {
        let (batch, queries, keys) = (shape.0.size(), shape.1.size(), shape.2.size());
        let mut all = vec![false; batch * queries * keys];
        for (row, visible) in all.chunks_mut(keys.max(1)).enumerate() {
            show(row / queries, row % queries, visible);
        }
        Self { visible: all.into(), shape }
    }

    /// A mask that hides nothing.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub QLen = 1; pub KLen = 2; pub Batch; }
    /// assert_eq!(AttentionMask::all_visible((Batch::new(1), QLen, KLen)).as_slice(), [true, true]);
    /// ```
    pub fn all_visible(shape: (Batch, QLen, KLen)) -> Self {
        Self::from_fn(shape, |_, _, _| true)
    }

    /// The dimensions.
    pub fn shape(&self) -> (Batch, QLen, KLen) {
        self.shape
    }

    /// In row-major order, whether each key is visible to each query.
    pub fn as_slice(&self) -> &[bool] {
        &self.visible
    }

    /// The same, to be kept without a copy.
    pub(crate) fn shared(&self) -> Arc<[bool]> {
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

/// Whether self-attention may look ahead: [`NoMask`] or [`CausalMask`] (the post's `MaskType`).
///
/// It is a type parameter of the attention module and not an argument of its call: a module that
/// was trained with one does not work with the other.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of mask",
    label = "`{Self}` does not say whether a position sees what comes after it",
    note = "the kinds are `NoMask` and `CausalMask`"
)]
pub trait MaskKind: 'static {
    /// Whether a query is kept from seeing keys after its own position.
    const CAUSAL: bool;
}

/// Every position sees every other, as an encoder does.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub SeqLen = 2; pub Batch = 1; }
/// let padding = PaddingMask::without_padding((Batch, SeqLen));
/// let mask = mk_mask::<NoMask, PadQueriesAndKeys, _, _>(&padding);
/// assert_eq!(mask.as_slice(), [true, true, true, true]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMask;

/// A position sees itself and what comes before it, as a decoder must.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub SeqLen = 2; pub Batch = 1; }
/// let padding = PaddingMask::without_padding((Batch, SeqLen));
/// let mask = mk_mask::<CausalMask, PadQueriesAndKeys, _, _>(&padding);
/// assert_eq!(mask.as_slice(), [true, false, true, true]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CausalMask;

#[diagnostic::do_not_recommend]
impl MaskKind for NoMask {
    const CAUSAL: bool = false;
}
#[diagnostic::do_not_recommend]
impl MaskKind for CausalMask {
    const CAUSAL: bool = true;
}

/// What padding hides: [`PadQueriesAndKeys`] or [`PadSourceKeys`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rule for padding",
    label = "`{Self}` does not say what padding hides",
    note = "the rules are `PadQueriesAndKeys` and `PadSourceKeys`"
)]
pub trait PaddingRule: 'static {
    /// Whether padded queries see nothing.
    const HIDES_QUERIES: bool;
    /// Whether padding in the decoder's own sequence is hidden from its self-attention.
    const MASKS_TARGET_PADDING: bool;
}

/// Padded keys are seen by nobody and padded queries see nobody (*The Typed Transformer*).
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 28; pub SeqLen = 2; pub Batch = 1; }
/// let pad: Fin<VocabSize> = Fin::literal::<27>();
/// let ids = TokenIds::from_ids(&[7, 27], Some(pad), (Batch, SeqLen))?;
/// let mask = mk_mask::<NoMask, PadQueriesAndKeys, _, _>(&ids.padding_mask());
/// assert_eq!(mask.as_slice(), [true, false, false, false]);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PadQueriesAndKeys;

/// Padded keys of the source are seen by nobody; a decoder's self-attention is causal only
/// (*Another annotated transformer*).
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 28; pub SeqLen = 2; pub Batch = 1; }
/// let pad: Fin<VocabSize> = Fin::literal::<27>();
/// let ids = TokenIds::from_ids(&[7, 27], Some(pad), (Batch, SeqLen))?;
/// let mask = mk_mask::<NoMask, PadSourceKeys, _, _>(&ids.padding_mask());
/// assert_eq!(mask.as_slice(), [true, false, true, false]);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PadSourceKeys;

#[diagnostic::do_not_recommend]
impl PaddingRule for PadQueriesAndKeys {
    const HIDES_QUERIES: bool = true;
    const MASKS_TARGET_PADDING: bool = true;
}
#[diagnostic::do_not_recommend]
impl PaddingRule for PadSourceKeys {
    const HIDES_QUERIES: bool = false;
    const MASKS_TARGET_PADDING: bool = false;
}

/// The mask of a sequence that attends to itself (the post's `mk_mask`).
///
/// `(Batch, SeqLen) -> (Batch, SeqLen, SeqLen)`: key `k` is visible to query `q` if `k` is real, if
/// `q` is real (where `Padding` says so), and if `k <= q` (where `Kind` is causal).
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub SeqLen = 3; pub Batch; }
/// let padding = PaddingMask::without_padding((Batch::new(1), SeqLen));
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
    AttentionMask::from_rows((batch, len, len), |b, q, visible| {
        let real = padding.row(b);
        if real[q] || !Padding::HIDES_QUERIES {
            let seen = if Kind::CAUSAL { q + 1 } else { real.len() };
            visible[..seen].copy_from_slice(&real[..seen]);
        }
    })
}

/// The mask of one sequence that attends to another (*The Typed Transformer*, "Cross-attention").
///
/// `(Batch, QLen), (Batch, KLen) -> (Batch, QLen, KLen)`: key `k` is visible to query `q` if `k` is
/// real and if `q` is real (where `Padding` says so).
///
/// # Errors
/// [`DimError::Mismatch`] if the two batches have different sizes.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub TgtLen = 1; pub SrcLen = 3; pub Batch; }
/// let target = PaddingMask::without_padding((Batch::new(2), TgtLen));
/// let source = PaddingMask::without_padding((Batch::new(2), SrcLen));
/// let mask = mk_cross_mask::<PadQueriesAndKeys, _, _, _>(&target, &source)?;
/// assert_eq!(mask.shape(), (Batch::new(2), TgtLen, SrcLen));
/// # Ok::<(), DimError>(())
/// ```
pub fn mk_cross_mask<Padding: PaddingRule, Batch: Dim, QLen: Dim, KLen: Dim>(
    query_padding: &PaddingMask<Batch, QLen>,
    key_padding: &PaddingMask<Batch, KLen>,
) -> Result<AttentionMask<Batch, QLen, KLen>, DimError> {
    let ((batch, queries), (key_batch, keys)) = (query_padding.shape(), key_padding.shape());
    same("the query padding", batch, "the key padding", key_batch)?;
    let shape = (batch, queries, keys);
    Ok(AttentionMask::from_rows(shape, |b, q, visible| {
        if query_padding.row(b)[q] || !Padding::HIDES_QUERIES {
            visible.copy_from_slice(key_padding.row(b));
        }
    }))
}
