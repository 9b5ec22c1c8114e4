//! The memory of a tokenizer, and its stack: neither a long token nor a large part of its file takes more than is stated,
//! or ends the process.

use crate::hostile_tokenizers::{error_of, error_with, fixture};
use crate::support::MAX_TIME;
use allocation_counter::measure;
use serde_json::{Value, json};
use std::env;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What is stated: 200 MB, and 20 kB for each of the 300 tokens.
const MAX_BYTES: u64 = 200_000_000 + 20_000 * 300;
/// The longest file for 300 tokens.
const MAX_FILE_BYTES: usize = 2_000_000 + 200 * 300;

/// The error of a file, or that of a text with it. Time and memory are bounded.
#[track_caller]
fn bounded_error(file: &[u8]) -> Option<String> {
    let (begun, mut error) = (Instant::now(), None);
    let memory = measure(|| error = error_of(file, "citizen"));
    assert!(memory.bytes_max < MAX_BYTES, "{} MB: {error:?}", memory.bytes_max / 1_000_000);
    assert!(begun.elapsed() < MAX_TIME, "{:?}: {error:?}", begun.elapsed());
    println!("{} MB of memory for {} kB: {error:?}", memory.bytes_max / 1_000_000, file.len() / 1_000);
    error
}

#[track_caller]
fn bounded_error_with(part: &str, value: Value) -> Option<String> {
    let mut file: Value = serde_json::from_slice(&fixture("bpe")).unwrap();
    file[part] = value;
    bounded_error(&serde_json::to_vec(&file).unwrap())
}

fn unigram(tokens: impl Iterator<Item = String>) -> Value {
    let vocab: Vec<_> = tokens.map(|token| json!([token, -1.5])).collect();
    json!({"type": "Unigram", "unk_id": 0, "vocab": vocab})
}

/// 299 tokens, of which `count` have `len_bytes` bytes.
fn long_tokens(count: usize, len_bytes: usize) -> impl Iterator<Item = String> {
    (0..299).map(move |id| match id < count {
        // Each begins differently, so that no two share a prefix.
        true => format!("{id:03}{}", "a".repeat(len_bytes - 3)),
        false => format!("t{id}"),
    })
}

/// Repeats a text to the length of the longest file.
fn repeat_to_limit(text: &str) -> String {
    text.repeat((MAX_FILE_BYTES - 10_000) / text.len())
}

