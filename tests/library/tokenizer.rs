//! Tokenizers of published models: the ids of HuggingFace's Python package, errors for what has no token or no text, and
//! text that streams.

use crate::numbers::device;
use crate::support::temp_dir;
use dfdx::tensor::AutoDevice;
use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};
use typed_transformer::generate::Sampler;
use typed_transformer::prelude::*;
use typed_transformer::tokens::{Tokenizer, TokenizerError};

dims! { BpeVocab = 300; PaddedVocab = 427; LongVocab = 428; ShortVocab = 299; WordVocab = 200; CharVocab = 120;
    ComposedVocab = 121;
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(format!("{}/fixtures/tokenizers/{name}.json", env!("CARGO_MANIFEST_DIR")))
}

fn load<V: ConstDim>(name: &str) -> Tokenizer<V> {
    Tokenizer::from_file(path(name)).unwrap()
}

fn ids<V: ConstDim>(tokenizer: &Tokenizer<V>, text: &str) -> Vec<usize> {
    tokenizer.encode(text).unwrap().into_iter().map(Fin::value).collect()
}

#[test]
fn ids_and_texts_are_those_of_the_python_package() {
    let text = "Speak, citizen — café 🦀!";
    let bpe = load::<BpeVocab>("bpe");
    let expected = [
        51, 80, 69, 65, 75, 12, 280, 271, 73, 90, 283, 221, 159, 223, 243, 280, 65, 70, 128, 103, 221, 173, 254, 100,
        223, 1,
    ];
    assert_eq!(ids(&bpe, text), expected);
    assert_eq!(bpe.decode(&bpe.encode(text).unwrap()).unwrap(), text);

    // The file cuts texts to 6 tokens and pads them to 16.
    let wordpiece = load::<WordVocab>("wordpiece");
    assert_eq!(ids(&wordpiece, "Speak, Citizén!"), [2, 33, 57, 43, 143, 7, 128, 5, 3]);
    let tokens = wordpiece.encode("Speak, Citizén!").unwrap();
    assert_eq!(wordpiece.decode(&tokens).unwrap(), "speak, citizen!");

    let unigram = load::<WordVocab>("unigram");
    assert_eq!(ids(&unigram, "Speak, citizen"), [84, 21, 4, 10, 37, 9, 3, 23, 61, 12, 195, 29, 1]);
    assert_eq!(unigram.decode(&unigram.encode("Speak, citizen").unwrap()).unwrap(), "Speak, citizen");
}

#[test]
fn a_part_without_a_token_is_named() {
    fn error<V>(result: Result<Vec<Fin<V>>, TokenizerError>) -> String {
        result.unwrap_err().to_string()
    }
    let unknown = |part: &str, index: usize| format!("`{part}` at byte {index} of the text has no token");
    let wordpiece = load::<WordVocab>("wordpiece");
    let advice = "; `allowing_unknown` reads it as the unknown token";
    assert_eq!(error(wordpiece.encode("é 🦀 e")), unknown("🦀", 3) + advice);
    assert_eq!(error(wordpiece.encode("a [UNK]")), unknown("[UNK]", 2) + advice);
    assert!(load::<WordVocab>("unigram").encode("Speak 🦀").is_err());
    assert_eq!(ids(&wordpiece.allowing_unknown(), "é 🦀 e"), [2, 19, 1, 19, 3]);
    assert_eq!(ids(&load::<WordVocab>("unigram").allowing_unknown(), "é 🦀 e"), [3, 2, 3, 2, 3, 4, 1]);
    // This one would leave the character out. It has no unknown token.
    let dropping = load::<CharVocab>("dropping").allowing_unknown();
    assert_eq!(error(dropping.encode("Speak, é citizen")), unknown("é", 7));
    assert!(dropping.encode("Speak,\n\tcitizen").is_ok());
    assert_eq!(load::<BpeVocab>("bpe").encode("").unwrap(), []);
}

#[test]
fn a_decomposed_character_is_encoded_as_the_composed_one() {
    let folder = temp_dir();
    let file = folder.path().join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_str(&fs::read_to_string(path("dropping")).unwrap()).unwrap();
    tokenizer["normalizer"] = json!({ "type": "NFC" });
    tokenizer["model"]["vocab"]["é"] = CharVocab::SIZE.into();
    fs::write(&file, tokenizer.to_string()).unwrap();
    let tokenizer = Tokenizer::<ComposedVocab>::from_file(&file).unwrap();
    assert_eq!(ids(&tokenizer, "cafe\u{301} e"), ids(&tokenizer, "café e"));
    let error = tokenizer.encode("cafe\u{301} to\u{302}").unwrap_err().to_string();
    assert_eq!(error, "`o` at byte 8 of the text has no token");
}

