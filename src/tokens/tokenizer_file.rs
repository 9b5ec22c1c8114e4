//! Checks of a `tokenizer.json` before it is parsed and used, so that time and memory are bounded by the model and by
//! the text, and a defect of the parser is an error.

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;
use std::{
    cell::Cell,
    fmt,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

/// The longest file, without its tokens. In published files, the rest has at most 1 MB.
const MAX_REST_LEN_BYTES: u64 = 10_000_000;
/// The most bytes for each token: its text, its number, and the pairs that it is merged from.
const MAX_TOKEN_LEN_BYTES: u64 = 200;
/// The most steps that a text goes through.
const MAX_STEPS: usize = 100;
/// The most bytes that a byte of the text may become. Published tokenizers have less than 100.
const MAX_GROWTH: f64 = 1_000.0;
/// The most special tokens that are added to a text. Published tokenizers add two.
const MAX_ADDED_TOKENS: usize = 10_000;
/// The most characters of a word that WordPiece looks for in its vocabulary, in cubic time. Published tokenizers have 100.
const MAX_WORD_CHARS: u64 = 1_000;

/// The length of the longest file for a vocabulary.
pub(super) fn max_len_bytes(vocab_size: usize) -> u64 {
    MAX_REST_LEN_BYTES + MAX_TOKEN_LEN_BYTES * vocab_size as u64
}

/// The parts of the file that are read before it is parsed as a whole.
#[derive(Deserialize)]
pub(super) struct TokenizerFile {
    pub model: TokenizerModel,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    decoder: Value,
    #[serde(default)]
    post_processor: Value,
}

#[derive(Deserialize)]
pub(super) struct TokenizerModel {
    max_input_chars_per_word: Option<u64>,
    pub unk_token: Option<String>,
    pub unk_id: Option<u32>,
    #[serde(default)]
    vocab: Vocab,
}

impl TokenizerFile {
    /// The number of tokens of the vocabulary, without added ones.
    pub fn num_tokens(&self) -> usize {
        self.model.vocab.num_tokens
    }

    /// Checks that a text cannot become much longer.
    pub fn ensure_bounded_growth(&self) -> Result<(), String> {
        if self.model.max_input_chars_per_word > Some(MAX_WORD_CHARS) {
            return Err(format!("it looks for words of more than {MAX_WORD_CHARS} characters"));
        }
        Cost::of(&[&self.normalizer, &self.pre_tokenizer, &self.post_processor])?.ensure_bounded()?;
        Cost::of(&[&self.decoder])?.ensure_bounded()
    }
}

/// The cost of the steps of a tokenizer: encoding a text, or decoding the texts of tokens.
struct Cost {
    steps: usize,
    /// The most bytes that a byte of the text becomes.
    growth: f64,
    /// The most special tokens that are added.
    added_tokens: usize,
}

impl Cost {
    fn of(parts: &[&Value]) -> Result<Self, String> {
        let mut cost = Self { steps: 0, growth: 1.0, added_tokens: 0 };
        parts.iter().try_for_each(|part| cost.add(part)).map(|()| cost)
    }

    fn ensure_bounded(self) -> Result<(), String> {
        let Self { steps, growth, added_tokens } = self;
        if steps > MAX_STEPS {
            return Err(format!("it has {steps} steps, but at most {MAX_STEPS} are allowed"));
        }
        if growth > MAX_GROWTH {
            return Err(format!("a text could become {growth:.1e} times as long, but {MAX_GROWTH} is the limit"));
        }
        if added_tokens > MAX_ADDED_TOKENS {
            return Err(format!("it adds up to {added_tokens} tokens to a text, but {MAX_ADDED_TOKENS} are the limit"));
        }
        Ok(())
    }

    /// Adds a part with all of its steps. The kind of a step follows from its fields, because the parser
    /// also reads a step whose type is missing or wrong.
    fn add(&mut self, part: &Value) -> Result<(), String> {
        if part.is_null() {
            return Ok(());
        }
        // The parser also takes a list of the values of the fields.
        let fields = part.as_object().ok_or("one of its steps is not an object")?;
        self.steps += 1;
        let lists =
            ["normalizers", "pretokenizers", "decoders", "processors"].iter().filter_map(|list| fields.get(*list));
        for list in lists {
            list.as_array().ok_or("a list of its steps is not a list")?.iter().try_for_each(|part| self.add(part))?;
        }
        let len_bytes = |field: &str| fields.get(field).and_then(Value::as_str).map(str::len);
        if let Some(content) = len_bytes("content") {
            let pattern = fields.get("pattern").and_then(|pattern| pattern.get("String")?.as_str()).map(str::len);
            self.growth *= match pattern {
                Some(pattern) if pattern > 0 => (content as f64 / pattern as f64).max(1.0),
                // A regular expression may fit between all bytes.
                _ => content as f64 + 1.0,
            };
        }
        if let Some(prepended) = len_bytes("prepend") {
            // It comes before each part between two special tokens.
            self.growth *= prepended as f64 + 1.0;
        }
        // An empty text occurs between all characters. A space is put at each of these places.
        let has_empty = ["suffix", "word_delimiter_token"].iter().any(|field| len_bytes(field) == Some(0));
        if has_empty || fields.get("type").and_then(Value::as_str) == Some("ByteLevel") {
            self.growth *= 2.0;
        }
        self.growth *= longest_entry(fields.get("precompiled_charsmap"))? as f64;
        if let Some(template) = fields.get("single").and_then(Value::as_array) {
            self.growth *= template.len().max(1) as f64;
            let tokens = fields.get("special_tokens").and_then(Value::as_object);
            let longest = tokens.and_then(|tokens| tokens.values().map(num_values).max()).unwrap_or(0);
            self.added_tokens = self.added_tokens.saturating_add(template.len().saturating_mul(longest));
        }
        Ok(())
    }
}

/// The number of texts and numbers in a value.
fn num_values(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(num_values).sum(),
        Value::Object(values) => values.values().map(num_values).sum(),
        _ => 1,
    }
}

