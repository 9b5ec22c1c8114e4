use super::{Fin, TokenError};
use crate::dims::{ConstDim, name};
use std::fmt;

/// The characters of a text as tokens of the vocabulary `V`.
///
/// A vocabulary comes from data, so its size is known when the program runs, while a model wants it in
/// its type. The answer here is a model typed by the most characters that it has room for: a text is
/// accepted if it has no more than `V::SIZE` different ones, so that every token of it is a [`Fin<V>`](Fin).
/// The rest of the vocabulary stays unused: [`tokens`](Self::tokens) are those that stand for a character.
///
/// ```
/// use typed_transformer::{prelude::*, tokens::CharTokenizer};
/// dims! { pub VocabSize = 4; }
/// let characters = CharTokenizer::<VocabSize>::from_text("abba")?;
/// let text = characters.encode("baa")?;
/// assert_eq!(text.iter().map(|token| token.value()).collect::<Vec<_>>(), [1, 0, 0]);
/// assert_eq!(characters.decode(&text), "baa");
/// assert_eq!(
///     CharTokenizer::<VocabSize>::from_text("abcde").unwrap_err().to_string(),
///     "the text has 5 different characters, but `VocabSize` has room for 4",
/// );
/// assert_eq!(
///     characters.encode("abc").unwrap_err().to_string(),
///     "'c' at position 2 is not one of the 2 characters of the vocabulary",
/// );
/// # Ok::<(), TokenError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CharTokenizer<V> {
    /// Sorted, without repetition: a character's token is its place.
    characters: Vec<char>,
    vocab: std::marker::PhantomData<fn() -> V>,
}

impl<V: ConstDim> CharTokenizer<V> {
    /// The different characters of a text, sorted.
    ///
    /// # Errors
    /// [`TokenError::VocabularyTooSmall`] if there are more than `V::SIZE`.
    pub fn from_text(text: &str) -> Result<Self, TokenError> {
        let mut seen: Vec<char> = text.chars().collect();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() > V::SIZE {
            return Err(TokenError::VocabularyTooSmall {
                found: seen.len(),
                vocab: name::<V>(),
                vocab_size: V::SIZE,
            });
        }
        Ok(Self { characters: seen, vocab: std::marker::PhantomData })
    }

    /// A text as tokens.
    ///
    /// # Errors
    /// [`TokenError::UnknownCharacter`] with the first that has no token.
    pub fn encode(&self, text: &str) -> Result<Vec<Fin<V>>, TokenError> {
        let token = |(index, character)| {
            let place = self.characters.binary_search(&character);
            Fin::new(place.map_err(|_| TokenError::UnknownCharacter {
                index,
                character,
                known: self.characters.len(),
            })?)
        };
        text.chars().enumerate().map(token).collect()
    }

    /// Tokens as a text; one that stands for no character becomes `�`.
    #[must_use]
    pub fn decode(&self, tokens: &[Fin<V>]) -> String {
        let character = |token: &Fin<V>| self.characters.get(token.value()).copied();
        let written = tokens.iter().map(character);
        written.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }

    /// The tokens that stand for a character.
    pub fn tokens(&self) -> impl Iterator<Item = Fin<V>> + use<V> {
        Fin::all().take(self.characters.len())
    }

    /// The characters, in the order of their tokens; [`of`](Self::of) this text is this vocabulary.
    #[must_use]
    pub fn text(&self) -> String {
        self.characters.iter().collect()
    }
}

impl<V: ConstDim> fmt::Debug for CharTokenizer<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CharTokenizer {:?} of {:?}", self.text(), V::default())
    }
}