/// The first text overflowed the stack, which ends a process.
#[test]
fn a_long_token_is_refused_and_ends_no_process() {
    const TEST: &str = "tokenizer_memory::a_long_token_is_refused_and_ends_no_process";
    const CHILD: &str = "TYPED_TRANSFORMER_TEST_LONG_TOKEN";
    if env::var_os(CHILD).is_none() {
        let mut child = Command::new(env::current_exe().unwrap());
        let child = child.args(["--exact", TEST]).env(CHILD, "1").stdout(Stdio::null()).stderr(Stdio::null());
        assert!(child.status().unwrap().success());
        return;
    }
    for len_bytes in [1_001, 131_640, 1_900_000] {
        let tagged = unigram(long_tokens(1, len_bytes));
        let mut untagged = tagged.clone();
        untagged.as_object_mut().unwrap().remove("type");
        let long = "a".repeat(len_bytes);
        let map = json!({"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0, &*long: 299}});
        let added = json!([{"id": 0, "content": long, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": false}]);
        let expected =
            format!("FILE is not a tokenizer: its longest token has {len_bytes} bytes, but 1000 are the limit");
        for (part, value) in [("model", tagged), ("model", untagged), ("model", map), ("added_tokens", added)] {
            assert_eq!(bounded_error_with(part, value), Some(expected.clone()));
        }
    }
}

#[test]
fn many_long_tokens_take_bounded_memory() {
    let error = bounded_error_with("model", unigram(long_tokens(120, 1_000)));
    let expected = "FILE is not a tokenizer: the tokens of its Unigram have 120716 bytes, but 109600 are the limit";
    assert_eq!(error.as_deref(), Some(expected));
    // The most that is allowed.
    let error = bounded_error_with("model", unigram(long_tokens(108, 1_000)));
    let advice = "has no token; `allowing_unknown` reads it as the unknown token";
    assert!(error.is_none_or(|error| error.ends_with(advice)));

    // Merges of tokens that there are not, and of one that there is, as often as the file has room.
    for merge in [
        repeat_to_limit("\"a b\","),
        repeat_to_limit("\"c i\","),
        repeat_to_limit("[\"c\",\"i\"],"),
        format!("\"{} b\",", repeat_to_limit("a")),
    ] {
        let bpe = String::from_utf8(fixture("bpe")).unwrap();
        let merges = bpe.find("\"merges\"").unwrap() + bpe[bpe.find("\"merges\"").unwrap()..].find('[').unwrap() + 1;
        bounded_error(format!("{}{merge}{}", &bpe[..merges], &bpe[merges..]).as_bytes());
    }
    for affix in ["continuing_subword_prefix", "end_of_word_suffix"] {
        let mut model = serde_json::from_slice::<Value>(&fixture("bpe")).unwrap()["model"].take();
        model[affix] = json!(repeat_to_limit("a"));
        let error = bounded_error_with("model", model).unwrap();
        assert!(error.starts_with("FILE is not a tokenizer: a prefix or suffix has "), "{error}");
        assert!(error.ends_with(" bytes, but 100 are the limit"), "{error}");
    }
}

#[test]
fn deep_and_wide_files_take_bounded_memory() {
    let bpe = String::from_utf8(fixture("bpe")).unwrap();
    let numbers = repeat_to_limit("0,");
    for part in ["normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens", "truncation", "unknown"] {
        let mut file: Value = serde_json::from_str(&bpe).unwrap();
        let _ = file.as_object_mut().unwrap().remove(part);
        let rest = serde_json::to_string(&file).unwrap();
        let rest = rest.strip_prefix('{').unwrap();
        for wide in [format!("[{numbers}0]"), format!("{{\"type\":\"ByteLevel\",\"x\":[{numbers}0]}}")] {
            bounded_error(format!("{{\"{part}\":{wide},{rest}").as_bytes());
        }
        let deep = format!("{}0{}", "[".repeat(500_000), "]".repeat(500_000));
        let error = bounded_error(format!("{{\"{part}\":{deep},{rest}").as_bytes());
        assert!(part == "unknown" || part == "truncation" || error.is_some(), "{part}");
    }
    for model in [
        format!("{{\"type\":\"BPE\",\"x\":[{numbers}0]}}"),
        format!("{{\"x\":[{numbers}0]}}"),
        format!("{{\"vocab\":[[\"a\",0,{numbers}0]]}}"),
        format!("{{\"vocab\":[{}[\"a\",0]]}}", repeat_to_limit("[\"a\",0],")),
    ] {
        assert!(bounded_error(format!("{{\"model\":{model}}}").as_bytes()).is_some());
    }
    // Sequences in sequences, of which the parser tries each in several ways.
    for kind in ["normalizer", "pre_tokenizer", "decoder", "post_processor"] {
        let list = match kind {
            "normalizer" => "normalizers",
            "pre_tokenizer" => "pretokenizers",
            "decoder" => "decoders",
            _ => "processors",
        };
        for step in [json!({"type": "Sequence"}), json!({})] {
            let nested = (0..40).fold(json!({"type": "ByteLevel", "x": 1}), |inner, _| {
                let mut outer = step.clone();
                outer[list] = json!([inner]);
                outer
            });
            bounded_error_with(kind, nested);
        }
    }
}

#[test]
fn added_tokens_take_bounded_memory() {
    let added = |count: usize, len_bytes: usize, normalized: bool| {
        let token = |id: usize| {
            json!({"id": id, "content": format!("{id:0len_bytes$}"), "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": normalized, "special": false})
        };
        (0..count).map(token).collect::<Vec<_>>()
    };
    let error = bounded_error_with("added_tokens", json!(added(1_700, 1_000, false))).unwrap();
    assert_eq!(error, "FILE is not a tokenizer: its added tokens could have 1700000 bytes, but 509600 are the limit");
    let error = bounded_error_with("added_tokens", json!(added(500, 1_000, false))).unwrap();
    assert!(error.starts_with("FILE has "), "{error}");
    // A normalizer that makes each of them longer.
    let mut file: Value = serde_json::from_slice(&fixture("bpe")).unwrap();
    file["added_tokens"] = json!(added(1_000, 100, true));
    file["normalizer"] = json!({"type": "Replace", "pattern": {"String": "0"}, "content": "1".repeat(200)});
    let error = bounded_error(&serde_json::to_vec(&file).unwrap()).unwrap();
    assert_eq!(error, "FILE is not a tokenizer: its added tokens could have 20000000 bytes, but 509600 are the limit");
}

#[test]
fn patterns_take_bounded_memory() {
    let split =
        |regex: &str| json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false});
    for pattern in [
        "(?:(?:\\w{100}){100}(?=b)){100}",
        "(?x) \\w{ # }\n 30000 }(?=b)",
        "\\\\x{30000}(?=b)",
        &"(?=\\w{99})".repeat(100),
        &"(?=\\w)".repeat(2_000),
    ] {
        let error = bounded_error_with("pre_tokenizer", split(pattern)).unwrap();
        assert!(error.starts_with("FILE is not a tokenizer: its patterns have "), "{error}");
        assert!(error.ends_with(" characters with their repetitions, but 10000 are the limit"), "{error}");
    }
    let replace = json!({"type": "Replace", "pattern": {"String": "a".repeat(20_000)}, "content": "b"});
    assert!(error_with("normalizer", replace, "citizen").unwrap().contains("its patterns have"));
    // The most that is allowed, and a pattern that would try for ever.
    for pattern in [&*"(?=\\w)".repeat(1_400), "(?:c|ci|i)*(?:(?=\\w)[a-z]*)*!", &*"(".repeat(5_000)] {
        bounded_error_with("pre_tokenizer", split(pattern));
    }
    // Those of published models.
    for pattern in [
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"[\x{3040}-\x{309f}]|.+",
    ] {
        let error = bounded_error_with("pre_tokenizer", split(pattern));
        assert!(error.is_none_or(|error| error.ends_with("has no token")));
    }
}
