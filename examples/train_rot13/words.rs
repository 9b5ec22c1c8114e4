//! The task: words and their rot13, as tokens.

use rand::Rng;
use typed_transformer::prelude::*;

dims! {
    /// `a` to `z`, `<start>`, `<pad>`.
    pub VocabSize = 28;
    /// The longest word.
    pub MaxSeqLen = 15;
    /// Letters of the plain words of a batch.
    pub SrcLen = MaxSeqLen::SIZE;
    /// Letters of their ciphers.
    pub TgtLen = MaxSeqLen::SIZE;
    /// Words in a batch.
    pub Batch;
}

/// What the decoder reads before the first letter.
pub const START: Fin<VocabSize> = Fin::literal::<26>();
/// What fills words up, and ends what the decoder writes.
pub const PAD: Fin<VocabSize> = Fin::literal::<27>();

/// A word as tokens.
pub type Word = Vec<Fin<VocabSize>>;

/// What is wrong with a word that the user gave.
#[derive(Debug, thiserror::Error)]
pub enum WordError {
    #[error("`{letter}` in `{word}` is not a letter from a to z")]
    Letter { letter: char, word: String },
    #[error("a word must have at least one letter")]
    Empty,
    #[error("`{word}` has {len} letters, but the model takes at most {}", MaxSeqLen::SIZE)]
    TooLong { word: String, len: usize },
}

/// Reads a word of letters from a to z.
pub fn parse(word: &str) -> Result<Word, WordError> {
    let letters = word.chars().map(|letter| match letter {
        'a'..='z' => Ok(token(letter as usize - 'a' as usize)),
        _ => Err(WordError::Letter { letter, word: word.to_string() }),
    });
    let letters = letters.collect::<Result<Word, _>>()?;
    if letters.is_empty() {
        return Err(WordError::Empty);
    }
    if letters.len() > MaxSeqLen::SIZE {
        return Err(WordError::TooLong { word: word.to_string(), len: letters.len() });
    }
    Ok(letters)
}

/// Writes a word; what is no letter becomes a `~`.
pub fn write(word: &[Fin<VocabSize>]) -> String {
    word.iter()
        .map(|token| match u8::try_from(token.value()) {
            Ok(id @ 0..26) => char::from(b'a' + id),
            _ => '~',
        })
        .collect()
}

/// The cipher: each letter 13 places further.
pub fn rot13(word: &[Fin<VocabSize>]) -> Word {
    word.iter().map(|letter| token((letter.value() + 13) % 26)).collect()
}

/// A word of 1 to 15 letters, every length and every letter as likely as any other.
pub fn random(rng: &mut impl Rng) -> Word {
    let len = rng.gen_range(1..=MaxSeqLen::SIZE);
    (0..len).map(|_| token(rng.gen_range(0..26))).collect()
}

/// The words as a batch, filled up to a common length.
pub fn batch<Len: Dim>(words: &[Word], len: Len) -> Result<TokenIds<Batch, Len, VocabSize>, TokenError> {
    TokenIds::padded(words, PAD, (Batch::new(words.len()), len))
}

fn token(id: usize) -> Fin<VocabSize> {
    Fin::new(id).unwrap_or(PAD)
}