/// The parser leaves them out, and its offsets of what is behind them are those of an earlier part of the word.
#[test]
fn a_character_without_a_token_is_named_before_a_longer_one_and_behind_an_added_token() {
    dims! { AddedVocab = 122; }
    let folder = temp_dir();
    let file = folder.path().join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_str(&fs::read_to_string(path("dropping")).unwrap()).unwrap();
    tokenizer["model"]["vocab"]["é"] = 120.into();
    tokenizer["model"]["vocab"]["<Z>"] = 121.into();
    tokenizer["added_tokens"] = json!([{ "id": 121, "content": "<Z>", "single_word": false, "lstrip": false,
        "rstrip": false, "normalized": false, "special": true }]);
    fs::write(&file, tokenizer.to_string()).unwrap();
    let tokenizer = Tokenizer::<AddedVocab>::from_file(&file).unwrap();
    for (text, index) in [("Ké", 0), ("eKée", 1), ("<Z>é K", 6), ("K", 0)] {
        let error = tokenizer.encode(text).unwrap_err().to_string();
        assert_eq!(error, format!("`K` at byte {index} of the text has no token"), "{text}");
    }
    assert_eq!(ids(&tokenizer, "<Z>é"), [121, 120]);
}

#[test]
fn the_place_of_a_character_in_its_word_is_part_of_its_token() {
    dims! { SuffixVocab = 4; }
    let folder = temp_dir();
    let file = folder.path().join("tokenizer.json");
    let model = json!({ "type": "BPE", "vocab": { "a": 0, "b": 1, "b</w>": 2, "c": 3 }, "merges": [],
        "end_of_word_suffix": "</w>" });
    let tokenizer = json!({ "model": model, "pre_tokenizer": { "type": "WhitespaceSplit" } });
    fs::write(&file, tokenizer.to_string()).unwrap();
    let tokenizer = Tokenizer::<SuffixVocab>::from_file(&file).unwrap();
    assert_eq!(ids(&tokenizer, "ab"), [0, 2]);
    for (text, character, index) in [("ab cé", 'é', 4), ("ba", 'a', 1)] {
        let error = tokenizer.encode(text).unwrap_err().to_string();
        assert_eq!(error, format!("`{character}` at byte {index} of the text has no token"));
    }
}

#[test]
fn the_vocabulary_is_that_of_the_type_or_rounded_up() {
    fn error<V: ConstDim>(name: &str) -> String {
        let error = Tokenizer::<V>::from_file(path(name)).unwrap_err();
        error.to_string().replace(&path(name).display().to_string(), "FILE")
    }
    assert_eq!(error::<ShortVocab>("bpe"), "FILE has 300 tokens, but `ShortVocab` is 299");
    assert_eq!(error::<LongVocab>("bpe"), "FILE has 300 tokens, but `LongVocab` is 428");
    let padded = load::<PaddedVocab>("bpe");
    assert_eq!(padded.tokens().count(), 300);
    assert_eq!(padded.token("<|endoftext|>").unwrap().value(), 0);
    assert_eq!(padded.token("no such token"), None);
    let tokens = [Fin::literal::<299>(), Fin::literal::<300>()];
    assert_eq!(padded.decode(&tokens).unwrap_err().to_string(), "token 300 has no text: the tokenizer has 300 tokens");
}

#[test]
fn a_tokenizer_may_have_fewer_tokens_if_the_caller_says_so() {
    dims! { QwenVocab = 1000; }
    let tokenizer = Tokenizer::<QwenVocab>::from_file_of_fewer_tokens(path("bpe")).unwrap();
    assert_eq!(tokenizer.tokens().count(), 300);
    assert!(Tokenizer::<ShortVocab>::from_file_of_fewer_tokens(path("bpe")).is_err());
    // The logits are highest where no token is.
    let logits: Vec<f32> = (0..1000).map(|id| id as f32 / 100.0).collect();
    let logits: Tensor<(QwenVocab,), f32, AutoDevice> = device().tensor(logits);
    for sampler in [Sampler::greedy(), Sampler::with_temperature(2.0, 1).unwrap()] {
        let mut sampler = sampler.restrict_to(tokenizer.tokens());
        assert!((0..100).all(|_| sampler.choose(&logits).unwrap().value() < 300));
    }
}

