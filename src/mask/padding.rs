use super::bools_of;
use crate::dims::{ConstDim, DataDim, Dim, DimError, check_same_size, name};
use crate::tokens::{Fin, Indices, LabelIds, TokenError, TokenIds};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Storage, Tensor};
use std::sync::Arc;

/// A mask of `(Batch, SeqLen)`: `true` for a token, `false` for padding.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// let pad: Fin<VocabSize> = Fin::literal::<27>();
/// let ids = TokenIds::from_ids(&[7, 4, 27], Some(pad), (Batch, TgtLen))?;
/// assert_eq!(PaddingMask::from_lengths(&[2], (Batch, TgtLen))?.as_slice(), [true, true, false]);
/// assert_eq!(ids.padding_mask().as_slice(), [true, true, false]);
/// assert_eq!(PaddingMask::without_padding((Batch, TgtLen)).as_slice(), [true, true, true]);
/// assert_eq!(PaddingMask::from_fn((Batch, TgtLen), |_, position| position > 0).as_slice(), [false, true, true]);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone)]
pub struct PaddingMask<Batch, SeqLen> {
    pub(super) is_token: Arc<[bool]>,
    shape: (Batch, SeqLen),
}

impl<Batch: DataDim, SeqLen: Dim, VocabSize: ConstDim> TokenIds<Batch, SeqLen, VocabSize> {
    /// The padding mask of this batch: `token_ids != pad_token_id`.
    pub fn padding_mask(&self) -> PaddingMask<Batch, SeqLen> {
        let pad = self.pad_token_id().map(Fin::value);
        PaddingMask { is_token: self.as_slice().iter().map(|&id| Some(id) != pad).collect(), shape: self.shape() }
    }
}

impl<Batch: DataDim, SeqLen: Dim, VocabSize: ConstDim> LabelIds<Batch, SeqLen, VocabSize> {
    /// The padding mask of these labels, for a loss beside their cross-entropy. The mask of the inputs differs: their
    /// tokens stand one position later, and sometimes none counts as padding ([`TokenIds::teacher_forcing`]).
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*};
    /// const PAD: Fin<VocabSize> = Fin::literal::<27>();
    /// let (inputs, labels) = TokenIds::from_ids(&[7, 4, 27], Some(PAD), (Batch, TgtLen))?.teacher_forcing(PAD);
    /// assert_eq!(labels.padding_mask().as_slice(), [true, true, false]);
    /// assert_eq!(inputs.padding_mask().as_slice(), [true, true, true]);
    /// # Ok::<(), TokenError>(())
    /// ```
    pub fn padding_mask(&self) -> PaddingMask<Batch, SeqLen> {
        self.0.padding_mask()
    }
}

impl<Batch: DataDim, SeqLen: Dim> PaddingMask<Batch, SeqLen> {
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

    /// The mask whose row `i` is row `rows[i]` of this one: the mask of a batch whose cache has been
    /// [reordered](crate::nn::EditableCache::reorder) by `rows`.
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

    /// The number of tokens, such as that of the labels that a loss counts. Of a batch that ranks divide, it is that of
    /// this rank's rows.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*};
    /// let pad: Fin<VocabSize> = Fin::literal::<27>();
    /// let labels = LabelIds::from_ids(&[7, 4, 27], Some(pad), (Batch, TgtLen))?;
    /// assert_eq!(labels.padding_mask().num_tokens(), 2);
    /// # Ok::<(), TokenError>(())
    /// ```
    pub fn num_tokens(&self) -> usize {
        self.is_token.iter().filter(|is_token| **is_token).count()
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
impl<Batch: DataDim, SeqLen: Dim, D: Storage<bool>> From<&Tensor<(Batch, SeqLen), bool, D>>
    for PaddingMask<Batch, SeqLen>
where
    (Batch, SeqLen): Shape,
{
    fn from(is_token: &Tensor<(Batch, SeqLen), bool, D>) -> Self {
        Self { is_token: bools_of(is_token).into(), shape: *is_token.shape() }
    }
}

crate::error::debug_as!(
    [Batch: DataDim, SeqLen: DataDim] PaddingMask<Batch, SeqLen>,
    |this, f| write!(f, "PaddingMask {:?}", this.shape)
);

/// The positions that attention masks because of padding: [`PadQueriesAndKeys`] or [`PadSourceKeys`].
///
/// ```
/// use typed_transformer::{doctest::*, mask::PaddingRule, prelude::*};
/// let pad: Fin<VocabSize> = Fin::literal::<27>();
/// let padding = TokenIds::from_ids(&[7, 27], Some(pad), (Batch, Const::<2>))?.padding_mask();
/// let mask = mk_mask::<NoMask, PadQueriesAndKeys, _, _>(&padding);
/// assert_eq!(mask.as_slice(), [true, false, false, false]);
/// let mask = mk_mask::<NoMask, PadSourceKeys, _, _>(&padding);
/// assert_eq!(mask.as_slice(), [true, false, true, false]);
///
/// pub struct PadKeys;
/// impl PaddingRule for PadKeys {
///     const MASKS_PADDED_QUERIES: bool = false;
///     const MASKS_TARGET_PADDING: bool = true;
/// }
/// assert_eq!(mk_mask::<NoMask, PadKeys, _, _>(&padding).as_slice(), mask.as_slice());
/// # Ok::<(), TokenError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "expected a padding rule: `PadQueriesAndKeys` or `PadSourceKeys`",
    label = "`{Self}` is not a padding rule",
    note = "`PadQueriesAndKeys` masks padded queries and padded keys; `PadSourceKeys` masks padded keys, but not those of a decoder's own tokens in `nn`"
)]
pub trait PaddingRule: 'static {
    /// Whether a padded query sees no key.
    const MASKS_PADDED_QUERIES: bool;
    /// Whether the self-attention of a decoder of [`nn`](crate::nn) masks the padding of its own tokens.
    /// The published models and [`mk_mask`](crate::mask::mk_mask) hide padded keys under both rules.
    const MASKS_TARGET_PADDING: bool;
}

/// Padding hides queries and keys: no query sees a padded key, and a padded query sees no key (*The Typed
/// Transformer*).
#[derive(Clone, Copy, Debug, Default)]
pub struct PadQueriesAndKeys;

/// Padded keys are hidden, and padded queries see the other keys. A decoder of [`nn`](crate::nn) does not mask its own
/// padding, which stands at the end: the causal mask hides it from all earlier queries (*Another annotated
/// transformer*).
#[derive(Clone, Copy, Debug, Default)]
pub struct PadSourceKeys;

#[diagnostic::do_not_recommend]
impl PaddingRule for PadQueriesAndKeys {
    const MASKS_PADDED_QUERIES: bool = true;
    const MASKS_TARGET_PADDING: bool = true;
}
#[diagnostic::do_not_recommend]
impl PaddingRule for PadSourceKeys {
    const MASKS_PADDED_QUERIES: bool = false;
    const MASKS_TARGET_PADDING: bool = false;
}
