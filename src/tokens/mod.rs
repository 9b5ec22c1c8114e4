//! Tokens: all input is validated in one place (*The Typed Transformer*, "Python typing
//! preliminaries").
//!
//! [`Fin<VocabSize>`](Fin) is an id below `VocabSize`, and [`TokenIds`] is a batch of ids. [`Indices`] of any other
//! axis are made in the same way. Their constructors check every id once, so no operation checks an id again.

mod char_tokenizer;
mod error;
mod fin;
mod indices;
mod token_ids;

pub use char_tokenizer::CharTokenizer;
pub use error::TokenError;
pub use fin::Fin;
pub use indices::{IndexOf, Indices};
pub use token_ids::TokenIds;
