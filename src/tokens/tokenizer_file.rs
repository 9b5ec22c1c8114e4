//! Checks of a `tokenizer.json` before it is parsed and used, so that time and memory are bounded by the model and by
//! the text.

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::fmt;

/// The longest file, without its tokens. In published files, the rest has at most 1 MB. Parsing takes up to 60 times
/// the memory of the file.
const MAX_REST_LEN_BYTES: u64 = 2_000_000;
/// The most bytes for each token: its text, its number, and the pairs that it is merged from.
const MAX_TOKEN_LEN_BYTES: u64 = 200;
/// The longest text of a token. The destructor of Unigram's table of prefixes calls itself once for each byte of a
/// token, which ends the process at 130 kB.
const MAX_TOKEN_TEXT_BYTES: usize = 1_000;
/// The most bytes of the texts of Unigram's tokens: a constant, and so many more for each token of the vocabulary. The
/// table of prefixes takes 360 bytes for each byte.
const MAX_UNIGRAM_BYTES: [usize; 2] = [100_000, 32];
/// The most bytes of the normalized texts of added tokens: a constant, and so many more for each token of `V`.
const MAX_ADDED_BYTES: [usize; 2] = [500_000, 32];
/// The longest text before or behind a part of a word. Published tokenizers have `##` and `</w>`.
const MAX_AFFIX_BYTES: usize = 100;
/// The most characters of all patterns, each as often as it is repeated. A character may take 40 kB.
const MAX_PATTERN_COST: f64 = 10_000.0;
/// The most steps that a text goes through.
const MAX_STEPS: usize = 100;
/// The most bytes that a byte of the text may become. Published tokenizers have less than 100.
const MAX_GROWTH: f64 = 1_000.0;
/// The most special tokens that are added to a text. Published tokenizers add two.
const MAX_ADDED_TOKENS: usize = 10_000;
/// The most characters of a word that WordPiece looks for in its vocabulary, in cubic time. Published tokenizers have
/// 100.
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
    added_tokens: Vec<AddedToken>,
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
struct AddedToken {
    content: String,
}

#[derive(Deserialize)]
pub(super) struct TokenizerModel {
    max_input_chars_per_word: Option<u64>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    pub unk_token: Option<String>,
    pub unk_id: Option<u32>,
    #[serde(default)]
    pub vocab: Vocab,
}

impl TokenizerFile {
    /// Checks that the tokenizer takes little more memory than its file, and that a text cannot become much longer.
    pub fn ensure_bounded(&self, vocab_size: usize) -> Result<(), String> {
        let Self { model, added_tokens, normalizer, pre_tokenizer, decoder, post_processor } = self;
        let TokenizerModel { max_input_chars_per_word, continuing_subword_prefix, end_of_word_suffix, vocab, .. } =
            model;
        let at_most = |what: &str, found: usize, max: usize| {
            if found <= max { Ok(()) } else { Err(format!("{what} {found} bytes, but {max} are the limit")) }
        };
        let for_vocab = |[in_all, each]: [usize; 2]| in_all.saturating_add(each.saturating_mul(vocab_size));
        if *max_input_chars_per_word > Some(MAX_WORD_CHARS) {
            return Err(format!("it looks for words of more than {MAX_WORD_CHARS} characters"));
        }
        let affixes = [continuing_subword_prefix, end_of_word_suffix].into_iter().flatten();
        at_most("a prefix or suffix has", affixes.map(String::len).max().unwrap_or(0), MAX_AFFIX_BYTES)?;
        let added = || added_tokens.iter().map(|token| token.content.len());
        let longest = added().max().unwrap_or(0).max(vocab.longest_bytes);
        at_most("its longest token has", longest, MAX_TOKEN_TEXT_BYTES)?;
        if vocab.is_list {
            at_most("the tokens of its Unigram have", vocab.len_bytes, for_vocab(MAX_UNIGRAM_BYTES))?;
        }
        let mut encoding = Cost::of(normalizer)?;
        let normalized_bytes = added().sum::<usize>() as f64 * encoding.growth;
        encoding.add(pre_tokenizer)?;
        encoding.add(post_processor)?;
        let decoding = Cost::of(decoder)?;
        let pattern_cost = encoding.pattern_cost + decoding.pattern_cost;
        if pattern_cost > MAX_PATTERN_COST {
            return Err(format!(
                "its patterns have {pattern_cost:.1e} characters with their repetitions, but {MAX_PATTERN_COST} are the \
                 limit"
            ));
        }
        encoding.ensure_bounded()?;
        decoding.ensure_bounded()?;
        at_most("its added tokens could have", normalized_bytes as usize, for_vocab(MAX_ADDED_BYTES))
    }
}

