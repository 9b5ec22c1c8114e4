//! The token ids that a model reads, and the labels that a loss compares its logits with.

use super::{Fin, Indices, TokenError, TokenRow};
use crate::dims::{ConstDim, DataDim, Dim, name, num_elements};
use std::{fmt, iter};

/// Token ids of dimensions `(Batch, SeqLen)`, each a [`Fin<VocabSize>`](Fin) (the post's `InputIDs`): [`Indices`] of a
/// vocabulary, and a padding token. A model reads them. A loss compares the model's logits with [`LabelIds`].
///
/// The batch stores which id is padding, if any. Models derive the padding mask from that. Two batches are
/// equal if their dimensions, ids and padding tokens are equal. The ids are in host memory. The kernels
/// of the CPU read them there; other operations copy them to their device.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 28; pub SrcLen; pub Batch; }
/// const PAD: Fin<VocabSize> = Fin::literal::<27>();
/// let shape = (Batch::new(2), SrcLen::new(4));
///
/// let word = |ids: &[usize]| ids.iter().map(|&id| Fin::new(id)).collect::<Result<Vec<_>, _>>();
/// let rows = [word(&[7, 4, 24])?, word(&[12, 0])?];
/// let ids = TokenIds::padded(&rows, PAD, shape)?;
/// assert_eq!(format!("{ids:?}"), "TokenIds (Batch=2, SrcLen=4) of VocabSize=28 [[7, 4, 24, 27], [12, 0, 27, 27]]");
/// assert_eq!((ids.row(1), ids.row(2)), (Some(word(&[12, 0, 27, 27])?), None));
/// let error = TokenIds::from_rows(&rows, shape).unwrap_err();
/// assert_eq!(error.to_string(), "3 tokens given, but row 0 of (Batch=2, SrcLen=4) needs 4");
/// assert_ne!(ids, TokenIds::from_ids(ids.as_slice(), None, shape)?);
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct TokenIds<Batch, SeqLen, VocabSize> {
    ids: Indices<(Batch, SeqLen), VocabSize>,
    pad: Option<Fin<VocabSize>>,
}

impl<Batch: DataDim, SeqLen: Dim, VocabSize: ConstDim> TokenIds<Batch, SeqLen, VocabSize> {
    /// A batch of rows of different lengths, each padded with `pad` to `SeqLen`.
    ///
    /// A `pad` inside a row counts as padding, too: no other token sees it.
    ///
    /// # Errors
    /// [`TokenError::Empty`] if a dimension is 0; [`TokenError::WrongCount`] if there are not `Batch`
    /// rows; [`TokenError::RowTooLong`] if a row is longer than `SeqLen`.
    pub fn padded<Row: TokenRow<VocabSize>>(
        rows: &[Row],
        pad: Fin<VocabSize>,
        shape: (Batch, SeqLen),
    ) -> Result<Self, TokenError> {
        Self::of_rows(rows, Some(pad), shape)
    }

    /// A batch of rows without padding, each of `SeqLen` tokens.
    ///
    /// # Errors
    /// [`TokenError::Empty`] if a dimension is 0; [`TokenError::WrongCount`] if there are not `Batch` rows, or if a row
    /// is shorter than `SeqLen`; [`TokenError::RowTooLong`] if one is longer.
    pub fn from_rows<Row: TokenRow<VocabSize>>(rows: &[Row], shape: (Batch, SeqLen)) -> Result<Self, TokenError> {
        Self::of_rows(rows, None, shape)
    }

