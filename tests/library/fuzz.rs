//! Mutations of a file of every format that this crate reads. Each is read or refused: without a panic, in bounded time and
//! memory, by an error that a terminal can show.

use crate::pretrained::{Model, sharded};
use crate::support::{MAX_TIME, file_names, print_figure, temp_dir};
use crate::tiny_training::{Tiny, saved, trainer};
use allocation_counter::measure;
use proptest::{prelude::*, sample::Index, test_runner::TestRunner};
use std::{fs, path::Path, time::Instant};
use tempfile::TempDir;
use typed_transformer::prelude::*;
use typed_transformer::train::Metrics;
use typed_transformer::weights::{self, eos_token_ids};

dims! { SmallVocab = 200; BpeVocab = 300; }

/// Texts that readers of numbers, lists and headers may stumble over.
const TEXTS: [&str; 14] = [
    "18446744073709551616",
    "-1",
    "1e999",
    "NaN",
    "null",
    "[[",
    "{\"",
    "\"\"",
    "\\u0000",
    "\\ud800",
    "\u{202e}",
    "\u{7f}",
    "\"data_offsets\":[9223372036854775807,1]",
    "\"type\":\"Sequence\"",
];

/// A file of a format, and what reads it.
struct Format {
    /// All files of its folder.
    files: Vec<(String, Vec<u8>)>,
    /// The one that is changed.
    changed: &'static str,
    /// The error of reading the folder, if any.
    read: fn(&Path) -> Option<String>,
}

fn format(folder: &TempDir, changed: &'static str, read: fn(&Path) -> Option<String>) -> Format {
    let content = |name: String| (name.clone(), fs::read(folder.path().join(name)).unwrap());
    Format { files: file_names(folder).into_iter().map(content).collect(), changed, read }
}

fn error_of<Value, Error: ToString>(result: Result<Value, Error>) -> Option<String> {
    result.err().map(|error| error.to_string())
}

#[cfg(feature = "tokenizers")]
fn tokenizer_error<V: ConstDim>(folder: &Path) -> Option<String> {
    let tokenizer = typed_transformer::tokens::Tokenizer::<V>::from_file(folder.join("tokenizer.json"));
    error_of(tokenizer.and_then(|tokenizer| tokenizer.decode(&tokenizer.encode("Speak, citizen")?)))
}

fn formats() -> Vec<Format> {
    let folder = temp_dir();
    saved(&folder, 2, 1);
    let checkpoint =
        format(&folder, "ck", |folder| error_of(trainer().resume::<Tiny, _, _>(folder.join("ck"), &Cpu::default())));
    let folder = temp_dir();
    weights::save(&Tiny::build(&Cpu::seed_from_u64(1)), folder.path().join("weights")).unwrap();
    fs::write(folder.path().join("generation_config.json"), r#"{"eos_token_id": [7, 199], "pad_token_id": 0}"#)
        .unwrap();
    fs::write(folder.path().join("metrics"), "{\"step\":1,\"loss\":1.5}\n{\"step\":2,\"loss\":null}\n").unwrap();
    let mut formats = vec![
        checkpoint,
        format(&folder, "weights", |folder| {
            error_of(weights::load::<Tiny, _, _>(folder.join("weights"), &Cpu::default()))
        }),
        format(&folder, "generation_config.json", |folder| error_of(eos_token_ids::<SmallVocab>(folder))),
        format(&folder, "metrics", |folder| {
            #[cfg(feature = "plot")]
            let _ = typed_transformer::plot::training_curves(&folder.join("metrics"));
            error_of(
                Metrics::open(folder.join("metrics"), 1).and_then(|mut metrics| metrics.write(2, &[("loss", 1.0)])),
            )
        }),
    ];
    let folder = sharded();
    for changed in ["model.safetensors.index.json", "config.json", "a.safetensors"] {
        formats.push(format(&folder, changed, |folder| {
            error_of(weights::load_pretrained::<Model, f32, Cpu>(folder, &Cpu::default()))
        }));
    }
    #[cfg(feature = "tokenizers")]
    for (name, read) in [
        ("bpe", tokenizer_error::<BpeVocab> as fn(&Path) -> _),
        ("wordpiece", tokenizer_error::<SmallVocab>),
        ("unigram", tokenizer_error::<SmallVocab>),
        ("dropping", tokenizer_error::<SmallVocab>),
    ] {
        let folder = temp_dir();
        fs::write(folder.path().join("tokenizer.json"), crate::hostile_tokenizers::fixture(name)).unwrap();
        formats.push(format(&folder, "tokenizer.json", read));
    }
    formats
}

/// Sets a byte, removes a part, repeats it elsewhere, or inserts a text.
fn mutate(bytes: &mut Vec<u8>, (kind, from, to, value): (u8, Index, Index, u8)) {
    let (from, to) = (from.index(bytes.len() + 1), to.index(bytes.len() + 1));
    match kind {
        0..4 => bytes[from.min(to).saturating_sub(1)] = value,
        4 => drop(bytes.drain(from.min(to)..from.max(to))),
        5 => drop(bytes.drain(from..(from + usize::from(value)).min(bytes.len()))),
        6 => {
            let part = bytes[from..(from + usize::from(value)).min(bytes.len())].to_vec();
            bytes.splice(to..to, part);
        }
        _ => drop(bytes.splice(to..to, TEXTS[usize::from(value) % TEXTS.len()].bytes())),
    }
}

/// The number of files.
fn mutations_are_read_or_refused(cases: u32) -> usize {
    let formats = formats();
    // Each is read before it is changed.
    for format in &formats {
        assert_eq!(read(format, &[]), None, "{}", format.changed);
    }
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mutation = (0..8_u8, any::<Index>(), any::<Index>(), any::<u8>());
    let drawn = (0..formats.len(), prop::collection::vec(mutation, 1..4));
    let check = |(format, mutations): (usize, Vec<_>)| {
        if let Some(error) = read(&formats[format], &mutations) {
            prop_assert!(error.chars().count() < 1_500 && !error.chars().any(char::is_control), "{error:?}");
        }
        Ok(())
    };
    TestRunner::new(config).run(&drawn, check).unwrap();
    formats.len()
}

/// The error of a changed file, if any.
fn read(format: &Format, mutations: &[(u8, Index, Index, u8)]) -> Option<String> {
    let folder = temp_dir();
    for (name, content) in &format.files {
        let mut bytes = content.clone();
        if name == format.changed {
            for &mutation in mutations {
                if !bytes.is_empty() {
                    mutate(&mut bytes, mutation);
                }
            }
        }
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let (begun, mut error) = (Instant::now(), None);
    let memory = measure(|| error = (format.read)(folder.path()));
    assert!(begun.elapsed() < MAX_TIME, "{:?}", begun.elapsed());
    assert!(memory.bytes_max < 250_000_000, "{memory:?}");
    error
}

#[test]
fn mutations_of_every_format_are_read_or_refused() {
    mutations_are_read_or_refused(2_000);
}

#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_mutations_of_every_format_are_read_or_refused() {
    let files = mutations_are_read_or_refused(100_000);
    print_figure(&format!("100000 mutations of {files} files: no panic"));
}
