//! Tokens: the door through which data enters (*The Typed Transformer*, "Python typing
//! preliminaries").
//!
//! [`Fin<VocabSize>`](Fin) is an id below `VocabSize`. [`TokenIds`] is a batch of them. Both are made only by
//! constructors that check every id, so past them no id is out of range and none is checked again.

mod characters;

pub use characters::CharTokenizer;

use crate::dims::{ConstDim, Dim, LessThan, name};
use dfdx::shapes::Const;
use std::{fmt, marker::PhantomData, sync::Arc};

/// What can be wrong with tokens.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 28; pub SrcLen = 2; pub Batch; }
/// const PAD: Fin<VocabSize> = Fin::literal::<27>();
/// let rows = [vec![PAD; 2], vec![PAD; 3]];
/// let error = TokenIds::padded(&rows, PAD, (Batch::new(2), SrcLen)).unwrap_err();
/// assert!(matches!(error, TokenError::RowTooLong { row: 1, len: 3, max: 2, .. }));
/// assert_eq!(error.to_string(), "row 1 has 3 tokens, but `SrcLen` is 2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// An id is not below the size of its vocabulary.
    #[error("{id} at position {index} is not a token of `{vocab}`, which has {vocab_size}")]
    OutOfVocabulary {
        /// Position of the id among those given, from 0; for a batch, in row-major order.
        index: usize,
        /// The id.
        id: usize,
        /// Name of the vocabulary.
        vocab: String,
        /// Its size.
        vocab_size: usize,
    },
    /// A row has more tokens than the sequence length.
    #[error("row {row} has {len} tokens, but `{dim}` is {max}")]
    RowTooLong {
        /// The row, from 0.
        row: usize,
        /// Its number of tokens.
        len: usize,
        /// Name of the sequence length.
        dim: String,
        /// Size of the sequence length.
        max: usize,
    },
    /// A dimension is 0: there is nothing to compute, and dfdx's operations take no empty tensors.
    #[error("a batch needs at least one row and one position, but it is {dims}")]
    Empty {
        /// The dimensions, with their sizes.
        dims: String,
    },
    /// A text has more different characters than the vocabulary has room for.
    #[error("the text has {found} different characters, but `{vocab}` has room for {vocab_size}")]
    VocabularyTooSmall {
        /// How many it has.
        found: usize,
        /// Name of the vocabulary.
        vocab: String,
        /// Its size.
        vocab_size: usize,
    },
    /// A character of a text has no token.
    #[error("{character:?} at position {index} is not one of the {known} characters of the vocabulary")]
    UnknownCharacter {
        /// Its position in the text, in characters from 0.
        index: usize,
        /// The character.
        character: char,
        /// How many characters have tokens.
        known: usize,
    },
    /// The number of rows, or of ids, is not that of the dimensions.
    #[error("{found} {what} given, but {dims} takes {expected}")]
    WrongCount {
        /// What was counted: rows or ids.
        what: &'static str,
        /// The dimensions, with their sizes.
        dims: String,
        /// How many they take.
        expected: usize,
        /// How many came.
        found: usize,
    },
}

/// An integer in `[0, N::SIZE)`: a token of the vocabulary `N`, a position, a class.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 28; }
///
/// const PAD: Fin<VocabSize> = Fin::literal::<27>();
/// assert_eq!(Fin::<VocabSize>::new(27), Ok(PAD));
/// assert_eq!(
///     Fin::<VocabSize>::new(28).unwrap_err().to_string(),
///     "28 at position 0 is not a token of `VocabSize`, which has 28",
/// );
/// ```
pub struct Fin<N> {
    value: usize,
    bound: PhantomData<fn() -> N>,
}

impl<N: ConstDim> Fin<N> {
    /// Checks that `value` is below `N::SIZE`.
    ///
    /// # Errors
    /// [`TokenError::OutOfVocabulary`].
    ///
    /// ```
    /// use typed_transformer::{dims::Const, tokens::Fin};
    /// assert_eq!(Fin::<Const<3>>::new(2).unwrap().value(), 2);
    /// assert!(Fin::<Const<3>>::new(3).is_err());
    /// ```
    pub fn new(value: usize) -> Result<Self, TokenError> {
        Self::at(0, value)
    }