    /// A batch of rows. Without `pad`, a row that is shorter than `SeqLen` is an error.
    fn of_rows<Row: AsRef<[Fin<VocabSize>]>>(
        rows: &[Row],
        pad: Option<Fin<VocabSize>>,
        shape: (Batch, SeqLen),
    ) -> Result<Self, TokenError> {
        ensure_not_empty(shape)?;
        let (batch, len) = (shape.0, shape.1.size());
        let (expected, found) = (batch.size(), rows.len());
        if found != expected {
            return Err(TokenError::WrongCount { what: "rows", dims: format!("{batch:?}"), expected, found });
        }
        let mut ids = Vec::new();
        for (row, tokens) in rows.iter().map(AsRef::as_ref).enumerate() {
            let Some(missing) = len.checked_sub(tokens.len()) else {
                return Err(TokenError::RowTooLong { row, len: tokens.len(), dim: name::<SeqLen>(), max: len });
            };
            ids.extend(tokens.iter().map(|token| token.value()));
            match pad {
                Some(pad) => ids.extend(iter::repeat_n(pad.value(), missing)),
                None if missing > 0 => {
                    let (dims, found) = (format!("row {row} of {shape:?}"), tokens.len());
                    return Err(TokenError::WrongCount { what: "tokens", dims, expected: len, found });
                }
                None => {}
            }
        }
        Ok(Self { ids: Indices::unchecked(ids.into(), shape, VocabSize::default()), pad })
    }

    /// Windows of a text, which begin at the positions `starts`. The label of each token is the token after it.
    ///
    /// # Errors
    /// [`TokenError::Empty`] if a dimension is 0; [`TokenError::WrongCount`] if there are not `Batch` windows, or if
    /// the text ends before the last label of a window.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*, tokens::CharTokenizer};
    /// let text = "to be or not to be";
    /// let tokenizer = CharTokenizer::<VocabSize>::from_text(text)?;
    /// let (inputs, labels) = TokenIds::windows(&tokenizer.encode(text)?, [0, 3], (Const::<2>, SeqLen))?;
    /// assert_eq!(tokenizer.decode(&inputs.indices().to_vec()), "to bbe o");
    /// assert_eq!(tokenizer.decode(&labels.indices().to_vec()), "o bee or");
    /// # Ok::<(), TokenError>(())
    /// ```
    pub fn windows(
        text: &[Fin<VocabSize>],
        starts: impl IntoIterator<Item = usize>,
        shape: (Batch, SeqLen),
    ) -> Result<(Self, LabelIds<Batch, SeqLen, VocabSize>), TokenError> {
        let from = |start: usize| text.get(start..).unwrap_or_default();
        let rows: Vec<_> = starts.into_iter().map(|start| [from(start), from(start.saturating_add(1))]).collect();
        let len = shape.1.size();
        let shifted =
            |shift: usize| -> Vec<_> { rows.iter().map(|row| &row[shift][..len.min(row[shift].len())]).collect() };
        let inputs = Self::from_rows(&shifted(0), shape)?;
        // Only the label of the last token can be missing.
        let labels = Self::from_rows(&shifted(1), shape).map_err(|error| match error {
            TokenError::WrongCount { dims, expected, found, .. } => {
                TokenError::WrongCount { what: "labels", dims, expected, found }
            }
            error => error,
        })?;
        Ok((inputs, labels.into()))
    }

    /// A batch of ids in row-major order. If `pad` is given, the ids equal to it are padding.
    ///
    /// # Errors
    /// [`TokenError::Empty`] if a dimension is 0; [`TokenError::WrongCount`] if there are not `Batch × SeqLen` ids;
    /// [`TokenError::OutOfVocabulary`] with the first id that is not below `VocabSize`.
    pub fn from_ids(ids: &[usize], pad: Option<Fin<VocabSize>>, shape: (Batch, SeqLen)) -> Result<Self, TokenError> {
        ensure_not_empty(shape)?;
        let expected = num_elements(&shape);
        if ids.len() != expected {
            return Err(TokenError::WrongCount { what: "ids", dims: format!("{shape:?}"), expected, found: ids.len() });
        }
        for (index, &id) in ids.iter().enumerate() {
            Fin::<VocabSize>::at(index, id)?;
        }
        Ok(Self { ids: Indices::unchecked(ids.into(), shape, VocabSize::default()), pad })
    }

