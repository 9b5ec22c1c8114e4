use super::{Fin, TokenError};
use crate::dims::{ConstDim, name};

/// A tokenizer with one token of the vocabulary `V` for each different character of a text.
///
/// The alphabet is known at run time, the vocabulary size at compile time. `V::SIZE` is therefore the largest
/// number of different characters, and a text with more is an error. A smaller alphabet leaves tokens unused;
/// [`tokens`](Self::tokens) lists the used ones.
///
/// ```
/// use typed_transformer::{prelude::*, tokens::CharTokenizer};
/// dims! { pub VocabSize = 4; }
/// let tokenizer = CharTokenizer::<VocabSize>::from_text("abba")?;
/// let tokens = tokenizer.encode("baa")?;
/// assert_eq!(tokens.iter().map(|token| token.value()).collect::<Vec<_>>(), [1, 0, 0]);
/// assert_eq!((tokenizer.decode(&tokens), tokenizer.alphabet()), ("baa".into(), "ab".into()));
/// assert_eq!(
///     CharTokenizer::<VocabSize>::from_text("abcde").unwrap_err().to_string(),
///     "the text has 5 different characters, but `VocabSize` has room for 4",
/// );
/// assert_eq!(
///     tokenizer.encode("abc").unwrap_err().to_string(),
///     "'c' at position 2 is not one of the 2 characters of the vocabulary",
/// );
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CharTokenizer<V> {
    /// Sorted and without duplicates; the token of a character is its index.
    alphabet: Vec<char>,
    vocab: std::marker::PhantomData<fn() -> V>,
}

impl<V: ConstDim> CharTokenizer<V> {
    /// A tokenizer whose alphabet is the different characters of `text`, sorted.
    ///
    /// # Errors
    /// [`TokenError::VocabularyTooSmall`] if there are more than `V::SIZE` different characters.
    pub fn from_text(text: &str) -> Result<Self, TokenError> {
        let mut alphabet: Vec<char> = text.chars().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let found = alphabet.len();
        if found > V::SIZE {
            return Err(TokenError::VocabularyTooSmall { found, vocab: name::<V>(), vocab_size: V::SIZE });
        }
        Ok(Self { alphabet, vocab: std::marker::PhantomData })
    }

    /// The tokens of a text.
    ///
    /// # Errors
    /// [`TokenError::UnknownCharacter`] with the first character that is not in the alphabet.
    pub fn encode(&self, text: &str) -> Result<Vec<Fin<V>>, TokenError> {
        let token = |(index, character)| {
            let id = self.alphabet.binary_search(&character);
            Fin::new(id.map_err(|_| TokenError::UnknownCharacter { index, character, known: self.alphabet.len() })?)
        };
        text.chars().enumerate().map(token).collect()
    }

    /// The text of tokens. A token without a character becomes `�`.
    #[must_use]
    pub fn decode(&self, tokens: &[Fin<V>]) -> String {
        let character = |token: &Fin<V>| self.alphabet.get(token.value()).copied();
        tokens.iter().map(|token| character(token).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }

    /// The tokens that have a character: `0..alphabet.len()`.
    pub fn tokens(&self) -> impl Iterator<Item = Fin<V>> + use<V> {
        Fin::all().take(self.alphabet.len())
    }

    /// The characters in the order of their tokens. [`from_text`](Self::from_text) of this text makes an
    /// equal tokenizer.
    #[must_use]
    pub fn alphabet(&self) -> String {
        self.alphabet.iter().collect()
    }
}

crate::error::debug_as!(
    [V: ConstDim] CharTokenizer<V>,
    |this, f| write!(f, "CharTokenizer {:?} of {:?}", this.alphabet(), V::default())
);
