use super::byte_pairs::{NO_TOKEN, first_without_token, refuse_unknown};
use super::panics::catch_panic;
use super::tokenizer_file::{TokenizerFile, max_len_bytes};
use super::{Fin, TextStream};
use crate::dims::{ConstDim, name};
use crate::escape::escape;
use crate::files::read_bounded;
use std::path::{Path, PathBuf};
use std::{io, marker::PhantomData};

/// Some models round the number of rows of their embedding table up to a multiple of this number.
const PADDING: usize = 128;
/// The advice for a text with a part that has no token, if the tokenizer has an unknown one.
const ADVICE: &str = "; `allowing_unknown` reads it as the unknown token";

/// The error of a tokenizer.
///
/// ```
/// use typed_transformer::{doctest::VocabSize, tokens::Tokenizer};
/// let error = Tokenizer::<VocabSize>::from_file("no-such-folder/tokenizer.json").unwrap_err().to_string();
/// assert!(error.starts_with("cannot read no-such-folder/tokenizer.json"), "{error}");
/// ```
#[derive(thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum TokenizerError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file is not a `tokenizer.json`.
    #[error("{} is not a tokenizer: {}", path.display(), escape(message))]
    Format { path: PathBuf, message: String },
    /// The file has the tokens of another model. `found` is one more than the highest token in the file.
    #[error("{} has {found} tokens, but `{vocab}` is {vocab_size}", path.display())]
    Vocabulary { path: PathBuf, found: usize, vocab: String, vocab_size: usize },
    /// A part of a text has no token. `index` counts bytes, from 0.
    #[error("`{}` at byte {index} of the text has no token{advice}", escape(text))]
    Unknown { text: String, index: usize, advice: &'static str },
    /// A token of the vocabulary has no text.
    #[error("token {id} has no text: the tokenizer has {known} tokens")]
    NoText { id: usize, known: usize },
    /// A stop string has no characters.
    #[error("a stop string is empty")]
    EmptyStop,
    /// The tokenizer fails on a text or on tokens.
    #[error("the tokenizer failed: {}", escape(message))]
    Failed { message: String },
}
crate::error::debug_by_sentence!(TokenizerError);

/// The tokenizer of a published model, as its `tokenizer.json` describes it: byte pairs, WordPiece or Unigram, by
/// HuggingFace's crate [`tokenizers`] (feature `tokenizers`).
///
/// Its tokens are those of the vocabulary `V`, which a model has in its type.
///
/// ```
/// use typed_transformer::{generate::Sampler, prelude::*, tokens::Tokenizer};
/// dims! { pub VocabSize = 4; }
///
/// # let path = std::env::temp_dir().join(format!("tokenizer-{}.json", std::process::id()));
/// std::fs::write(&path, r###"{
///     "model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "play": 1, "##ing": 2, "well": 3},
///               "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
///     "pre_tokenizer": {"type": "Whitespace"}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
///     "added_tokens": []
/// }"###)?;
/// let tokenizer = Tokenizer::<VocabSize>::from_file(&path)?;
/// let tokens: Vec<Fin<VocabSize>> = tokenizer.encode("playing well")?;
/// assert_eq!(format!("{tokens:?}"), "[1, 2, 3]");
/// assert_eq!(tokenizer.decode(&tokens)?, "playing well");
/// let mut stream = tokenizer.stream();
/// let parts: Vec<String> = tokens.iter().map(|token| stream.push(*token)).collect::<Result<_, _>>()?;
/// assert_eq!(parts, ["play", "ing", " well"]);
/// let mut stream = tokenizer.stream().stop_at(["g w"])?;
/// let parts: Vec<String> = tokens.iter().map(|token| stream.push(*token)).collect::<Result<_, _>>()?;
/// assert_eq!(parts, ["play", "in", ""]);
/// assert!(stream.has_stopped());
/// let error = tokenizer.encode("playing badly").unwrap_err().to_string();
/// assert!(error.starts_with("`badly` at byte 8 of the text has no token; `allowing_unknown` "), "{error}");
/// let tokenizer = tokenizer.allowing_unknown();
/// assert_eq!(format!("{:?}", tokenizer.encode("playing badly")?), "[1, 2, 0]");
///
/// dims! { pub OtherVocab = 28_996; }
/// let error = Tokenizer::<OtherVocab>::from_file(&path).unwrap_err();
/// assert!(error.to_string().ends_with("has 4 tokens, but `OtherVocab` is 28996"));
/// let tokenizer = Tokenizer::<OtherVocab>::from_file_of_fewer_tokens(&path)?;
/// let logits: Vec<f32> = (0..28_996).map(|id| id as f32).collect();
/// let logits: Tensor<(OtherVocab,), f32, Cpu> = Cpu::default().tensor(logits);
/// assert_eq!(Sampler::greedy().restrict_to(tokenizer.tokens()).choose(&logits)?.value(), 3);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tokenizer<V> {
    tokenizer: tokenizers::Tokenizer,
    /// The unknown token, which stands for every part of a text that has no token.
    unknown: Option<u32>,
    /// The text of the unknown token, if the tokenizer adds this token to each text, as CLIP's does at the end. A text
    /// may then have it, too.
    added_unknown: Option<String>,
    allows_unknown: bool,
    /// One more than the highest token.
    size: usize,
    vocab: PhantomData<fn() -> V>,
}

