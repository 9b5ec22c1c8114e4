//! Folders made to harm their reader, and folders of other systems: each is an error that says what is wrong, nothing is
//! read outside of the folder, and no mutation of a file makes another model.

use crate::pretrained::{Model, OutDim, assert_is_whole, config, folder_with, load, sharded, tensors, write};
use crate::support::{MAX_TIME, temp_dir};
use allocation_counter::measure;
use proptest::prelude::*;
use safetensors::Dtype;
use serde_json::{Value, json};
use std::{fs, path::Path, time::Instant};
use tempfile::TempDir;
use typed_transformer::{
    prelude::Cpu,
    weights::{eos_token_ids, load_pretrained},
};

const INDEX: &str = "model.safetensors.index.json";

/// The error of loading a folder, with `FOLDER` for its path. Time and memory are bounded, and the error is printable.
#[track_caller]
fn error_of(folder: &TempDir) -> String {
    let (begun, mut error) = (Instant::now(), String::new());
    let memory = measure(|| error = load(folder).unwrap_err().to_string());
    assert!(begun.elapsed() < MAX_TIME, "{:?}", begun.elapsed());
    assert!(memory.bytes_max < 200_000_000, "{memory:?}");
    let error = error.replace(&folder.path().display().to_string(), "FOLDER");
    assert!(error.chars().count() < 1_500 && !error.chars().any(char::is_control), "{error:?}");
    error
}

/// The error of a sharded folder whose index is changed.
#[track_caller]
fn error_of_index(change: impl FnOnce(&mut Value)) -> String {
    let folder = sharded();
    let path = folder.path().join(INDEX);
    let mut index: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut index);
    fs::write(path, index.to_string()).unwrap();
    let error = error_of(&folder);
    error.strip_prefix(&format!("FOLDER/{INDEX} is not the index of a model: ")).unwrap_or(&error).to_string()
}

#[test]
fn a_shard_outside_of_the_folder_is_refused() {
    for name in [
        "../b.safetensors",
        "/etc/passwd",
        "sub/b.safetensors",
        "..",
        ".",
        "",
        "a\\b.safetensors",
        "C:b.safetensors",
        "b.safetensors\0",
        "b\u{1b}[2J.safetensors",
        "./b.safetensors",
        "b.safetensors/",
    ] {
        let error = error_of_index(|index| index["weight_map"]["head.bias"] = json!(name));
        let shown = name.replace('\0', "\\0").replace('\u{1b}', "\\u{1b}");
        assert_eq!(error, format!("`{shown}` is not the name of a file in the folder of the index"));
    }
}

#[test]
fn an_index_that_differs_from_its_files_is_refused() {
    let error = error_of_index(|index| index["weight_map"]["head.bias"] = json!("c.safetensors"));
    assert!(error.starts_with("cannot read FOLDER/c.safetensors: "), "{error}");
    let error = error_of_index(|index| index["weight_map"]["head.bias"] = json!("a.safetensors"));
    assert_eq!(error, "it says that `head.bias` is in a.safetensors, but b.safetensors has it");
    let error = error_of_index(|index| index["weight_map"]["more"] = json!("a.safetensors"));
    assert_eq!(error, "it says that `more` is in a.safetensors, which does not have it");
    let error = error_of_index(|index| drop(index["weight_map"].as_object_mut().unwrap().remove("head.bias")));
    assert_eq!(error, "it lacks `head.bias`, which b.safetensors has");
    let error = error_of_index(|index| index["weight_map"] = json!({}));
    assert_eq!(error, "it names 0 files, but 1 to 1000 are allowed");
    let error = error_of_index(|index| {
        index["weight_map"] = (0..1001).map(|i| (format!("t{i}"), json!(format!("{i}.safetensors")))).collect();
    });
    assert_eq!(error, "it names 1001 files, but 1 to 1000 are allowed");
    let error = error_of_index(|index| index["weight_map"]["head.bias"] = json!(["b.safetensors"]));
    assert!(error.starts_with("invalid type: sequence, expected a string"), "{error}");
    let error = error_of_index(|index| *index = json!({ "a": 1 }));
    assert!(error.starts_with("missing field `weight_map`"), "{error}");
    let error = error_of_index(|index| *index = json!([]));
    assert!(error.starts_with("invalid length 0, expected an index"), "{error}");
}