    /// The inputs of a decoder in training, and these ids as its labels. Each row of the inputs begins with `start` and
    /// drops its last id, so at each position the decoder reads the ids before the one that it predicts.
    ///
    /// If `start` is also the padding token, as in T5, no id of the inputs counts as padding: otherwise the first one
    /// would be masked. The padding at the end needs no mask, because a causal mask hides it from the tokens before it.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub VocabSize = 28; pub TgtLen = 3; pub Batch = 2; }
    /// const START: Fin<VocabSize> = Fin::literal::<26>();
    /// let target = TokenIds::from_ids(&[7, 4, 24, 12, 0, 27], None, (Batch, TgtLen))?;
    /// let (inputs, labels) = target.teacher_forcing(START);
    /// assert_eq!(inputs.as_slice(), [26, 7, 4, 26, 12, 0]);
    /// assert_eq!(labels.as_slice(), [7, 4, 24, 12, 0, 27]);
    ///
    /// const PAD: Fin<VocabSize> = Fin::literal::<27>();
    /// let target = TokenIds::from_ids(&[7, 4, 24, 12, 0, 27], Some(PAD), (Batch, TgtLen))?;
    /// assert_eq!(target.clone().teacher_forcing(START).0.pad_token_id(), Some(PAD));
    /// assert_eq!(target.teacher_forcing(PAD).0.pad_token_id(), None);
    /// # Ok::<(), TokenError>(())
    /// ```
    #[must_use]
    pub fn teacher_forcing(self, start: Fin<VocabSize>) -> (Self, LabelIds<Batch, SeqLen, VocabSize>) {
        let (ids, len) = (self.as_slice(), self.shape().1.size());
        let shifted = |i| if i % len == 0 { start.value() } else { ids[i - 1] };
        let inputs = (0..ids.len()).map(shifted).collect();
        let inputs = Indices::unchecked(inputs, self.shape(), VocabSize::default());
        (Self { ids: inputs, pad: self.pad.filter(|pad| *pad != start) }, self.into())
    }

    /// The tokens of a row, padding included. Rows count from 0; `None` past the last row.
    pub fn row(&self, row: usize) -> Option<Vec<Fin<VocabSize>>> {
        let (batch, len) = self.shape();
        let ids = || &self.as_slice()[row * len.size()..(row + 1) * len.size()];
        (row < batch.size()).then(|| ids().iter().map(|&id| Fin::unchecked(id)).collect())
    }

    /// A batch without padding, of `token(row, position)`.
    pub(crate) fn from_fn(shape: (Batch, SeqLen), token: impl Fn(usize, usize) -> Fin<VocabSize>) -> Self {
        let (rows, len) = (shape.0.size(), shape.1.size());
        let ids = (0..rows * len).map(|i| token(i / len, i % len).value()).collect();
        Self { ids: Indices::unchecked(ids, shape, VocabSize::default()), pad: None }
    }

    pub(crate) fn with_padding(self, pad: Option<Fin<VocabSize>>) -> Self {
        Self { pad, ..self }
    }

    fn fmt_as(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<_> = self.as_slice().chunks(self.shape().1.size().max(1)).collect();
        write!(f, "{name} {:?} of {:?} {rows:?}", self.shape(), VocabSize::default())
    }
}

impl<Batch: Copy, SeqLen: Copy, VocabSize> TokenIds<Batch, SeqLen, VocabSize> {
    /// The dimensions.
    pub fn shape(&self) -> (Batch, SeqLen) {
        self.ids.shape()
    }

    /// The ids as indices of the vocabulary, for operations such as [`gather`](fn@crate::ops::gather).
    pub fn indices(&self) -> &Indices<(Batch, SeqLen), VocabSize> {
        &self.ids
    }

    /// The ids in row-major order.
    pub fn as_slice(&self) -> &[usize] {
        self.ids.as_slice()
    }

    /// The padding token, if the batch has one.
    pub fn pad_token_id(&self) -> Option<Fin<VocabSize>> {
        self.pad
    }
}

