//! Files made to harm their reader: time and memory are bounded, and nothing from a file reaches a terminal as it
//! is.

use crate::support::{MAX_TIME, Metadata, Tensors, sealed_file, temp_dir, tensors_of};
use crate::tiny_training::{Tiny, saved, trainer};
use allocation_counter::measure;
use dfdx::tensor::Cpu;
use safetensors::Dtype;
use std::{fs, time::Instant};
use typed_transformer::weights;

/// The error of loading weights from these bytes. Time and memory are bounded.
#[track_caller]
fn load_error(bytes: &[u8]) -> String {
    error_of(bytes, |path| weights::load::<Tiny, _, _>(path, &Cpu::default()).map(drop).unwrap_err().to_string())
}

/// The error of resuming from these bytes. Time and memory are bounded.
#[track_caller]
fn resume_error(bytes: &[u8]) -> String {
    error_of(bytes, |path| trainer().resume::<Tiny, _, _>(path, &Cpu::default()).map(drop).unwrap_err().to_string())
}

#[track_caller]
fn error_of(bytes: &[u8], read: impl Fn(&std::path::Path) -> String) -> String {
    let folder = temp_dir();
    let path = folder.path().join("file");
    fs::write(&path, bytes).unwrap();
    let (begun, mut error) = (Instant::now(), String::new());
    let memory = measure(|| error = read(&path));
    assert!(begun.elapsed() < MAX_TIME, "{:?}", begun.elapsed());
    assert!(memory.bytes_max < 200_000_000, "{memory:?}");
    let error = error.replace(&path.display().to_string(), "FILE");
    assert!(error.chars().count() < 1_000 && !error.chars().any(char::is_control), "{error:?}");
    error
}

/// A file with this header and nothing else.
fn header_only(header: &str) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat()
}

#[test]
fn many_settings_take_linear_time() {
    let folder = temp_dir();
    let (tensors, mut metadata) = tensors_of(&fs::read(saved(&folder, 1, 1)).unwrap());
    let settings: Vec<_> = (0..200_000).map(|number| (format!("setting {number}"), "absent")).collect();
    let settings = serde_json::to_string(&settings).unwrap();
    let training = metadata.get_mut("training").unwrap();
    let (before, after) = training.split_once("\"settings\":[").unwrap();
    let (_, after) = after.split_once("]],").unwrap();
    *training = format!("{before}\"settings\":{settings},{after}");
    let error = resume_error(&sealed_file(&tensors, &metadata));
    assert!(error.starts_with("FILE: the model should be Linear<"), "{error}");

    // A value like the word for a missing one is not a missing one.
    let (tensors, mut metadata) = tensors_of(&fs::read(saved(&temp_dir(), 1, 1)).unwrap());
    let training = metadata.get_mut("training").unwrap();
    *training = training.replace("\"settings\":[", "\"settings\":[[\"the colour\",\"absent\"],");
    let error = resume_error(&sealed_file(&tensors, &metadata));
    assert_eq!(error, "FILE: the colour should be absent but is absent");
}

#[test]
fn many_dimensions_of_a_checkpoint_take_linear_time() {
    let (tensors, mut metadata) = tensors_of(&fs::read(saved(&temp_dir(), 1, 1)).unwrap());
    let training = metadata.get_mut("training").unwrap();
    let more: String = (0..200_000).map(|number| format!("[\"parameter {number}\",[]],")).collect();
    *training = training.replace("\"dimensions\":[", &format!("\"dimensions\":[{more}"));
    let error = resume_error(&sealed_file(&tensors, &metadata));
    assert_eq!(error, "FILE: `model.parameter 0` is in the file but not in the model");
}

#[test]
fn a_long_header_is_refused_unread() {
    let keys: String = (0..2_000_000).map(|number| format!("\"{number}\":\"\",")).collect();
    let header = format!("{{\"__metadata__\":{{{keys}\"\":\"\"}}}}");
    let error = load_error(&header_only(&header));
    let expected = format!("its header has {} bytes, but 10000000 are the maximum", header.len());
    assert_eq!(error, format!("FILE is damaged or not a safetensors file: {expected}"));

    // One that is as long as is allowed.
    let keys: String = (0..700_000).map(|number| format!("\"{number}\":\"\",")).collect();
    let error = load_error(&header_only(&format!("{{\"__metadata__\":{{{keys}\"\":\"\"}}}}")));
    assert_eq!(error, "`weight` (OutDim=3, InDim=2) is missing");
}

#[test]
fn a_tensor_of_many_dimensions_is_refused() {
    let shape = "1,".repeat(4_000_000);
    let header = format!("{{\"weight\":{{\"dtype\":\"F32\",\"shape\":[{shape}1],\"data_offsets\":[0,4]}}}}");
    let error = load_error(&header_only(&header));
    assert!(error.contains("`weight` has 4000001 dimensions, but 64 are the maximum"), "{error}");
}