#[test]
fn a_tensor_of_two_shards_is_refused() {
    let folder = sharded();
    write(&folder.path().join("b.safetensors"), &tensors(), Dtype::F32);
    let error = error_of(&folder);
    assert!(
        error.ends_with("it says that `base.hidden_gate.bias` is in a.safetensors, but b.safetensors has it"),
        "{error}"
    );

    let folder = sharded();
    let path = folder.path().join(INDEX);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"head.bias\":", "\"head.bias\":\"a.safetensors\",\"head.bias\":")).unwrap();
    assert!(
        error_of(&folder).contains("is not the index of a model: `head.bias` appears twice"),
        "{}",
        error_of(&folder)
    );
}

#[test]
fn texts_from_an_index_are_escaped() {
    let error = error_of_index(|index| index["weight_map"]["\u{1b}]0;t\u{7}"] = json!("a.safetensors"));
    assert_eq!(error, "it says that `\\u{1b}]0;t\\u{7}` is in a.safetensors, which does not have it");
    let error = error_of_index(|index| index["weight_map"]["x"] = json!("/x\u{202e}".repeat(1_000)));
    assert!(error.starts_with("`/x\\u{202e}/x\\u{202e}") && error.ends_with('…'), "{error}");
}

#[test]
fn long_files_are_refused_unread() {
    let folder = sharded();
    let long = |name: &str, len: usize| fs::write(folder.path().join(name), vec![b' '; len]).unwrap();
    long(INDEX, 10_000_001);
    assert_eq!(error_of(&folder), format!("cannot read FOLDER/{INDEX}: it has more than 10000000 bytes"));
    let many: String = (0..180_000).map(|i| format!("\"tensor {i}\":\"{i}.safetensors\",")).collect();
    fs::write(folder.path().join(INDEX), format!("{{\"weight_map\":{{{many}\"\":\"\"}}}}")).unwrap();
    assert!(error_of(&folder).ends_with("it names 180001 files, but 1 to 1000 are allowed"));
    long("config.json", 4_000_001);
    assert_eq!(error_of(&folder), "cannot read FOLDER/config.json: it has more than 4000000 bytes");
    fs::write(folder.path().join("config.json"), "[".repeat(3_999_999)).unwrap();
    let error = error_of(&folder);
    assert!(error.starts_with("FOLDER/config.json is not a configuration: recursion limit"), "{error}");
    for (text, message) in [("[1]", "it has no fields"), ("", "EOF while parsing a value at line 1 column 0")] {
        fs::write(folder.path().join("config.json"), text).unwrap();
        assert_eq!(error_of(&folder), format!("FOLDER/config.json is not a configuration: {message}"));
    }
}

