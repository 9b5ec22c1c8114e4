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
pub enum TokenError {
    /// An id is not below the size of its vocabulary.
    #[error("{id} at position {index} is not a token of `{vocab}`, which has {vocab_size} tokens")]
    OutOfVocabulary {
        /// Position of the id in the input, counted from 0; in a batch, in row-major order.
        index: usize,
        /// The id.
        id: usize,
        /// Name of the vocabulary.
        vocab: String,
        /// Size of the vocabulary.
        vocab_size: usize,
    },
    /// An index is not below the size of its axis.
    #[error("{index} at position {position} is not an index of {axis}")]
    NotAnIndex {
        /// Position of the index in the input, counted from 0, in row-major order.
        position: usize,
        /// The index.
        index: usize,
        /// The axis, with its size.
        axis: String,
    },
    /// A row has more tokens than the sequence length.
    #[error("row {row} has {len} tokens, but `{dim}` is {max}")]
    RowTooLong {
        /// Index of the row, counted from 0.
        row: usize,
        /// Number of tokens in the row.
        len: usize,
        /// Name of the sequence length.
        dim: String,
        /// Size of the sequence length.
        max: usize,
    },
    /// A dimension is 0. The operations of dfdx do not accept empty tensors.
    #[error("a batch needs at least one row and one position, but it is {dims}")]
    Empty {
        /// The dimensions, with their sizes.
        dims: String,
    },
    /// A text has more different characters than the vocabulary has tokens.
    #[error("the text has {found} different characters, but `{vocab}` has room for {vocab_size}")]
    VocabularyTooSmall {
        /// Number of different characters in the text.
        found: usize,
        /// Name of the vocabulary.
        vocab: String,
        /// Size of the vocabulary.
        vocab_size: usize,
    },
    /// A character of a text has no token.
    #[error("{character:?} at position {index} is not one of the {known} characters of the vocabulary")]
    UnknownCharacter {
        /// Position of the character in the text, in characters, counted from 0.
        index: usize,
        /// The character.
        character: char,
        /// Number of characters that have tokens.
        known: usize,
    },
    /// The number of rows, ids or indices is not the one that the dimensions require.
    #[error("{found} {what} given, but {dims} needs {expected}")]
    WrongCount {
        /// The counted things: rows, ids or indices.
        what: &'static str,
        /// The dimensions, with their sizes.
        dims: String,
        /// The required number.
        expected: usize,
        /// The number in the input.
        found: usize,
    },
}
crate::error::debug_by_sentence!(TokenError);