#[test]
fn a_number_without_a_token_is_not_among_the_tokens() {
    let file = temp_dir();
    let path = file.path().join("tokenizer.json");
    let json = r#"{"model": {"type": "WordLevel", "vocab": {"a": 0, "b": 5}, "unk_token": "a"}, "added_tokens": []}"#;
    fs::write(&path, json).unwrap();
    let tokenizer = Tokenizer::<CharVocab>::from_file(&path).unwrap();
    assert_eq!(tokenizer.tokens().map(Fin::value).collect::<Vec<_>>(), [0, 5]);

    // The text goes on without it.
    let mut stream = tokenizer.stream();
    let mut push = |id| stream.push(Fin::new(id).unwrap());
    assert_eq!(push(0).unwrap(), "a");
    assert!(matches!(push(3), Err(TokenizerError::NoText { id: 3, .. })));
    assert_eq!(push(5).unwrap(), " b");
    assert_eq!(stream.finish().unwrap(), "");
}

#[test]
fn streamed_text_is_the_whole_text_and_characters_are_not_cut() {
    let check = |streamed: Vec<String>, whole: &str| {
        assert_eq!(streamed.concat(), whole);
        assert!(streamed.iter().all(|part| !part.contains(char::REPLACEMENT_CHARACTER)), "{streamed:?}");
        assert!(streamed.len() > 5);
    };
    fn stream<V: ConstDim>(tokenizer: &Tokenizer<V>, text: &str) -> Vec<String> {
        let mut stream = tokenizer.stream();
        let mut parts: Vec<_> =
            tokenizer.encode(text).unwrap().into_iter().map(|token| stream.push(token).unwrap()).collect();
        parts.push(stream.finish().unwrap());
        parts
    }
    let text = "Speak, citizen — café 🦀!";
    check(stream(&load::<BpeVocab>("bpe"), text), text);
    check(stream(&load::<WordVocab>("wordpiece"), "Speak, citizen! We are"), "speak, citizen! we are");
    check(stream(&load::<WordVocab>("unigram"), "Speak, citizen we are"), "Speak, citizen we are");

    // A text that ends inside of a character.
    let bpe = load::<BpeVocab>("bpe");
    let cut = &bpe.encode("a🦀").unwrap()[..3];
    let mut stream = bpe.stream();
    let parts: Vec<_> = cut.iter().map(|&token| stream.push(token).unwrap()).collect();
    assert_eq!((parts.concat().as_str(), stream.finish().unwrap().as_str()), ("a", "\u{fffd}"));
}

/// With `ByteFallback` a byte that fits no character makes each byte beside it unreadable.
#[test]
fn streamed_text_goes_on_after_a_byte_that_fits_no_character() {
    let folder = temp_dir();
    let path = folder.path().join("tokenizer.json");
    let json = r#"{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "<0x0A>": 3, "<0xF0>": 4, "<0xC3>": 5,
        "<0xA9>": 6}, "merges": [], "byte_fallback": true}, "added_tokens": [],
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}}"#;
    fs::write(&path, json).unwrap();
    let tokenizer = Tokenizer::<CharVocab>::from_file(&path).unwrap();
    for (ids, expected) in [
        (&[0, 3, 4, 1, 2, 0, 1][..], "a\n\u{fffd}bcab"),
        (&[5, 6, 4, 1, 0], "é\u{fffd}ba"),
        (&[0, 5, 6, 3, 4, 4, 1], "aé\n\u{fffd}\u{fffd}b"),
        (&[0, 5, 6, 1], "aéb"),
    ] {
        let mut stream = tokenizer.stream().stop_at(["never"]).unwrap();
        let mut text = String::new();
        for &id in ids {
            text += &stream.push(Fin::new(id).unwrap()).unwrap();
        }
        assert_eq!(text + &stream.finish().unwrap(), expected);
    }
}