    /// The literal `VALUE`, checked by the compiler.
    ///
    /// The type checker knows literals up to 1024; a larger token is given a name:
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub VocabSize = 50_257; pub EndOfText = 50_256; }
    /// const END: Fin<VocabSize> = Fin::from_dim::<EndOfText>();
    /// assert_eq!(END.value(), 50_256);
    /// ```
    ///
    /// ```compile_fail,E0277
    /// use typed_transformer::prelude::*;
    /// dims! { pub VocabSize = 28; }
    /// const PAD: Fin<VocabSize> = Fin::literal::<28>();
    /// ```
    #[must_use]
    pub const fn literal<const VALUE: usize>() -> Self
    where
        Const<VALUE>: LessThan<N>,
    {
        Self { value: VALUE, bound: PhantomData }
    }

    /// The size of a dimension as a value, checked by the compiler; see [`literal`](Self::literal).
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub Letters = 26; pub VocabSize = 27; }
    /// // The letters are the tokens from 0 to 25, so their number is the next one.
    /// const PAD: Fin<VocabSize> = Fin::from_dim::<Letters>();
    /// assert_eq!(PAD.value(), 26);
    /// ```
    #[must_use]
    pub const fn from_dim<Value: LessThan<N>>() -> Self {
        Self { value: Value::SIZE, bound: PhantomData }
    }

    /// All values from 0 to `N::SIZE - 1`.
    ///
    /// ```
    /// use typed_transformer::{dims::Const, tokens::Fin};
    /// assert_eq!(Fin::<Const<3>>::all().map(Fin::value).collect::<Vec<_>>(), [0, 1, 2]);
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        (0..N::SIZE).map(|value| Self { value, bound: PhantomData })
    }

    fn at(index: usize, value: usize) -> Result<Self, TokenError> {
        if value >= N::SIZE {
            return Err(TokenError::OutOfVocabulary {
                index,
                id: value,
                vocab: name::<N>(),
                vocab_size: N::SIZE,
            });
        }
        Ok(Self { value, bound: PhantomData })
    }
}

impl<N> Fin<N> {
    /// The integer.
    #[must_use]
    pub const fn value(self) -> usize {
        self.value
    }
}

// Derives would ask the same of `N`, which is only a name here.
impl<N> Clone for Fin<N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<N> Copy for Fin<N> {}
impl<N> PartialEq for Fin<N> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}
impl<N> Eq for Fin<N> {}
impl<N> fmt::Debug for Fin<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

fn refuse_empty<Batch: Dim, SeqLen: Dim>(shape: (Batch, SeqLen)) -> Result<(), TokenError> {
    if shape.0.size() == 0 || shape.1.size() == 0 {
        return Err(TokenError::Empty { dims: format!("{shape:?}") });
    }
    Ok(())
}

/// Token ids of dimensions `(Batch, SeqLen)`, each a [`Fin<VocabSize>`](Fin) (the post's `InputIDs`).
///
/// It knows which of its tokens are padding, if any, so that a model that is given a batch has its
/// padding too. It lives in the host's memory; the op that reads it moves it to the
/// device.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 28; pub SrcLen; pub Batch; }
/// const PAD: Fin<VocabSize> = Fin::literal::<27>();
///
/// let word = |ids: &[usize]| ids.iter().map(|&id| Fin::new(id)).collect::<Result<Vec<_>, _>>();
/// let rows = [word(&[7, 4, 24])?, word(&[12, 0])?];
/// let ids = TokenIds::padded(&rows, PAD, (Batch::new(2), SrcLen::new(4)))?;
/// assert_eq!(format!("{ids:?}"), "TokenIds (Batch=2, SrcLen=4) of VocabSize=28 [[7, 4, 24, 27], [12, 0, 27, 27]]");
/// // Two are equal if their tokens are, and if the same of them are padding.
/// assert_ne!(ids, TokenIds::from_ids(ids.as_slice(), None, ids.shape())?);
/// # Ok::<(), TokenError>(())
/// ```
pub struct TokenIds<Batch, SeqLen, VocabSize> {
    ids: Arc<[usize]>,
    pad: Option<Fin<VocabSize>>,
    shape: (Batch, SeqLen),
}

