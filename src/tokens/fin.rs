use super::TokenError;
use crate::dims::{ConstDim, HasIndex, LessThan, name};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

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