impl<V: ConstDim> Tokenizer<V> {
    /// Reads a `tokenizer.json` of all tokens of `V`. Up to 127 may be missing: some models round the number of rows of
    /// their embedding table up. Up to 127 added tokens may be beyond `V`, such as that of images in Gemma 3: a text
    /// with one of them is an error.
    ///
    /// Texts are neither cut nor padded, whatever the file says: the length of a sequence is in its type. The file may
    /// have 2 MB and 200 bytes for each token of `V`, and a token 1,000 bytes. Reading it takes at most 200 MB of
    /// memory, and 20 kB more for each token of `V`. A byte of a text becomes at most 1,000 bytes.
    ///
    /// # Errors
    /// [`TokenizerError::Read`], [`TokenizerError::Format`], or [`TokenizerError::Vocabulary`] if the file has more
    /// tokens than `V`, beside added ones, or fewer by 128 or more.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, TokenizerError> {
        let tokenizer = Self::from_file_of_fewer_tokens(&path)?;
        let size = tokenizer.size;
        if size + PADDING > V::SIZE { Ok(tokenizer) } else { Err(vocabulary_error::<V>(path.as_ref(), size)) }
    }

    /// Reads a `tokenizer.json` of any number of tokens up to `V`, and of added ones as in
    /// [`from_file`](Self::from_file): the embedding table of a Qwen3 has 267 rows more than its tokenizer has tokens.
    /// A [`Sampler`](crate::generate::Sampler) that is restricted to [`tokens`](Self::tokens) chooses none of the
    /// others. The example of [`Tokenizer`] has such a sampler.
    ///
    /// # Errors
    /// Those of [`from_file`](Self::from_file), except the one for too few tokens.
    pub fn from_file_of_fewer_tokens(path: impl AsRef<Path>) -> Result<Self, TokenizerError> {
        let path = path.as_ref();
        let bytes = read_bounded(path, max_len_bytes(V::SIZE))
            .map_err(|source| TokenizerError::Read { path: path.into(), source })?;
        let format_error = |message| TokenizerError::Format { path: path.into(), message };
        let file: TokenizerFile = serde_json::from_slice(&bytes).map_err(|error| format_error(error.to_string()))?;
        // Parsing takes many times the memory of the file.
        let num_tokens = file.model.vocab.num_tokens;
        if num_tokens > V::SIZE {
            return Err(vocabulary_error::<V>(path, num_tokens));
        }
        file.ensure_bounded(V::SIZE).map_err(format_error)?;
        let parse = || {
            let mut tokenizer = tokenizers::Tokenizer::from_bytes(&bytes).map_err(|error| error.to_string())?;
            tokenizer.with_truncation(None).map_err(|error| error.to_string())?.with_padding(None);
            refuse_unknown(&mut tokenizer);
            Ok(tokenizer)
        };
        let tokenizer = catch_panic(parse).map_err(format_error)?;
        let size_of = |with_added| {
            let ids = tokenizer.get_vocab(with_added).into_values();
            ids.max().map_or(0, |highest| highest as usize + 1)
        };
        let (with_added, without_added) = (size_of(true), size_of(false));
        if without_added > V::SIZE || with_added >= V::SIZE + PADDING {
            return Err(vocabulary_error::<V>(path, with_added));
        }
        let size = with_added.min(V::SIZE);
        let model = file.model;
        let unknown = tokenizer.token_to_id(model.unk_token.as_deref().unwrap_or(NO_TOKEN)).or(model.unk_id);
        let added = catch_panic(|| tokenizer.encode("", true).map_err(|error| error.to_string())).ok();
        let is_added = |id: &u32| {
            let mut tokens = added.iter().flat_map(|added| added.get_ids().iter().zip(added.get_special_tokens_mask()));
            tokens.any(|token| token == (id, &1))
        };
        let added_unknown = unknown.filter(is_added).and_then(|id| tokenizer.id_to_token(id));
        Ok(Self { tokenizer, unknown, added_unknown, allows_unknown: false, size, vocab: PhantomData })
    }

    /// The same tokenizer, except that a part of a text that has no token becomes the unknown token, such as `[UNK]`,
    /// as in `transformers`. A tokenizer without an unknown token still refuses the text. The example of [`Tokenizer`]
    /// calls it.
    #[must_use]
    pub fn allowing_unknown(self) -> Self {
        Self { allows_unknown: true, ..self }
    }

    /// The tokens of a text, with the special tokens that the tokenizer adds, such as `[CLS]` and `[SEP]`.
    ///
    /// # Errors
    /// [`TokenizerError::Unknown`] with the first part of the text that has no token, unless the tokenizer is
    /// [`allowing_unknown`](Self::allowing_unknown). [`TokenizerError::Failed`] if the tokenizer does.
    pub fn encode(&self, text: &str) -> Result<Vec<Fin<V>>, TokenizerError> {
        self.encode_with(text, true)
    }

    /// The tokens of a text that has its special tokens, such as a [chat](super::ChatTemplate): none are added.
    ///
    /// # Errors
    /// Those of [`encode`](Self::encode).
    pub fn encode_verbatim(&self, text: &str) -> Result<Vec<Fin<V>>, TokenizerError> {
        self.encode_with(text, false)
    }

    fn encode_with(&self, text: &str, adds_special_tokens: bool) -> Result<Vec<Fin<V>>, TokenizerError> {
        let encode = || self.tokenizer.encode(text, adds_special_tokens).map_err(|error| error.to_string());
        let encoding = catch_panic(encode).map_err(|message| {
            let is_left_out = message.contains(NO_TOKEN);
            let found = if is_left_out { first_without_token(&self.tokenizer, text) } else { None };
            match found {
                Some((index, character)) => TokenizerError::Unknown { text: character.into(), index, advice: "" },
                None => failed(message),
            }
        })?;
        let is_special = encoding.get_special_tokens_mask();
        for ((&id, &(start, end)), &is_special) in encoding.get_ids().iter().zip(encoding.get_offsets()).zip(is_special)
        {
            let part = text.get(start..end).unwrap_or(text);
            let is_unknown = Some(id) == self.unknown && is_special == 0 && self.added_unknown.as_deref() != Some(part);
            if (is_unknown && !self.allows_unknown) || id as usize >= V::SIZE {
                let advice = if is_unknown { ADVICE } else { "" };
                return Err(TokenizerError::Unknown { text: part.into(), index: start, advice });
            }
        }
        // All are tokens of `V`, as was checked above.
        Ok(encoding.get_ids().iter().filter_map(|&id| Fin::new(id as usize).ok()).collect())
    }

    /// The text of tokens, without special tokens.
    ///
    /// # Errors
    /// [`TokenizerError::NoText`] with the first token that the tokenizer does not have. [`TokenizerError::Failed`] if
    /// the tokenizer fails.
    pub fn decode(&self, tokens: &[Fin<V>]) -> Result<String, TokenizerError> {
        if let Some(token) = tokens.iter().find(|token| !self.has_text(token)) {
            return Err(TokenizerError::NoText { id: token.value(), known: self.size });
        }
        let ids: Vec<u32> = tokens.iter().map(|token| token.value() as u32).collect();
        catch_panic(|| self.tokenizer.decode(&ids, true).map_err(|error| error.to_string())).map_err(failed)
    }

    /// The token with this text, such as `<|endoftext|>`.
    #[must_use]
    pub fn token(&self, text: &str) -> Option<Fin<V>> {
        Fin::new(self.tokenizer.token_to_id(text)? as usize).ok()
    }

    /// The tokens that have a text.
    pub fn tokens(&self) -> impl Iterator<Item = Fin<V>> + use<'_, V> {
        Fin::all().take(self.size).filter(|token| self.has_text(token))
    }

    fn has_text(&self, token: &Fin<V>) -> bool {
        self.tokenizer.id_to_token(token.value() as u32).is_some()
    }

    /// A text that is decoded while its tokens are written.
    #[must_use]
    pub fn stream(&self) -> TextStream<'_, V> {
        TextStream::new(self)
    }
}

fn vocabulary_error<V: ConstDim>(path: &Path, found: usize) -> TokenizerError {
    TokenizerError::Vocabulary { path: path.into(), found, vocab: name::<V>(), vocab_size: V::SIZE }
}

fn failed(message: String) -> TokenizerError {
    TokenizerError::Failed { message }
}

crate::error::debug_as!(
    [V: ConstDim] Tokenizer<V>,
    |this, f| write!(f, "Tokenizer of {} tokens for {:?}", this.size, V::default())
);