#[cfg(feature = "plot")]
#[test]
fn many_names_of_metrics_take_linear_time() {
    let folder = temp_dir();
    let path = folder.path().join("metrics");
    let names: String = (0..150_000).map(|number| format!(",\"{number}\":1")).collect();
    fs::write(&path, format!("{{\"step\":1,\"\\u001b loss\":1{names}}}\n")).unwrap();
    let begun = Instant::now();
    let plots = typed_transformer::plot::training_curves(&path).unwrap();
    assert!(begun.elapsed() < MAX_TIME, "{:?}", begun.elapsed());
    // A page cannot hold control characters.
    assert_eq!((plots.len(), &*plots[0].lines[0].name), (1, "\\u{1b} loss"));
}

#[test]
fn texts_from_a_file_are_escaped() {
    const NAME: &str = "\u{1b}]0;title\u{7}\r\n\u{202e}";
    const SHOWN: &str = "\\u{1b}]0;title\\u{7}\\r\\n\\u{202e}";
    let (mut tensors, metadata) = tensors_of(&fs::read(saved(&temp_dir(), 1, 1)).unwrap());
    let model: Tensors = tensors
        .iter()
        .filter_map(|(name, tensor)| Some((name.strip_prefix("model.")?.into(), tensor.clone())))
        .collect();
    let one = (Dtype::F32, vec![1], vec![0; 4]);
    let with = |name: String| Tensors::from_iter(model.clone().into_iter().chain([(name, one.clone())]));
    let error = load_error(&sealed_file(&with(NAME.into()), &Metadata::new()));
    assert_eq!(error, format!("`{SHOWN}` is in the file but not in the model"));
    let error = load_error(&sealed_file(&with("x".repeat(1_000_000)), &Metadata::new()));
    assert_eq!(error, format!("`{}…` is in the file but not in the model", "x".repeat(300)));
    let conventions = Metadata::from([("conventions".to_string(), format!("{}: no", &NAME[..10]))]);
    assert!(load_error(&sealed_file(&model, &conventions)).starts_with("the model's \\u{1b}"));
    let twice = format!(
        "{{{0}:{1},{0}:{1}}}",
        serde_json::to_string(NAME).unwrap(),
        r#"{"dtype":"F32","shape":[],"data_offsets":[0,4]}"#
    );
    assert!(load_error(&header_only(&twice)).contains(SHOWN));

    tensors.insert(NAME.into(), one.clone());
    assert!(resume_error(&sealed_file(&tensors, &metadata)).contains(SHOWN));
    tensors.remove(NAME);
    let quoted = serde_json::to_string(NAME).unwrap();
    for (from, to) in [
        ("\"OutDim=3\"", quoted.clone()),
        ("\"0.01\"", quoted.clone()),
        ("\"settings\":[", format!("\"settings\":[[{quoted},\"\"],")),
    ] {
        let mut metadata = metadata.clone();
        let training = metadata.get_mut("training").unwrap();
        assert!(training.contains(from), "{training}");
        *training = training.replace(from, &to);
        assert!(resume_error(&sealed_file(&tensors, &metadata)).contains(SHOWN), "{from}");
    }
}

#[test]
fn files_of_other_systems_are_recognised() {
    for (start, what) in [
        (&b"PK\x03\x04"[..], "a zip archive, such as a `.bin` or `.pt` file of PyTorch"),
        (b"\x80\x02}q", "a Python pickle, such as a file of PyTorch before version 1.6"),
        (b"GGUF\x03\0\0\0", "a GGUF file"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file, such as one of Keras"),
        (b"\x93NUMPY\x01\0", "an array of NumPy"),
        (b"version https://git-lfs", "a pointer of Git LFS in place of the file, which `git lfs pull` fetches"),
        (
            br#"{"metadata": {"total_size": 5}, "weight_map": {}}"#,
            "JSON text. `load_mapped` and `load_pretrained` read the index of a model in several files",
        ),
    ] {
        let bytes = [start, &[b'.'; 50]].concat();
        assert_eq!(load_error(&bytes), format!("FILE is damaged or not a safetensors file: it is {what}"));
    }
}

#[test]
fn random_bytes_are_not_a_header() {
    let error = load_error(&[b'\\'; 100]);
    let expected = "its first 8 bytes are not the length of a header";
    assert_eq!(error, format!("FILE is damaged or not a safetensors file: {expected}"));
}

#[test]
fn checksums_cannot_be_removed_one_by_one() {
    let folder = temp_dir();
    let path = folder.path().join("weights");
    weights::save(&dfdx::nn::BuildModule::<Cpu, f32>::build(&Cpu::default()) as &Tiny, &path).unwrap();
    let whole = fs::read(path).unwrap();
    let at = |text: &str| whole.windows(text.len()).position(|part| part == text.as_bytes()).unwrap();
    for (key, error) in [
        ("tensor_checksums", "the checksum of its header differs"),
        ("header_checksum", "`header_checksum` is missing"),
    ] {
        let mut bytes = whole.clone();
        bytes[at(key)] = b'x';
        assert_eq!(load_error(&bytes), format!("FILE is damaged or not a safetensors file: {error}"));
    }
    let mut bytes = whole.clone();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(load_error(&bytes), "`weight` is damaged: its checksum differs");
}