/// The cost of the steps of a tokenizer: encoding a text, or decoding the texts of tokens.
struct Cost {
    steps: usize,
    /// The most bytes that a byte of the text becomes.
    growth: f64,
    /// The most special tokens that are added.
    added_tokens: usize,
    /// The characters of all patterns, each as often as it is repeated.
    pattern_cost: f64,
}

impl Cost {
    fn of(part: &Value) -> Result<Self, String> {
        let mut cost = Self { steps: 0, growth: 1.0, added_tokens: 0, pattern_cost: 0.0 };
        cost.add(part).map(|()| cost)
    }

    fn ensure_bounded(self) -> Result<(), String> {
        let Self { steps, growth, added_tokens, .. } = self;
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
        let patterns = fields.get("pattern").and_then(Value::as_object).into_iter().flat_map(Map::values);
        self.pattern_cost += patterns.filter_map(Value::as_str).map(pattern_cost).sum::<f64>();
        let len_bytes = |field: &str| fields.get(field).and_then(Value::as_str).map(str::len);
        if let Some(content) = len_bytes("content") {
            let pattern = fields.get("pattern").and_then(|pattern| pattern.get("String")?.as_str()).map(str::len);
            self.growth *= match pattern {
                Some(pattern) if pattern > 0 => (content as f64 / pattern as f64).max(1.0),
                // A regular expression may match between any two bytes.
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

/// The length of a pattern times the highest number of each repetition, such as 3 of `{1,3}`: they may be nested.
fn pattern_cost(pattern: &str) -> f64 {
    let repetitions = pattern.match_indices('{').map(|(at, _)| {
        // `\x{3040}` is a character.
        let escaped = pattern[..at]
            .strip_suffix(['x', 'u', 'U'])
            .map(|before| before.len() - before.trim_end_matches('\\').len());
        let inside = pattern[at + 1..].split('}').next().unwrap_or_default();
        match escaped {
            Some(backslashes) if backslashes % 2 == 1 => 1.0,
            // A comment could hide the number.
            _ if inside.contains('#') => f64::INFINITY,
            _ => inside.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).fold(1.0, f64::max),
        }
    });
    pattern.len() as f64 * repetitions.product::<f64>()
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
    let Some(text) = map.and_then(Value::as_str) else { return Ok(1) };
    let bytes = base64::decode(text).map_err(|error| format!("its character map is damaged: {error}"))?;
    let damaged = || "its character map is damaged".to_string();
    let (len, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
    let texts = rest.get(u32::from_le_bytes(*len) as usize..).ok_or_else(damaged)?;
    Ok(texts.split(|&byte| byte == 0).map(<[u8]>::len).max().unwrap_or(0).max(1))
}

/// The size of a vocabulary: an object of tokens and numbers, or Unigram's list of tokens and scores. It is measured
/// while it is read, and not stored.
#[derive(Default)]
pub(super) struct Vocab {
    /// Without added tokens.
    pub num_tokens: usize,
    len_bytes: usize,
    longest_bytes: usize,
    is_list: bool,
}

impl Vocab {
    fn add(&mut self, token: &str) {
        self.len_bytes += token.len();
        self.longest_bytes = self.longest_bytes.max(token.len());
    }
}

impl<'de> Deserialize<'de> for Vocab {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self::default())
    }
}

impl<'de> Visitor<'de> for Vocab {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a vocabulary")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        let mut count = 0;
        while let Some((token, id)) = map.next_entry::<String, u64>()? {
            let id = usize::try_from(id).map_err(A::Error::custom)?;
            count += 1;
            self.num_tokens = self.num_tokens.max(id.saturating_add(1)).max(count);
            self.add(&token);
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut tokens: A) -> Result<Self, A::Error> {
        self.is_list = true;
        while let Some((token, _)) = tokens.next_element::<(String, f64)>()? {
            self.num_tokens += 1;
            self.add(&token);
        }
        Ok(self)
    }
}
