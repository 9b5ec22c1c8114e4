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
}
crate::error::debug_by_sentence!(TokenError);