crate::error::debug_as!(
    [Batch: DataDim, SeqLen: Dim, VocabSize: ConstDim] TokenIds<Batch, SeqLen, VocabSize>,
    |this, f| this.fmt_as("TokenIds", f)
);

/// A batch without padding.
impl<Batch: DataDim, SeqLen: Dim, VocabSize: ConstDim> From<Indices<(Batch, SeqLen), VocabSize>>
    for TokenIds<Batch, SeqLen, VocabSize>
{
    fn from(ids: Indices<(Batch, SeqLen), VocabSize>) -> Self {
        Self { ids, pad: None }
    }
}

/// Token ids that a loss compares logits with, of dimensions `(Batch, SeqLen)`: the `labels` of `transformers`.
///
/// A model reads [`TokenIds`], so a decoder that reads its own labels, and would learn to copy them, does not compile.
/// [`TokenIds::teacher_forcing`] and [`TokenIds::windows`] make labels together with what the decoder reads. Labels of
/// another source, such as the masked tokens of a BERT, are made by [`from_ids`](Self::from_ids), or of `TokenIds` by
/// `From`.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 28; pub SrcLen; pub Batch; }
/// const PAD: Fin<VocabSize> = Fin::literal::<27>();
/// let shape = (Batch::new(1), SrcLen::new(3));
/// let labels = LabelIds::from_ids(&[7, 4, 27], Some(PAD), shape)?;
/// assert_eq!((labels.as_slice(), labels.pad_token_id()), (&[7, 4, 27][..], Some(PAD)));
/// assert_eq!(labels, LabelIds::from(TokenIds::padded(&[[Fin::literal::<7>(), Fin::literal::<4>()]], PAD, shape)?));
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LabelIds<Batch, SeqLen, VocabSize>(pub(crate) TokenIds<Batch, SeqLen, VocabSize>);

impl<Batch: DataDim, SeqLen: Dim, VocabSize: ConstDim> LabelIds<Batch, SeqLen, VocabSize> {
    /// Labels in row-major order. If `pad` is given, every label equal to it is padding, which is not learned: choose a
    /// token that is no label of this batch, so not the one that ends a text.
    ///
    /// # Errors
    /// Those of [`TokenIds::from_ids`].
    pub fn from_ids(ids: &[usize], pad: Option<Fin<VocabSize>>, shape: (Batch, SeqLen)) -> Result<Self, TokenError> {
        TokenIds::from_ids(ids, pad, shape).map(Self)
    }
}

impl<Batch: Copy, SeqLen: Copy, VocabSize> LabelIds<Batch, SeqLen, VocabSize> {
    /// The labels as indices of the vocabulary.
    pub fn indices(&self) -> &Indices<(Batch, SeqLen), VocabSize> {
        self.0.indices()
    }

    /// The labels in row-major order.
    pub fn as_slice(&self) -> &[usize] {
        self.0.as_slice()
    }

    /// The padding token, if the batch has one.
    pub fn pad_token_id(&self) -> Option<Fin<VocabSize>> {
        self.0.pad_token_id()
    }
}

/// Labels from elsewhere: ids that no model is to read.
impl<Batch, SeqLen, VocabSize> From<TokenIds<Batch, SeqLen, VocabSize>> for LabelIds<Batch, SeqLen, VocabSize> {
    fn from(ids: TokenIds<Batch, SeqLen, VocabSize>) -> Self {
        Self(ids)
    }
}

crate::error::debug_as!(
    [Batch: DataDim, SeqLen: Dim, VocabSize: ConstDim] LabelIds<Batch, SeqLen, VocabSize>,
    |this, f| this.0.fmt_as("LabelIds", f)
);

fn ensure_not_empty<Batch: DataDim, SeqLen: Dim>(shape: (Batch, SeqLen)) -> Result<(), TokenError> {
    if shape.0.size() == 0 || shape.1.size() == 0 {
        return Err(TokenError::Empty { dims: format!("{shape:?}") });
    }
    Ok(())
}
