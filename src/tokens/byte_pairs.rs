//! An error for byte pairs without an unknown token: the parser drops characters that have no token.

use super::panics::catch_panic;
use tokenizers::tokenizer::normalizer::Range;
use tokenizers::{Model, ModelWrapper, NormalizedString, PreTokenizer, Tokenizer};

/// The unknown token of byte pairs that name none. Their vocabulary lacks this token, so the parser fails instead of
/// dropping a character.
pub const NO_TOKEN: &str = "<no token>";

/// Makes a character that has no token an error.
pub fn refuse_unknown(tokenizer: &mut Tokenizer) {
    if let ModelWrapper::BPE(model) = tokenizer.get_model()
        && model.unk_token.is_none()
    {
        let mut model = model.clone();
        model.unk_token = Some(NO_TOKEN.into());
        tokenizer.with_model(model);
    }
}

/// The first character of a text that has no token, and where it is.
pub fn first_without_token(tokenizer: &Tokenizer, text: &str) -> Option<(usize, char)> {
    let ModelWrapper::BPE(model) = tokenizer.get_model() else { return None };
    let has_token = |piece: &str| model.token_to_id(piece).is_some();
    let affix = |affix: &Option<String>, is_here: bool| affix.clone().filter(|_| is_here).unwrap_or_default();
    let has_none = |word: &str, at: usize, c: char| {
        // The place of a character in its word is part of its token.
        let prefix = affix(&model.continuing_subword_prefix, at > 0);
        let suffix = affix(&model.end_of_word_suffix, at + c.len_utf8() == word.len());
        let piece = format!("{prefix}{c}{suffix}");
        let has_bytes = || model.byte_fallback && piece.bytes().all(|byte| has_token(&format!("<{byte:#04X}>")));
        !has_token(&piece) && !has_bytes()
    };
    let first = |part: &NormalizedString| {
        let word = part.get();
        // A whole word may be a token although its characters are not.
        model.tokenize(word).err()?;
        let (at, c) = word.char_indices().find(|&(at, c)| has_none(word, at, c))?;
        // A composed character begins where its first part does.
        let within = part.convert_offsets(Range::Normalized(at..at + c.len_utf8()))?;
        let index = part.offsets_original().0 + within.start;
        Some((index, text.get(index..)?.chars().next()?))
    };
    let mut found = None;
    let search = || {
        let added = tokenizer.get_added_vocabulary();
        let mut words = added.extract_and_normalize(tokenizer.get_normalizer(), text);
        if let Some(pre_tokenizer) = tokenizer.get_pre_tokenizer() {
            pre_tokenizer.pre_tokenize(&mut words).map_err(|error| error.to_string())?;
        }
        // `split` calls this with each word outside of added tokens.
        let split = words.split(|_, word| {
            found = found.or_else(|| first(&word));
            Ok([word])
        });
        split.map_err(|error| error.to_string())
    };
    catch_panic(search).ok()?;
    found
}