#[test]
fn a_streamed_text_ends_before_a_stop_string() {
    let bpe = load::<BpeVocab>("bpe");
    let stream = |text: &str, stops: &[&str]| {
        let mut stream = bpe.stream().stop_at(stops.iter().copied()).unwrap();
        let mut parts = Vec::new();
        for token in bpe.encode(text).unwrap() {
            parts.push(stream.push(token).unwrap());
            // Text that was shown stays, so it has no beginning of a stop string that occurs.
            let shown = parts.concat();
            assert!(text.starts_with(&shown), "{parts:?}");
        }
        let has_stopped = stream.has_stopped();
        parts.push(stream.finish().unwrap());
        (parts.concat(), has_stopped)
    };
    let text = "To be, or not — to be 🦀🦀!";
    let cases: [(&[&str], &str, bool); 7] = [
        (&[], text, false),
        (&["be, or"], "To ", true),
        (&["not — t", "be, on"], "To be, or ", true),
        (&["🦀!", "or not to"], "To be, or not — to be 🦀", true),
        // The first one in the text counts, not the first one in the list.
        (&["to", "or"], "To be, ", true),
        (&["!?", "be 🦀🦀🦀"], text, false),
        (&["To"], "", true),
    ];
    for (stops, shown, has_stopped) in cases {
        assert_eq!(stream(text, stops), (shown.to_string(), has_stopped), "{stops:?}");
    }
    assert!(matches!(bpe.stream().stop_at(["a", ""]), Err(TokenizerError::EmptyStop)));
}

#[test]
fn a_stop_string_in_a_prompt_does_not_count() {
    let bpe = load::<BpeVocab>("bpe");
    let mut stream = bpe.stream();
    for token in bpe.encode("User: a").unwrap() {
        stream.push(token).unwrap();
    }
    let mut stream = stream.stop_at(["User:"]).unwrap();
    let parts: String =
        bpe.encode("b\nUser: c").unwrap().into_iter().map(|token| stream.push(token).unwrap()).collect();
    assert_eq!((parts.as_str(), stream.has_stopped(), stream.finish().unwrap().as_str()), ("b\n", true, ""));
}

proptest! {
    /// A stream shows the text before the stop string that is complete first, however tokens cut the text.
    #[test]
    fn a_stream_stops_where_the_text_does(text in "[ab]{0,12}", stops in prop::collection::vec("[ab]{1,4}", 0..3)) {
        let bpe = load::<BpeVocab>("bpe");
        let end_and_start = |stop: &String| text.find(stop.as_str()).map(|start| (start + stop.len(), start));
        let expected = stops.iter().filter_map(end_and_start).min().map(|(_, start)| start);
        let mut stream = bpe.stream().stop_at(stops).unwrap();
        let tokens = bpe.encode(&text).unwrap();
        let mut shown: String = tokens.into_iter().map(|token| stream.push(token).unwrap()).collect();
        prop_assert_eq!(stream.has_stopped(), expected.is_some());
        shown += &stream.finish().unwrap();
        prop_assert_eq!(shown.as_str(), &text[..expected.unwrap_or(text.len())]);
    }
}

#[test]
fn streamed_text_goes_on_from_a_prompt() {
    let unigram = load::<WordVocab>("unigram");
    let text = unigram.encode("Speak, citizen we are").unwrap();
    let continuation = |prompt: &[Fin<WordVocab>], rest: &[Fin<WordVocab>]| -> String {
        let mut stream = unigram.stream();
        for &token in prompt {
            stream.push(token).unwrap();
        }
        rest.iter().map(|&token| stream.push(token).unwrap()).collect()
    };
    for len in 1..text.len() {
        let (prompt, rest) = text.split_at(len);
        let shown = unigram.decode(prompt).unwrap();
        assert_eq!(shown + &continuation(prompt, rest), "Speak, citizen we are");
    }
    // The decoder leaves out the space before a first word.
    let loses_a_space = |len| continuation(&[], &text[len..]) != continuation(&text[..len], &text[len..]);
    assert!((1..text.len()).any(loses_a_space));
}

