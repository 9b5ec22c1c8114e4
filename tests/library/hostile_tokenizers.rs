//! Files of tokenizers made to harm their reader: a panic is an error, and time and memory are bounded by the model and
//! the text.

use crate::support::{MAX_TIME, temp_dir};
use allocation_counter::measure;
use serde_json::{Value, json};
use std::{fs, time::Instant};
use typed_transformer::{prelude::*, tokens::Tokenizer};

dims! { SmallVocab = 300; }

pub fn fixture(name: &str) -> Vec<u8> {
    fs::read(format!("{}/fixtures/tokenizers/{name}.json", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Reads a file, encodes a text and decodes its tokens. The text of the first error, if any.
pub fn error_of(bytes: &[u8], text: &str) -> Option<String> {
    let folder = temp_dir();
    let file = folder.path().join("tokenizer.json");
    fs::write(&file, bytes).unwrap();
    let run = || {
        let tokenizer = Tokenizer::<SmallVocab>::from_file(&file)?;
        tokenizer.decode(&tokenizer.encode(text)?).map(drop)
    };
    let error = run().err()?.to_string().replace(&file.display().to_string(), "FILE");
    assert!(error.chars().count() < 1_000 && !error.chars().any(char::is_control), "{error:?}");
    Some(error)
}

/// The error with one part of the fixture `bpe` replaced.
pub fn error_with(part: &str, value: Value, text: &str) -> Option<String> {
    let mut file: Value = serde_json::from_slice(&fixture("bpe")).unwrap();
    file[part] = value;
    error_of(&serde_json::to_vec(&file).unwrap(), text)
}

#[test]
fn a_tokenizer_that_panics_is_an_error() {
    let map = |map: &str| json!({"type": "Precompiled", "precompiled_charsmap": map});
    // A length beyond the end, and a table of nothing but the largest number.
    let table = "AAQAAA".to_string() + &"/".repeat(1_364) + "w==";
    for map in [map("//8="), map(&table), map(""), map("AAAA")] {
        let error = error_with("normalizer", map, "citizen").unwrap();
        assert!(
            error.starts_with("FILE is not a tokenizer: ") || error.starts_with("the tokenizer failed: "),
            "{error}"
        );
    }
    let template = json!({
        "type": "TemplateProcessing", "special_tokens": {},
        "single": [{"Sequence": {"id": "B", "type_id": 0}}], "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
    });
    let error = error_with("post_processor", template, "citizen").unwrap();
    assert!(error.starts_with("the tokenizer failed: ") || error.starts_with("FILE is not"), "{error}");
}

#[test]
fn a_text_cannot_grow_without_a_limit() {
    let replace = |content: &str| json!({"type": "Replace", "pattern": {"String": "1"}, "content": content});
    let sequence = |step: Value, count: usize| json!({"type": "Sequence", "normalizers": vec![step; count]});
    let begun = Instant::now();
    for normalizer in [
        sequence(replace("11"), 60),
        sequence(json!({"type": "ByteLevel"}), 60),
        sequence(sequence(replace("1111"), 2), 5),
        replace(&"1".repeat(10_000)),
        json!({"type": "Replace", "pattern": {"Regex": ""}, "content": "1".repeat(2_000)}),
        json!({"type": "Replace", "pattern": {"String": ""}, "content": "1".repeat(2_000)}),
    ] {
        let error = error_with("normalizer", normalizer, "1").unwrap();
        assert!(error.starts_with("FILE is not a tokenizer: a text could become "), "{error}");
    }
    let error = error_with("normalizer", sequence(json!({"type": "Lowercase"}), 200), "1").unwrap();
    assert_eq!(error, "FILE is not a tokenizer: it has 203 steps, but at most 100 are allowed");
    let decoder = json!({"type": "Sequence", "decoders": vec![replace("11"); 60]});
    assert!(error_with("decoder", decoder, "1").unwrap().contains("a text could become "));
    assert!(begun.elapsed() < MAX_TIME, "{:?}", begun.elapsed());
    // Those of published models are short.
    assert_eq!(error_with("normalizer", json!({"type": "Prepend", "prepend": "a"}), "citizen"), None);
}

/// The parser guesses the kind of a step without a type, and takes a list for its fields.
#[test]
fn a_step_without_its_type_is_counted_as_what_it_is() {
    let begun = Instant::now();
    let normalizers = |step: &Value| json!({"type": "Sequence", "normalizers": vec![step; 60]});
    for step in [
        json!({"pattern": {"String": "1"}, "content": "11"}),
        json!({"type": "BertNormalizer", "pattern": {"String": "1"}, "content": "11"}),
        json!({"prepend": "11"}),
    ] {
        for normalizer in [normalizers(&step), json!({"normalizers": vec![&step; 60]})] {
            let error = error_with("normalizer", normalizer, "1").unwrap();
            assert!(error.starts_with("FILE is not a tokenizer: a text could become "), "{error}");
        }
    }
    for step in [json!([{"String": "1"}, "11"]), json!(["11"]), json!("1")] {
        let error = error_with("normalizer", normalizers(&step), "1").unwrap();
        assert_eq!(error, "FILE is not a tokenizer: one of its steps is not an object");
    }
    let error = error_with("normalizer", json!({"type": "Sequence", "normalizers": {"0": 1}}), "1").unwrap();
    assert_eq!(error, "FILE is not a tokenizer: a list of its steps is not a list");
    for step in [
        json!({"type": "BPEDecoder", "suffix": ""}),
        json!({"type": "CTC", "pad_token": "2", "word_delimiter_token": "", "cleanup": true}),
    ] {
        let decoder = json!({"type": "Sequence", "decoders": vec![&step; 40]});
        assert!(error_with("decoder", decoder, "1").unwrap().contains("a text could become "));
    }
    // A text before each part, which then becomes longer.
    let long = json!({"type": "Prepend", "prepend": "1".repeat(1_000_000)});
    let longer = json!({"type": "Replace", "pattern": {"String": "1"}, "content": "1".repeat(900)});
    let error = error_with("normalizer", json!({"type": "Sequence", "normalizers": [long, longer]}), "1").unwrap();
    assert!(error.contains("a text could become "), "{error}");
    assert!(begun.elapsed() < MAX_TIME, "{:?}", begun.elapsed());
}

#[test]
fn a_template_adds_a_bounded_number_of_tokens() {
    let begun = Instant::now();
    let template = |count: usize, ids: usize| {
        let piece = json!({"SpecialToken": {"id": "x", "type_id": 0}});
        let token = json!({"id": "x", "ids": vec![0; ids], "tokens": vec!["x"; ids]});
        let text = json!({"Sequence": {"id": "A", "type_id": 0}});
        let pieces: Vec<_> = [text].into_iter().chain(vec![piece; count]).collect();
        json!({"type": "TemplateProcessing", "single": pieces, "pair": [], "special_tokens": {"x": token}})
    };
    let error = error_with("post_processor", template(400, 100_000), "citizen").unwrap();
    assert!(error.contains(" tokens to a text, but 10000 are the limit"), "{error}");
    let twice = json!({"Sequence": {"id": "A", "type_id": 0}});
    let twice = json!({"type": "TemplateProcessing", "single": [twice, twice], "pair": [], "special_tokens": {}});
    let error = error_with("post_processor", json!({"type": "Sequence", "processors": vec![twice; 60]}), "citizen");
    assert!(error.as_ref().unwrap().contains("a text could become "), "{error:?}");
    assert!(begun.elapsed() < MAX_TIME, "{:?}", begun.elapsed());
}

#[test]
fn long_words_are_not_looked_for() {
    let mut file: Value = serde_json::from_slice(&fixture("wordpiece")).unwrap();
    let bytes = |chars: u64| {
        file["model"]["max_input_chars_per_word"] = json!(chars);
        serde_json::to_vec(&file).unwrap()
    };
    let [allowed, refused] = [1_000, 1_001].map(bytes);
    assert_eq!(error_of(&allowed, "citizen"), None);
    let error = error_of(&refused, "citizen").unwrap();
    assert_eq!(error, "FILE is not a tokenizer: it looks for words of more than 1000 characters");
}

#[test]
fn a_vocabulary_of_another_model_costs_no_memory() {
    let entries: Vec<String> = (0..100_000).map(|id| format!("\"{id}\":{id}")).collect();
    let vocab = format!("{{{}}}", entries.join(","));
    let list = vec!["[\"a\",0]"; 100_000].join(",");
    for (model, bytes) in [
        ("100000 tokens, but", format!(r#"{{"model":{{"type":"WordLevel","unk_token":"0","vocab":{vocab}}}}}"#)),
        ("100000 tokens, but", format!(r#"{{"model":{{"type":"Unigram","unk_id":0,"vocab":[{list}]}}}}"#)),
        ("cannot read FILE: it has more than 2060000 bytes", format!("{{\"model\":{}", " ".repeat(2_060_000))),
    ] {
        let (begun, mut error) = (Instant::now(), None);
        let memory = measure(|| error = error_of(bytes.as_bytes(), ""));
        assert!(error.as_ref().unwrap().contains(model), "{error:?}");
        assert!(begun.elapsed() < MAX_TIME, "{:?}", begun.elapsed());
        // The file and what a growing buffer has besides.
        assert!(memory.bytes_max < 3 * bytes.len() as u64 + 1_000_000, "{memory:?}");
    }
}