#[test]
fn a_folder_without_safetensors_says_what_it_has() {
    let folder = folder_with(&config(), &tensors(), Dtype::F32);
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    let expected = "FOLDER has neither model.safetensors nor model.safetensors.index.json";
    assert_eq!(error_of(&folder), expected);
    for name in ["pytorch_model.bin", "model.gguf", "README.md", "tf_model.h5", "x.onnx\u{1b}", "y.onnx"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let found = "model.gguf, pytorch_model.bin, tf_model.h5";
    assert_eq!(error_of(&folder), format!("{expected}; it has {found}, which this crate does not read"));

    let adapter = temp_dir();
    fs::copy(folder.path().join("config.json"), adapter.path().join("config.json")).unwrap();
    fs::write(adapter.path().join("adapter_model.safetensors"), "").unwrap();
    let found = "adapter_model.safetensors, but not under one of these names";
    assert_eq!(error_of(&adapter), format!("{expected}; it has {found}"));

    let file = folder.path().join("model.gguf");
    let error = load_pretrained::<Model, f32, Cpu>(&file, &Cpu::default()).map(drop).unwrap_err();
    let expected = "a model is a folder with config.json and its weights, but this is a file";
    assert_eq!(error.to_string(), format!("cannot read {}: {expected}", file.display()));

    let empty = temp_dir();
    assert!(error_of(&empty).starts_with("cannot read FOLDER/config.json: "), "{}", error_of(&empty));
}

/// A hub's cache has links, which a copy of its folder may lead to nothing.
#[test]
#[cfg(unix)]
fn a_link_to_nothing_is_not_passed_over() {
    use std::os::unix::fs::symlink;
    let folder = folder_with(&config(), &tensors(), Dtype::F32);
    let at = |name: &str| folder.path().join(name);
    assert!(eos_token_ids::<OutDim>(folder.path()).unwrap().is_empty());
    symlink("gone", at("generation_config.json")).unwrap();
    let error = eos_token_ids::<OutDim>(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot read {}: ", at("generation_config.json").display())), "{error}");
    fs::remove_file(at("model.safetensors")).unwrap();
    symlink("gone", at("model.safetensors")).unwrap();
    let error = error_of(&folder);
    assert!(error.starts_with("cannot read FOLDER/model.safetensors: "), "{error}");
}

#[test]
fn files_of_other_formats_in_place_of_weights_are_named() {
    let folder = folder_with(&config(), &tensors(), Dtype::F32);
    let path = folder.path().join("model.safetensors");
    for (start, what) in [
        (&b"PK\x03\x04\0\0\x08\x08"[..], "a zip archive, such as a `.bin` or `.pt` file of PyTorch"),
        (b"\x80\x02}q\0X\x12\0", "a Python pickle, such as a file of PyTorch before version 1.6"),
        (b"GGUF\x03\0\0\0", "a GGUF file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS in place of the file"),
        (b"{\"weight_map\": {}}", "JSON text. `load_mapped` and `load_pretrained` read the index"),
    ] {
        fs::write(&path, [start, &[b'.'; 50]].concat()).unwrap();
        let error = error_of(&folder);
        let begin = format!("FOLDER/model.safetensors is damaged or not a safetensors file: it is {what}");
        assert!(error.starts_with(&begin), "{error}");
    }
}

/// Changes a byte, cuts the file, or repeats a part of it.
fn mutate(bytes: &mut Vec<u8>, (kind, at, value): (u8, prop::sample::Index, u8)) {
    let at = at.index(bytes.len());
    match kind {
        0 => bytes[at] = value,
        1 => bytes.truncate(at),
        2 => bytes.insert(at, value),
        _ => {
            let part = bytes[at..].to_vec();
            bytes.extend(part);
        }
    }
}

fn write_mutated(path: &Path, mutations: &[(u8, prop::sample::Index, u8)]) {
    let mut bytes = fs::read(path).unwrap();
    for &mutation in mutations {
        if !bytes.is_empty() {
            mutate(&mut bytes, mutation);
        }
    }
    fs::write(path, bytes).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Configuration and index have no numbers of the model, so a folder with another one is the same model or an error.
    #[test]
    fn mutated_configurations_and_indices_make_the_same_model_or_none(
        name in prop_oneof![Just("config.json"), Just(INDEX)],
        mutations in prop::collection::vec((0u8..4, any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let folder = sharded();
        write_mutated(&folder.path().join(name), &mutations);
        match load(&folder) {
            Ok(model) => assert_is_whole(&model),
            Err(error) => prop_assert!(!error.to_string().chars().any(char::is_control)),
        }
    }

    /// Without checksums, numbers may change, but nothing else.
    #[test]
    fn mutated_shards_are_read_or_refused(
        name in prop_oneof![Just("a.safetensors"), Just("b.safetensors")],
        mutations in prop::collection::vec((0u8..4, any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let folder = sharded();
        write_mutated(&folder.path().join(name), &mutations);
        match load(&folder) {
            Ok(model) => assert_finite_and_only(name, &model),
            Err(error) => prop_assert!(!error.to_string().chars().any(char::is_control)),
        }
    }
}

/// Asserts that all numbers are finite, and that those of the file that did not change are the same.
fn assert_finite_and_only(changed: &str, model: &Model) {
    let [hidden, gate, output] = [
        [model.hidden.weight.as_vec(), model.hidden.bias.as_vec()],
        [model.gate.weight.as_vec(), model.gate.bias.as_vec()],
        [model.output.weight.as_vec(), model.output.bias.as_vec()],
    ];
    assert!([&hidden, &gate, &output].into_iter().flatten().flatten().all(|number| number.is_finite()));
    let expected = load(&sharded()).unwrap();
    if changed == "a.safetensors" {
        assert_eq!(output, [expected.output.weight.as_vec(), expected.output.bias.as_vec()]);
    } else {
        assert_eq!(hidden, [expected.hidden.weight.as_vec(), expected.hidden.bias.as_vec()]);
        assert_eq!(gate, [expected.gate.weight.as_vec(), expected.gate.bias.as_vec()]);
    }
}