#[test]
fn other_files_are_no_tokenizer() {
    let folder = temp_dir();
    let file = folder.path().join("tokenizer.json");
    let error = |content: &[u8]| {
        fs::write(&file, content).unwrap();
        let error = Tokenizer::<BpeVocab>::from_file(&file).unwrap_err().to_string();
        assert!(!error.chars().any(char::is_control), "{error:?}");
        error.replace(&file.display().to_string(), "FILE")
    };
    assert_eq!(error(b""), "FILE is not a tokenizer: EOF while parsing a value at line 1 column 0");
    assert!(error(br#"{"model": {"type": "\u001b[2J"}}"#).starts_with("FILE is not a tokenizer: "));
    assert!(error(br#"{"weight_map": {}}"#).starts_with("FILE is not a tokenizer: missing field `model`"));
    let error = Tokenizer::<BpeVocab>::from_file(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("cannot read "), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// A file that was changed is read or refused, and what is read encodes and decodes without a panic.
    #[test]
    fn mutated_tokenizers_are_read_or_refused(
        name in prop_oneof![Just("bpe"), Just("wordpiece"), Just("unigram")],
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..3),
    ) {
        let mut bytes = fs::read(path(name)).unwrap();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let folder = temp_dir();
        let file = folder.path().join("tokenizer.json");
        fs::write(&file, bytes).unwrap();
        if let Ok(tokenizer) = Tokenizer::<BpeVocab>::from_file(&file)
            && let Ok(tokens) = tokenizer.encode("Speak, citizen — we are!")
        {
            let _ = tokenizer.decode(&tokens);
        }
    }

    #[test]
    fn every_text_has_a_round_trip_through_bytes(text in "\\PC{0,40}") {
        let bpe = load::<BpeVocab>("bpe");
        prop_assert_eq!(bpe.decode(&bpe.encode(&text).unwrap()).unwrap(), text);
    }
}

#[test]
fn an_added_token_may_be_beyond_the_table() {
    let mut file: serde_json::Value = serde_json::from_slice(&fs::read(path("bpe")).unwrap()).unwrap();
    let mut image = file["added_tokens"][0].clone();
    (image["id"], image["content"]) = (300.into(), "<image>".into());
    file["added_tokens"].as_array_mut().unwrap().push(image);
    let folder = temp_dir();
    let path = folder.path().join("tokenizer.json");
    fs::write(&path, file.to_string()).unwrap();
    let tokenizer = Tokenizer::<BpeVocab>::from_file(&path).unwrap();
    assert_eq!(tokenizer.tokens().count(), 300);
    let error = tokenizer.encode("A citizen <image>").unwrap_err();
    assert_eq!(error.to_string(), "`<image>` at byte 10 of the text has no token");
}

/// CLIP's tokenizer ends a text with its unknown token.
#[test]
fn a_text_may_have_the_unknown_token_if_the_tokenizer_adds_it() {
    dims! { EndVocab = 3; }
    let folder = temp_dir();
    let path = folder.path().join("tokenizer.json");
    let part = |kind: &str, id: &str| json!({ kind: { "id": id, "type_id": 0 } });
    let file = json!({
        "model": { "type": "BPE", "vocab": { "a": 0, "b": 1, "<e>": 2 }, "merges": [], "unk_token": "<e>" },
        "added_tokens": [{ "id": 2, "content": "<e>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true }],
        "post_processor": { "type": "TemplateProcessing",
            "single": [part("Sequence", "A"), part("SpecialToken", "<e>")],
            "pair": [part("Sequence", "A"), part("Sequence", "B")],
            "special_tokens": { "<e>": { "id": "<e>", "ids": [2], "tokens": ["<e>"] } } },
    });
    fs::write(&path, file.to_string()).unwrap();
    let tokenizer = Tokenizer::<EndVocab>::from_file(&path).unwrap();
    assert_eq!(ids(&tokenizer, "ab"), [0, 1, 2]);
    let written = tokenizer.encode_verbatim("ab<e>").unwrap();
    assert_eq!(written.into_iter().map(Fin::value).collect::<Vec<_>>(), [0, 1, 2]);
    for error in [tokenizer.encode("a<e>c").unwrap_err(), tokenizer.encode_verbatim("a<e>c").unwrap_err()] {
        let expected = "`c` at byte 4 of the text has no token; `allowing_unknown` reads it as the unknown token";
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_token_between_others_may_have_no_text() {
    dims! { HoleVocab = 6; }
    let folder = temp_dir();
    let path = folder.path().join("tokenizer.json");
    let file = r#"{"model": {"type": "WordLevel", "vocab": {"a": 0, "b": 5}, "unk_token": "a"}, "added_tokens": []}"#;
    fs::write(&path, file).unwrap();
    let tokenizer = Tokenizer::<HoleVocab>::from_file(&path).unwrap();
    let tokens = [0, 3, 5].map(|id| Fin::new(id).unwrap());
    let error = "token 3 has no text: the tokenizer has 6 tokens";
    assert_eq!(tokenizer.decode(&tokens).unwrap_err().to_string(), error);
    assert_eq!(tokenizer.stream().push(tokens[1]).unwrap_err().to_string(), error);
}
