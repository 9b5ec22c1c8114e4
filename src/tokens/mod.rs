//! Tokens: all input is validated in one place (*The Typed Transformer*, "Python typing preliminaries").
//!
//! [`Fin<VocabSize>`](Fin) is an id below `VocabSize`, [`TokenIds`] is a batch of ids that a model reads, and
//! [`LabelIds`] is a batch of ids that a loss compares with the model's logits. [`Indices`] of any other axis are made
//! in the same way. Their constructors check every id once, so no operation checks an id again.
//!
//! [`CharTokenizer`] turns text into tokens by its characters, and `Tokenizer` as published models do (feature
//! `tokenizers`). With the same feature, `ChatTemplate` writes a chat as the text that a model continues.

#[cfg(feature = "tokenizers")]
mod byte_pairs;
mod char_tokenizer;
#[cfg(feature = "tokenizers")]
mod chat_template;
#[cfg(feature = "tokenizers")]
mod chat_template_values;
mod indices;
#[cfg(feature = "tokenizers")]
mod panics;
#[cfg(feature = "tokenizers")]
mod text_stream;
mod token_ids;
#[cfg(feature = "tokenizers")]
mod tokenizer;
#[cfg(feature = "tokenizers")]
mod tokenizer_file;

pub use char_tokenizer::CharTokenizer;
#[cfg(feature = "tokenizers")]
pub use chat_template::{ChatMessage, ChatTemplate, ChatTemplateError};
pub use indices::{Fin, IndexOf, Indices, TokenError, TokenRow};
#[cfg(feature = "tokenizers")]
pub use text_stream::TextStream;
pub use token_ids::{LabelIds, TokenIds};
#[cfg(feature = "tokenizers")]
pub use tokenizer::{Tokenizer, TokenizerError};