/// The length of the longest text that a character map puts in place of a character. The map is the length of a table,
/// the table, and texts that end with a zero.
fn longest_entry(map: Option<&Value>) -> Result<usize, String> {
    let Some(text) = map.and_then(Value::as_str) else {
        return Ok(1);
    };
    let bytes = base64::decode(text).map_err(|error| format!("its character map is damaged: {error}"))?;
    let damaged = || "its character map is damaged".to_string();
    let (len, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    let texts = rest.get(u32::from_le_bytes(*len) as usize..).ok_or_else(damaged)?;
    Ok(texts.split(|&byte| byte == 0).map(<[u8]>::len).max().unwrap_or(0).max(1))
}

/// The size of a vocabulary: an object of tokens and numbers, or a list of tokens. It is counted while it is read, and
/// not stored.
#[derive(Default)]
struct Vocab {
    num_tokens: usize,
}

impl<'de> Deserialize<'de> for Vocab {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountTokens)
    }
}

struct CountTokens;

impl<'de> Visitor<'de> for CountTokens {
    type Value = Vocab;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a vocabulary")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocab, A::Error> {
        let (mut count, mut size) = (0, 0);
        while let Some((IgnoredAny, id)) = map.next_entry::<_, u64>()? {
            let id = usize::try_from(id).map_err(A::Error::custom)?;
            count += 1;
            size = size.max(id.saturating_add(1));
        }
        Ok(Vocab { num_tokens: size.max(count) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut tokens: A) -> Result<Vocab, A::Error> {
        let mut num_tokens = 0;
        while tokens.next_element::<IgnoredAny>()?.is_some() {
            num_tokens += 1;
        }
        Ok(Vocab { num_tokens })
    }
}

thread_local! {
    /// Whether a panic of this thread becomes an error.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs code that may panic on a damaged file. The panic is an error, and is not printed.
pub(super) fn catch<Value>(run: impl FnOnce() -> Result<Value, String>) -> Result<Value, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_CAUGHT.get() {
                hook(info);
            }
        }));
    });
    let before = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    IS_CAUGHT.set(before);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(format!("the tokenizer is damaged: {text}"))
    })
}