impl<Batch: Dim, SeqLen: Dim, VocabSize: ConstDim> TokenIds<Batch, SeqLen, VocabSize> {
    /// Rows of tokens of different lengths, each filled up with `pad` to `SeqLen`.
    ///
    /// Every `pad` in the rows counts as padding too.
    ///
    /// # Errors
    /// [`TokenError::Empty`] if a dimension is 0; [`TokenError::WrongCount`] if there are not `Batch` rows; [`TokenError::RowTooLong`] if a row
    /// is longer than `SeqLen`.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub VocabSize = 28; pub SrcLen = 3; pub Batch = 2; }
    /// const A: Fin<VocabSize> = Fin::literal::<0>();
    /// const PAD: Fin<VocabSize> = Fin::literal::<27>();
    /// let ids = TokenIds::padded(&[vec![A], vec![A, A]], PAD, (Batch, SrcLen))?;
    /// assert_eq!(ids.as_slice(), [0, 27, 27, 0, 0, 27]);
    /// # Ok::<(), TokenError>(())
    /// ```
    pub fn padded<Row: AsRef<[Fin<VocabSize>]>>(
        rows: &[Row],
        pad: Fin<VocabSize>,
        shape: (Batch, SeqLen),
    ) -> Result<Self, TokenError> {
        refuse_empty(shape)?;
        let (batch, len) = shape;
        if rows.len() != batch.size() {
            return Err(TokenError::WrongCount {
                what: "rows",
                dims: format!("{batch:?}"),
                expected: batch.size(),
                found: rows.len(),
            });
        }
        let mut ids = Vec::new();
        for (row, tokens) in rows.iter().map(AsRef::as_ref).enumerate() {
            if tokens.len() > len.size() {
                return Err(TokenError::RowTooLong {
                    row,
                    len: tokens.len(),
                    dim: name::<SeqLen>(),
                    max: len.size(),
                });
            }
            ids.extend(tokens.iter().map(|token| token.value()));
            ids.resize(ids.len() + len.size() - tokens.len(), pad.value());
        }
        Ok(Self { ids: ids.into(), pad: Some(pad), shape })
    }

    /// Raw ids in row-major order; those equal to `pad`, if one is given, are padding.
    ///
    /// # Errors
    /// [`TokenError::Empty`] if a dimension is 0; [`TokenError::WrongCount`] if there are not `Batch × SeqLen` ids;
    /// [`TokenError::OutOfVocabulary`] with the first id that is not below `VocabSize`.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub VocabSize = 28; pub SrcLen; pub Batch; }
    /// let shape = (Batch::new(1), SrcLen::new(3));
    /// let error = TokenIds::<_, _, VocabSize>::from_ids(&[7, 28, 3], None, shape).unwrap_err();
    /// assert_eq!(error.to_string(), "28 at position 1 is not a token of `VocabSize`, which has 28");
    /// ```
    pub fn from_ids(
        ids: &[usize],
        pad: Option<Fin<VocabSize>>,
        shape: (Batch, SeqLen),
    ) -> Result<Self, TokenError> {
        refuse_empty(shape)?;
        let expected = shape.0.size().saturating_mul(shape.1.size());
        if ids.len() != expected {
            return Err(TokenError::WrongCount {
                what: "ids",
                dims: format!("{shape:?}"),
                expected,
                found: ids.len(),
            });
        }
        for (index, &id) in ids.iter().enumerate() {
            Fin::<VocabSize>::at(index, id)?;
        }
        Ok(Self { ids: ids.into(), pad, shape })
    }

