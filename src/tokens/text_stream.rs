use super::{Fin, Tokenizer, TokenizerError};
use crate::dims::ConstDim;

/// A text that is decoded token by token. A character that takes several tokens is shown with the last of them.
///
/// [`Tokenizer::stream`] makes it; the example of [`Tokenizer`] has one.
pub struct TextStream<'a, V> {
    tokenizer: &'a Tokenizer<V>,
    /// The last decoded tokens, then those whose last character is not complete. The text of a token may depend on
    /// those before it.
    tokens: Vec<Fin<V>>,
    /// The number of decoded tokens in `tokens`.
    num_decoded: usize,
    stop_strings: Vec<String>,
    /// The end of the text so far, which may be the beginning of a stop string.
    held_back: String,
    has_stopped: bool,
}

impl<'a, V: ConstDim> TextStream<'a, V> {
    pub(super) fn new(tokenizer: &'a Tokenizer<V>) -> Self {
        Self {
            tokenizer,
            tokens: Vec::new(),
            num_decoded: 0,
            stop_strings: Vec::new(),
            held_back: String::new(),
            has_stopped: false,
        }
    }

    /// Ends the text before the first of these strings that later tokens write. Text that may be the beginning of a
    /// stop string is held back until it cannot be one. The example of [`Tokenizer`] has a stop string.
    ///
    /// # Errors
    /// [`TokenizerError::EmptyStop`] if a string is empty.
    pub fn stop_at(self, strings: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, TokenizerError> {
        let stop_strings: Vec<String> = strings.into_iter().map(Into::into).collect();
        let has_empty = stop_strings.iter().any(String::is_empty);
        if has_empty { Err(TokenizerError::EmptyStop) } else { Ok(Self { stop_strings, ..self }) }
    }

    /// Whether a [stop string](Self::stop_at) has ended the text.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        self.has_stopped
    }

    /// Adds a token, and returns the text that is complete by now. It is empty after a stop string.
    ///
    /// # Errors
    /// Those of [`Tokenizer::decode`]; the text goes on without the token.
    pub fn push(&mut self, token: Fin<V>) -> Result<String, TokenizerError> {
        if self.has_stopped {
            return Ok(String::new());
        }
        self.tokens.push(token);
        // Otherwise every later token would fail with this one.
        let text = self.undecoded().inspect_err(|_| {
            self.tokens.pop();
        })?;
        if text.is_empty() || text.ends_with(char::REPLACEMENT_CHARACTER) {
            return Ok(String::new());
        }
        self.tokens.drain(..self.num_decoded);
        self.num_decoded = self.tokens.len();
        self.held_back += &text;
        let end = self.stop().unwrap_or_else(|| self.held_back.len() - self.stop_beginning());
        let rest = self.held_back.split_off(end);
        Ok(std::mem::replace(&mut self.held_back, rest))
    }

    /// The rest of the text: a character that is not complete, and the beginning of a stop string.
    ///
    /// # Errors
    /// Those of [`Tokenizer::decode`].
    pub fn finish(mut self) -> Result<String, TokenizerError> {
        if self.has_stopped {
            return Ok(String::new());
        }
        self.held_back += &self.undecoded()?;
        let end = self.stop().unwrap_or(self.held_back.len());
        self.held_back.truncate(end);
        Ok(self.held_back)
    }

    /// The start of the first complete stop string in the text that is held back. Such a string stops the text.
    fn stop(&mut self) -> Option<usize> {
        let end_and_start = |stop: &String| self.held_back.find(stop.as_str()).map(|start| (start + stop.len(), start));
        let first = self.stop_strings.iter().filter_map(end_and_start).min();
        self.has_stopped = first.is_some();
        first.map(|(_, start)| start)
    }

    /// The length of the longest beginning of a stop string that the text ends with, in bytes.
    fn stop_beginning(&self) -> usize {
        let of_stop = |stop: &String| {
            let ends = stop.char_indices().map(|(end, _)| end);
            ends.rev().find(|&end| self.held_back.ends_with(&stop[..end])).unwrap_or(0)
        };
        self.stop_strings.iter().map(of_stop).max().unwrap_or(0)
    }

    /// The text of the tokens that are not decoded, behind those that are.
    fn undecoded(&self) -> Result<String, TokenizerError> {
        let decoded = self.tokenizer.decode(&self.tokens[..self.num_decoded])?;
        let all = self.tokenizer.decode(&self.tokens)?;
        match all.strip_prefix(decoded.as_str()) {
            Some(text) => Ok(text.to_string()),
            // A byte that fits no character changes the text of the bytes before it, and that text was shown already.
            None => self.tokenizer.decode(&self.tokens[self.num_decoded..]),
        }
    }
}
