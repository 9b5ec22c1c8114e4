//! Integers that are checked once: an element of a finite set, and indices of an axis; and the error of all token
//! input.

use crate::dims::{AnyDim, ConstDim, Dim, DimError, HasIndex, LessThan, name, num_elements};
use dfdx::shapes::Shape;
use std::hash::{Hash, Hasher};
use std::{cmp::Ordering, marker::PhantomData, sync::Arc};

/// An element of the finite set `{0, …, N::SIZE - 1}`: a token of the vocabulary `N`, a position, a class.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub Letters = 26; pub VocabSize = 28; }
/// const PAD: Fin<VocabSize> = Fin::literal::<27>();
/// assert_eq!(Fin::<VocabSize>::new(27), Ok(PAD));
/// assert_eq!(
///     Fin::<VocabSize>::new(28).unwrap_err().to_string(),
///     "28 at position 0 is not a token of `VocabSize`, which has 28 tokens",
/// );
/// assert_eq!(Fin::<VocabSize>::all().last(), Some(PAD));
/// // The letters are the tokens 0 to 25. The next token is 26, the size of `Letters`.
/// const START: Fin<VocabSize> = Fin::from_dim::<Letters>();
/// assert_eq!(START.value(), 26);
/// // Tokens are counted, and sorted by their integers.
/// let mut counts = std::collections::BTreeMap::<Fin<VocabSize>, usize>::new();
/// [PAD, START, PAD].map(|token| *counts.entry(token).or_default() += 1);
/// assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(START, 1), (PAD, 2)]);
/// ```
pub struct Fin<N> {
    value: usize,
    bound: PhantomData<fn() -> N>,
}

impl<N: ConstDim> Fin<N> {
    /// The integer `value`, if it is below `N::SIZE`.
    ///
    /// # Errors
    /// [`TokenError::OutOfVocabulary`] if it is not.
    pub fn new(value: usize) -> Result<Self, TokenError> {
        Self::at(0, value)
    }

    /// The literal `VALUE`, checked by the compiler.
    ///
    /// The type checker knows literals up to 1024. A larger token needs a named dimension:
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
        N: HasIndex<VALUE>,
    {
        Self::unchecked(VALUE)
    }

    /// The size of a dimension as an integer, checked by the compiler; see [`literal`](Self::literal).
    #[must_use]
    pub const fn from_dim<Value: LessThan<N>>() -> Self {
        Self::unchecked(Value::SIZE)
    }

    /// All integers from 0 to `N::SIZE - 1`.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..N::SIZE).map(Self::unchecked)
    }

    /// The integer `value`, which is at position `index` of the input.
    pub(super) fn at(index: usize, value: usize) -> Result<Self, TokenError> {
        if value >= N::SIZE {
            return Err(TokenError::OutOfVocabulary { index, id: value, vocab: name::<N>(), vocab_size: N::SIZE });
        }
        Ok(Self::unchecked(value))
    }
}

impl<N> Fin<N> {
    /// The integer.
    #[must_use]
    pub const fn value(self) -> usize {
        self.value
    }

    /// The integer `value`, which was checked before.
    pub(super) const fn unchecked(value: usize) -> Self {
        Self { value, bound: PhantomData }
    }
}

crate::dims::copied_and_compared!(Fin<N> by value);
impl<N> Hash for Fin<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}
impl<N> PartialOrd for Fin<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<N> Ord for Fin<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}
crate::error::debug_as!([N] Fin<N>, |this, f| this.value.fmt(f));

/// Indices of the axis `Axis`, arranged as a tensor over `Dims`. Each is a [`Fin<Axis>`](Fin).
///
/// The constructor checks every index once, so no operation checks it again. If `Axis` has its size at run time, an
/// operation compares this size with the one that the indices were checked for.
///
/// ```
/// use typed_transformer::{prelude::*, tokens::Indices};
/// dims! { pub NumExperts = 4; pub SeqLen = 3; }
/// let chosen = Indices::new(&[3, 0, 3], (SeqLen,), NumExperts)?;
/// let last: Fin<NumExperts> = chosen.to_vec()[0];
/// assert_eq!(last.value(), 3);
/// assert_eq!(Indices::from_fn((SeqLen,), |_| last).as_slice(), [3, 3, 3]);
/// assert_eq!(
///     Indices::new(&[3, 0, 4], (SeqLen,), NumExperts).unwrap_err().to_string(),
///     "4 at position 2 is not an index of NumExperts=4",
/// );
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Indices<Dims, Axis> {
    indices: Arc<[usize]>,
    shape: Dims,
    axis: Axis,
}

impl<Dims: Shape, Axis: Dim> Indices<Dims, Axis> {
    /// Indices in row-major order.
    ///
    /// # Errors
    /// [`TokenError::WrongCount`] if `shape` needs another number of indices; [`TokenError::NotAnIndex`] with the
    /// first one that is not below the size of `axis`.
    pub fn new(indices: &[usize], shape: Dims, axis: Axis) -> Result<Self, TokenError> {
        let (expected, found) = (num_elements(&shape), indices.len());
        if found != expected {
            return Err(TokenError::WrongCount { what: "indices", dims: format!("{shape:?}"), expected, found });
        }
        if let Some((position, &index)) = indices.iter().enumerate().find(|(_, index)| **index >= axis.size()) {
            return Err(TokenError::NotAnIndex { position, index, axis: format!("{axis:?}") });
        }
        Ok(Self::unchecked(indices.into(), shape, axis))
    }

    /// The dimension that the indices are below.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// The indices in row-major order.
    pub fn to_vec(&self) -> Vec<Fin<Axis>> {
        self.indices.iter().map(|&index| Fin::unchecked(index)).collect()
    }
}