    /// The input of a decoder that is to produce these ids: `start`, then all but the last of each
    /// row, so that the decoder sees at each position only what comes before it.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub VocabSize = 28; pub TgtLen; pub Batch; }
    /// let labels = TokenIds::<_, _, VocabSize>::from_ids(&[20, 17, 11], None, (Batch::new(1), TgtLen::new(3)))?;
    /// let inputs = labels.shifted_right(Fin::literal::<26>());
    /// assert_eq!(inputs.as_slice(), [26, 20, 17]);
    /// # Ok::<(), TokenError>(())
    /// ```
    #[must_use]
    pub fn shifted_right(&self, start: Fin<VocabSize>) -> Self {
        let len = self.shape.1.size();
        let ids =
            (0..self.ids.len()).map(|i| if i % len == 0 { start.value() } else { self.ids[i - 1] }).collect();
        Self { ids, ..self.clone() }
    }

    /// The tokens of one row, from 0 to `Batch - 1`, padding included; `None` past the last.
    ///
    /// ```
    /// use typed_transformer::prelude::*;
    /// dims! { pub VocabSize = 28; pub SrcLen = 3; pub Batch = 2; }
    /// let ids = TokenIds::<_, _, VocabSize>::from_ids(&[7, 4, 24, 12, 0, 3], None, (Batch, SrcLen))?;
    /// let second: Vec<Fin<VocabSize>> = ids.row(1).unwrap();
    /// assert_eq!(format!("{second:?}"), "[12, 0, 3]");
    /// assert!(ids.row(2).is_none());
    /// # Ok::<(), TokenError>(())
    /// ```
    pub fn row(&self, row: usize) -> Option<Vec<Fin<VocabSize>>> {
        (row < self.shape.0.size()).then(|| {
            let len = self.shape.1.size();
            (row * len..(row + 1) * len).map(|i| self.token(i)).collect()
        })
    }

    /// A batch of the token at each row and position, none of them padding.
    pub(crate) fn from_fn(shape: (Batch, SeqLen), token: impl Fn(usize, usize) -> Fin<VocabSize>) -> Self {
        let (rows, len) = (shape.0.size(), shape.1.size());
        let places = (0..rows).flat_map(|row| (0..len).map(move |position| (row, position)));
        Self { ids: places.map(|(row, position)| token(row, position).value()).collect(), pad: None, shape }
    }

    /// The same tokens; those that are `pad` are padding.
    pub(crate) fn with_padding(self, pad: Option<Fin<VocabSize>>) -> Self {
        Self { pad, ..self }
    }

    fn token(&self, index: usize) -> Fin<VocabSize> {
        Fin { value: self.ids[index], bound: PhantomData }
    }
}

impl<Batch: Copy, SeqLen: Copy, VocabSize> TokenIds<Batch, SeqLen, VocabSize> {
    /// The dimensions.
    pub fn shape(&self) -> (Batch, SeqLen) {
        self.shape
    }

    /// The ids in row-major order.
    pub fn as_slice(&self) -> &[usize] {
        &self.ids
    }

    /// The same, to be kept without a copy.
    pub(crate) fn shared(&self) -> Arc<[usize]> {
        self.ids.clone()
    }

    /// The token that fills rows up, if there is one.
    pub fn pad_token_id(&self) -> Option<Fin<VocabSize>> {
        self.pad
    }
}

impl<Batch: Clone, SeqLen: Clone, VocabSize> Clone for TokenIds<Batch, SeqLen, VocabSize> {
    fn clone(&self) -> Self {
        Self { ids: self.ids.clone(), pad: self.pad, shape: self.shape.clone() }
    }
}

impl<Batch: PartialEq, SeqLen: PartialEq, VocabSize> PartialEq for TokenIds<Batch, SeqLen, VocabSize> {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape && self.ids == other.ids && self.pad == other.pad
    }
}
impl<Batch: Eq, SeqLen: Eq, VocabSize> Eq for TokenIds<Batch, SeqLen, VocabSize> {}

impl<Batch: Dim, SeqLen: Dim, VocabSize: ConstDim> fmt::Debug for TokenIds<Batch, SeqLen, VocabSize> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<_> = self.ids.chunks(self.shape.1.size().max(1)).collect();
        write!(f, "TokenIds {:?} of {:?} {rows:?}", self.shape, VocabSize::default())
    }
}