impl<Dims: Shape, Axis: ConstDim> Indices<Dims, Axis> {
    /// The index `index(position)` for each position in row-major order.
    pub fn from_fn(shape: Dims, index: impl FnMut(usize) -> Fin<Axis>) -> Self {
        let indices = (0..shape.num_elements()).map(index).map(Fin::value);
        Self::unchecked(indices.collect(), shape, Axis::default())
    }
}

impl<Dims: Copy, Axis> Indices<Dims, Axis> {
    /// The dimensions.
    pub fn shape(&self) -> Dims {
        self.shape
    }

    /// The indices as numbers, in row-major order.
    pub fn as_slice(&self) -> &[usize] {
        &self.indices
    }

    /// Indices that are all below the size of `axis`, as many as `shape` needs.
    pub(crate) fn unchecked(indices: Arc<[usize]>, shape: Dims, axis: Axis) -> Self {
        Self { indices, shape, axis }
    }

    /// The same indices, for a backward pass to keep without a copy.
    pub(crate) fn clone_arc(&self) -> Arc<[usize]> {
        self.indices.clone()
    }
}

crate::error::debug_as!(
    [Dims: Shape, Axis: Dim] Indices<Dims, Axis>,
    |this, f| write!(f, "Indices {:?} of {:?} {:?}", this.shape, this.axis, this.indices)
);

/// An index of the axis `Axis`: a [`Fin<Axis>`](Fin), which is below the size of a compile-time dimension by its
/// type, or a `usize`. An operation compares either with the size of the axis.
///
/// ```
/// use typed_transformer::{dims, tokens::{Fin, IndexOf}};
/// dims! { pub SeqLen = 4; }
/// fn value(index: impl IndexOf<SeqLen>) -> usize {
///     index.index()
/// }
/// assert_eq!((value(Fin::literal::<3>()), value(3)), (3, 3));
/// ```
#[diagnostic::on_unimplemented(
    message = "the index is not one of `{Axis}`",
    label = "`{Self}` is not an index of `{Axis}`",
    note = "an index of `{Axis}` is a `Fin<{Axis}>`, or a `usize` that is checked at run time"
)]
pub trait IndexOf<Axis: AnyDim>: Copy {
    /// The index as a number.
    fn index(self) -> usize;
}

#[diagnostic::do_not_recommend]
impl<Axis: Dim> IndexOf<Axis> for Fin<Axis> {
    fn index(self) -> usize {
        self.value()
    }
}
#[diagnostic::do_not_recommend]
impl<Axis: AnyDim> IndexOf<Axis> for usize {
    fn index(self) -> usize {
        self
    }
}

/// The tokens of one row of a batch. The trait exists for its error message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a row of tokens",
    label = "`{Self}` is not a list of `Fin`s",
    note = "a token is a `Fin`: `Fin::new(id)?` makes one of a number, and `TokenIds::from_ids` takes the numbers of a whole batch",
    note = "a batch is a list of rows: `from_rows(&[[token]], (Const::<1>, Const::<1>))` is that of one token"
)]
pub trait TokenRow<VocabSize>: AsRef<[Fin<VocabSize>]> {}
#[diagnostic::do_not_recommend]
impl<VocabSize, Row: AsRef<[Fin<VocabSize>]>> TokenRow<VocabSize> for Row {}

/// The error of invalid token input: ids, rows or a text.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*};
/// const PAD: Fin<VocabSize> = Fin::literal::<27>();
/// let row = vec![PAD; 5];
/// let error = TokenIds::padded(&[row], PAD, (Batch, SrcLen)).unwrap_err();
/// assert!(matches!(error, TokenError::RowTooLong { row: 0, len: 5, max: 4, .. }));
/// assert_eq!(error.to_string(), "row 0 has 5 tokens, but `SrcLen` is 4");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum TokenError {
    /// An id is not below the size of its vocabulary. Positions count from 0, in row-major order.
    #[error("{id} at position {index} is not a token of `{vocab}`, which has {vocab_size} tokens")]
    OutOfVocabulary { index: usize, id: usize, vocab: String, vocab_size: usize },
    /// An index is not below the size of its axis. Positions count from 0, in row-major order.
    #[error("{index} at position {position} is not an index of {axis}")]
    NotAnIndex { position: usize, index: usize, axis: String },
    /// A row has more tokens than the sequence length. Rows count from 0.
    #[error("row {row} has {len} tokens, but `{dim}` is {max}")]
    RowTooLong { row: usize, len: usize, dim: String, max: usize },
    /// A dimension is 0. The operations of dfdx do not accept empty tensors.
    #[error("a batch needs at least one row and one position, but it is {dims}")]
    Empty { dims: String },
    /// A text has more different characters than the vocabulary has tokens.
    #[error("the text has {found} different characters, but `{vocab}` has room for {vocab_size}")]
    VocabularyTooSmall { found: usize, vocab: String, vocab_size: usize },
    /// A character of a text has no token. Positions count characters, from 0.
    #[error("{character:?} at position {index} is not one of the {known} characters of the vocabulary")]
    UnknownCharacter { index: usize, character: char, known: usize },
    /// The number of rows, ids or indices is not the one that the dimensions require.
    #[error("{found} {what} given, but {dims} needs {expected}")]
    WrongCount { what: &'static str, dims: String, expected: usize, found: usize },
    /// A length is longer than its bound, as in `Len::new(n)?`.
    #[error(transparent)]
    Dim(#[from] DimError),
}
crate::error::debug_by_sentence!(TokenError);
