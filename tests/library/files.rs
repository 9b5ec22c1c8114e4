//! Weights in files: loading inverts saving bit by bit, errors name what is wrong, and no file content
//! makes a model that differs from the file.

use crate::support::{Tensors, file_names, print_figure, sealed_file, temp_dir, tensors_of};
use allocation_counter::AllocationInfo;
use dfdx::nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName, ViewTensorRef};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{AsArray, Cpu, OnesTensor, Tensor};
use dfdx::tensor_ops::Device;
use proptest::prelude::{ProptestConfig, Strategy, any, prop};
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use proptest::{prop_assert, prop_assert_eq, prop_oneof, proptest};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::fmt::Debug;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, thread};
use typed_transformer::mask::CenteredWindow;
use typed_transformer::models::another_annotated::Annotated;
use typed_transformer::nn::{
    Conventions, Learned, Linear, Module, NormKind, NormPlacement, SelfAttention, Sinusoidal, WidthScale,
};
use typed_transformer::ops;
use typed_transformer::prelude::*;
use typed_transformer::ranks::Element;
use typed_transformer::train::{Adam, Trainer};
use typed_transformer::weights::{self, LoadError, Loadable, SaveError};

// Every dimension has its own size, so that confusing two of them fails.
dims! {
    SrcVocab = 7; TgtVocab = 9; MaxSrcLen = 5; MaxTgtLen = 6; EmbedDim = 4; NumHeads = 3;
    QKDim = 8; VODim = 10; HiddenDim = 11; NumLayers = 1; ManyLayers = 12; InDim = 2; OutDim = 3;
}

/// An architecture with the sizes above and these conventions.
macro_rules! small {
    ($name:ident: $style:ty) => {
        struct $name;
        impl Arch for $name {
            type NumHeads = NumHeads;
            type QKDim = QKDim;
            type VODim = VODim;
            type HiddenDim = HiddenDim;
            type Conventions = $style;
        }
        impl Seq2Seq for $name {
            type SrcVocab = SrcVocab;
            type TgtVocab = TgtVocab;
            type MaxSrcLen = MaxSrcLen;
            type MaxTgtLen = MaxTgtLen;
            type EmbedDim = EmbedDim;
            type NumEncoderLayers = NumLayers;
            type NumDecoderLayers = NumLayers;
        }
    };
}
small!(SmallTyped: TypedTransformer);
small!(SmallAnnotated: Annotated);

type Typed<E> = LM<SmallTyped, E, Cpu>;
type Other<E> = LM<SmallAnnotated, E, Cpu>;
/// The smallest model: `weight` of (3, 2) and `bias` of (3,), less than 200 bytes in a file.
type Tiny = Linear<InDim, OutDim, f32, Cpu>;

/// The parameter of [`Typed`] that the tests below damage, and its dimensions.
const QUERY: &str = "decoder.decoder.layers.0.cross_attention.attention.query_proj.weight";
const QUERY_DIMS: &str = "(Product<NumHeads, QKDim>=24, EmbedDim=4)";

// ---- Models and files as tables of tensors ----

/// A model's parameters, read without the code under test.
fn parameters<Model, E>(model: &Model) -> Tensors
where
    Model: TensorCollection<E, Cpu>,
    E: Element,
    Cpu: Device<E>,
{
    struct Collect(Tensors);
    impl<E: Element> TensorVisitor<E, Cpu> for Collect
    where
        Cpu: Device<E>,
    {
        type Viewer = (ViewTensorRef, ViewTensorName);
        type Err = String;
        type E2 = E;
        type D2 = Cpu;

        fn visit<S: Shape>(
            &mut self,
            _: TensorOptions<S, E, Cpu>,
            (parameter, path): (&Tensor<S, E, Cpu>, String),
        ) -> Result<Option<Tensor<S, E, Cpu>>, String> {
            let sizes = parameter.shape().concrete().into();
            self.0.insert(path, (E::DTYPE, sizes, E::to_bytes(&parameter.as_vec())));
            Ok(None)
        }
    }
    let mut collect = Collect(Tensors::new());
    Model::iter_tensors(&mut RecursiveWalker { m: (model, String::new()), f: &mut collect }).unwrap();
    collect.0
}

/// A file's tensors, read by the `safetensors` crate.
fn tensors(path: &Path) -> Tensors {
    tensors_of(&fs::read(path).unwrap()).0
}

/// A file with these tensors.
fn file_of(tensors: &Tensors) -> Vec<u8> {
    let views = tensors.iter().map(|(key, (dtype, sizes, bytes))| {
        let view = TensorView::new(*dtype, sizes.clone(), bytes).unwrap();
        (key, view)
    });
    safetensors::serialize(views, None).unwrap()
}

fn build<Model>() -> Model
where
    Model: BuildModule<Cpu, f32>,
{
    Model::build(&Cpu::seed_from_u64(1))
}

/// Loads a model from a file with these bytes.
fn load_bytes<Model>(bytes: &[u8]) -> Result<Model, LoadError>
where
    Model: Module + TensorCollection<f32, Cpu, To<f32, Cpu> = Model> + Loadable<f32, Cpu>,
{
    with_file(bytes, |path| weights::load(path, &Cpu::default()))
}

fn with_file<Out>(bytes: &[u8], what: impl FnOnce(&Path) -> Out) -> Out {
    let folder = temp_dir();
    let path = folder.path().join("weights");
    fs::write(&path, bytes).unwrap();
    what(&path)
}

/// The error of loading [`Typed`] after a change to its tensors.
fn error_after(change: impl FnOnce(&mut Tensors)) -> LoadError {
    let mut tensors = parameters(&build::<Typed<f32>>());
    change(&mut tensors);
    load_bytes::<Typed<f32>>(&file_of(&tensors)).unwrap_err()
}

/// Asserts the variant and the message of an error.
macro_rules! assert_error {
    ($error:expr, $variant:pat, $text:expr) => {
        let error = $error;
        assert!(matches!(error, $variant), "{error:?}");
        assert_eq!(error.to_string(), $text);
    };
}

// ---- Loading inverts saving ----

/// Saves and loads a model with bit patterns that arithmetic would change.
fn assert_round_trip<Model, E>(odd: &[E])
where
    Model: Module + TensorCollection<E, Cpu, To<E, Cpu> = Model> + Loadable<E, Cpu> + BuildModule<Cpu, E> + Debug,
    E: Element,
    Cpu: Device<E>,
{
    let folder = temp_dir();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let device = Cpu::seed_from_u64(1);
    let built = Model::build(&device);
    weights::save(&built, &first).unwrap();
    assert_eq!(tensors(&first), parameters(&built));
    let loaded: Model = weights::load(&first, &device).unwrap();
    assert_eq!(parameters(&loaded), parameters(&built));

    let mut tensors = tensors(&first);
    for (number, (_, _, bytes)) in tensors.values_mut().enumerate() {
        let count = bytes.len() / size_of::<E>();
        let elements: Vec<_> = odd.iter().cycle().skip(number).take(count).copied().collect();
        *bytes = E::to_bytes(&elements);
    }
    fs::write(&first, file_of(&tensors)).unwrap();
    let loaded: Model = weights::load(&first, &device).unwrap();
    assert_eq!(parameters(&loaded), tensors);
    weights::save(&loaded, &first).unwrap();
    weights::save(&weights::load::<Model, _, _>(&first, &device).unwrap(), &second).unwrap();
    assert!(fs::read(&first).unwrap() == fs::read(&second).unwrap());
    assert_eq!(file_names(&folder), ["first", "second"], "files are left over");
}

#[test]
fn a_saved_model_loads_bit_exactly() {
    let odd = [0.0, -0.0, f32::MIN_POSITIVE, f32::MAX, f32::MIN, 0.1, -1e-45];
    assert_round_trip::<Typed<f32>, f32>(&odd);
    assert_round_trip::<Other<f32>, f32>(&odd);
    let odd = [0.0, -0.0, f64::MIN_POSITIVE, f64::MAX, f64::MIN, 0.1, -5e-324];
    assert_round_trip::<Typed<f64>, f64>(&odd);
    assert_round_trip::<Other<f64>, f64>(&odd);
}

#[test]
fn tensor_paths_are_those_of_the_post() {
    fn saved<Model>() -> Vec<String>
    where
        Model: Module + TensorCollection<f32, Cpu> + BuildModule<Cpu, f32>,
    {
        let folder = temp_dir();
        weights::save(&build::<Model>(), folder.path().join("weights")).unwrap();
        tensors(&folder.path().join("weights")).into_keys().collect()
    }
    assert_eq!(saved::<Typed<f32>>(), TYPED_PATHS);
    assert_eq!(saved::<Other<f32>>(), ANNOTATED_PATHS);

    // Layer numbers can have two digits.
    let paths = saved::<Encoder<EmbedDim, ManyLayers, SmallTyped, f32, Cpu>>();
    for layer in 0..12 {
        let prefix = format!("layers.{layer}.");
        assert_eq!(paths.iter().filter(|path| path.starts_with(&prefix)).count(), 12);
    }
    assert_eq!(paths.len(), 12 * 12);
}

const TYPED_PATHS: &[&str] = &[
    "decoder.decoder.layers.0.cross_attention.attention.key_proj.weight",
    "decoder.decoder.layers.0.cross_attention.attention.output_proj.weight",
    "decoder.decoder.layers.0.cross_attention.attention.query_proj.weight",
    "decoder.decoder.layers.0.cross_attention.attention.value_proj.weight",
    "decoder.decoder.layers.0.cross_attention.norm.bias",
    "decoder.decoder.layers.0.cross_attention.norm.weight",
    "decoder.decoder.layers.0.feed_forward.hidden.bias",
    "decoder.decoder.layers.0.feed_forward.hidden.weight",
    "decoder.decoder.layers.0.feed_forward.norm.bias",
    "decoder.decoder.layers.0.feed_forward.norm.weight",
    "decoder.decoder.layers.0.feed_forward.output.bias",
    "decoder.decoder.layers.0.feed_forward.output.weight",
    "decoder.decoder.layers.0.self_attention.attention.key_proj.weight",
    "decoder.decoder.layers.0.self_attention.attention.output_proj.weight",
    "decoder.decoder.layers.0.self_attention.attention.query_proj.weight",
    "decoder.decoder.layers.0.self_attention.attention.value_proj.weight",
    "decoder.decoder.layers.0.self_attention.norm.bias",
    "decoder.decoder.layers.0.self_attention.norm.weight",
    "decoder.embedder.norm.bias",
    "decoder.embedder.norm.weight",
    "decoder.embedder.position_embedder.weight",
    "decoder.embedder.token_embedder.weight",
    "encoder.embedder.norm.bias",
    "encoder.embedder.norm.weight",
    "encoder.embedder.position_embedder.weight",
    "encoder.embedder.token_embedder.weight",
    "encoder.encoder.layers.0.feed_forward.hidden.bias",
    "encoder.encoder.layers.0.feed_forward.hidden.weight",
    "encoder.encoder.layers.0.feed_forward.norm.bias",
    "encoder.encoder.layers.0.feed_forward.norm.weight",
    "encoder.encoder.layers.0.feed_forward.output.bias",
    "encoder.encoder.layers.0.feed_forward.output.weight",
    "encoder.encoder.layers.0.self_attention.attention.key_proj.weight",
    "encoder.encoder.layers.0.self_attention.attention.output_proj.weight",
    "encoder.encoder.layers.0.self_attention.attention.query_proj.weight",
    "encoder.encoder.layers.0.self_attention.attention.value_proj.weight",
    "encoder.encoder.layers.0.self_attention.norm.bias",
    "encoder.encoder.layers.0.self_attention.norm.weight",
    "logit.bias",
    "logit.weight",
];

const ANNOTATED_PATHS: &[&str] = &[
    "decoder.decoder.layers.0.cross_attention.attention.key_proj.bias",
    "decoder.decoder.layers.0.cross_attention.attention.key_proj.weight",
    "decoder.decoder.layers.0.cross_attention.attention.output_proj.bias",
    "decoder.decoder.layers.0.cross_attention.attention.output_proj.weight",
    "decoder.decoder.layers.0.cross_attention.attention.query_proj.bias",
    "decoder.decoder.layers.0.cross_attention.attention.query_proj.weight",
    "decoder.decoder.layers.0.cross_attention.attention.value_proj.bias",
    "decoder.decoder.layers.0.cross_attention.attention.value_proj.weight",
    "decoder.decoder.layers.0.cross_attention.norm.bias",
    "decoder.decoder.layers.0.cross_attention.norm.weight",
    "decoder.decoder.layers.0.feed_forward.hidden.bias",
    "decoder.decoder.layers.0.feed_forward.hidden.weight",
    "decoder.decoder.layers.0.feed_forward.norm.bias",
    "decoder.decoder.layers.0.feed_forward.norm.weight",
    "decoder.decoder.layers.0.feed_forward.output.bias",
    "decoder.decoder.layers.0.feed_forward.output.weight",
    "decoder.decoder.layers.0.self_attention.attention.key_proj.bias",
    "decoder.decoder.layers.0.self_attention.attention.key_proj.weight",
    "decoder.decoder.layers.0.self_attention.attention.output_proj.bias",
    "decoder.decoder.layers.0.self_attention.attention.output_proj.weight",
    "decoder.decoder.layers.0.self_attention.attention.query_proj.bias",
    "decoder.decoder.layers.0.self_attention.attention.query_proj.weight",
    "decoder.decoder.layers.0.self_attention.attention.value_proj.bias",
    "decoder.decoder.layers.0.self_attention.attention.value_proj.weight",
    "decoder.decoder.layers.0.self_attention.norm.bias",
    "decoder.decoder.layers.0.self_attention.norm.weight",
    "decoder.embedder.token_embedder.weight",
    "encoder.embedder.token_embedder.weight",
    "encoder.encoder.layers.0.feed_forward.hidden.bias",
    "encoder.encoder.layers.0.feed_forward.hidden.weight",
    "encoder.encoder.layers.0.feed_forward.norm.bias",
    "encoder.encoder.layers.0.feed_forward.norm.weight",
    "encoder.encoder.layers.0.feed_forward.output.bias",
    "encoder.encoder.layers.0.feed_forward.output.weight",
    "encoder.encoder.layers.0.self_attention.attention.key_proj.bias",
    "encoder.encoder.layers.0.self_attention.attention.key_proj.weight",
    "encoder.encoder.layers.0.self_attention.attention.output_proj.bias",
    "encoder.encoder.layers.0.self_attention.attention.output_proj.weight",
    "encoder.encoder.layers.0.self_attention.attention.query_proj.bias",
    "encoder.encoder.layers.0.self_attention.attention.query_proj.weight",
    "encoder.encoder.layers.0.self_attention.attention.value_proj.bias",
    "encoder.encoder.layers.0.self_attention.attention.value_proj.weight",
    "encoder.encoder.layers.0.self_attention.norm.bias",
    "encoder.encoder.layers.0.self_attention.norm.weight",
    "logit.bias",
    "logit.weight",
];

#[test]
fn weights_with_other_tensors_are_refused() {
    let typed = file_of(&parameters(&build::<Typed<f32>>()));
    assert_error!(
        load_bytes::<Other<f32>>(&typed).unwrap_err(),
        LoadError::Missing { .. },
        "`encoder.encoder.layers.0.self_attention.attention.query_proj.bias` \
         (Product<NumHeads, QKDim>=24,) is missing"
    );
    let annotated = file_of(&parameters(&build::<Other<f32>>()));
    assert_error!(
        load_bytes::<Typed<f32>>(&annotated).unwrap_err(),
        LoadError::Missing { .. },
        "`encoder.embedder.position_embedder.weight` (MaxSrcLen=5, EmbedDim=4) is missing"
    );
}

// ---- Unreadable and damaged files ----

#[test]
fn an_unreadable_file_is_named_in_the_error() {
    let folder = temp_dir();
    for (path, kind) in [
        (folder.path().join("missing"), ErrorKind::NotFound),
        (folder.path().join("no/folder"), ErrorKind::NotFound),
        (folder.path().to_path_buf(), ErrorKind::IsADirectory),
    ] {
        let error = weights::load::<Tiny, _, _>(&path, &Cpu::default()).unwrap_err();
        let text = error.to_string();
        let LoadError::Read { path: named, source } = error else {
            panic!("{error:?}");
        };
        assert_eq!(named, path);
        assert_eq!(source.kind(), kind);
        assert_eq!(text, format!("cannot read {}: {source}", path.display()));
    }
}

/// Asserts that loading fails and that the error names the file.
#[track_caller]
fn assert_damaged(bytes: &[u8], why: &str) {
    let folder = temp_dir();
    let path = folder.path().join("weights");
    fs::write(&path, bytes).unwrap();
    let error = weights::load::<Typed<f32>, _, _>(&path, &Cpu::default()).unwrap_err();
    let text = error.to_string();
    let LoadError::Format { path: named, message } = error else {
        panic!("{why}: {error:?}");
    };
    assert_eq!(named, path, "{why}");
    assert!(!message.is_empty(), "{why}");
    let expected = "is damaged or not a safetensors file";
    assert_eq!(text, format!("{} {expected}: {message}", path.display()), "{why}");
}

#[test]
fn a_damaged_file_is_reported_as_damaged() {
    let whole = file_of(&parameters(&build::<Typed<f32>>()));
    assert_damaged(&[], "empty");
    assert_damaged(&[0; 8], "a header of no bytes");
    assert_damaged(b"not a safetensors file, but a letter to the editor", "text");
    assert_damaged(&[0xff; 64], "a header of u64::MAX bytes");
    for length in [u64::MAX, u64::MAX - 7, i64::MAX as u64, whole.len() as u64, 1, 0] {
        let mut bytes = whole.clone();
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        assert_damaged(&bytes, &format!("a header of {length} bytes"));
    }
    let mut longer = whole;
    longer.push(0);
    assert_damaged(&longer, "a byte too many");
}

/// A file with this header, preceded by its length.
fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let size = header.len() as u64;
    [&size.to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn an_inconsistent_header_is_damage() {
    const MAX: u64 = u64::MAX;
    let tensor = |dtype: &str, shape: &str, begin: u64, end: u64| {
        format!(r#"{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}"#)
    };
    let bias = tensor("F32", "[3]", 0, 12);
    let weight = tensor("F32", "[3,2]", 12, 36);
    let both = |bias: &str, weight: &str| format!(r#"{{"bias":{bias},"weight":{weight}}}"#);
    let with_field = |value: &str| both(&bias, &weight.replace('{', &format!(r#"{{"x":{value},"#)));
    assert!(load_bytes::<Tiny>(&with_header(&both(&bias, &weight), &[0; 36])).is_ok());
    for (why, header) in [
        ("a gap", both(&bias, &tensor("F32", "[3,2]", 16, 40))),
        ("an overlap", both(&bias, &tensor("F32", "[3,2]", 8, 32))),
        ("twice the same place", both(&bias, &tensor("F32", "[3]", 0, 12))),
        ("an end before the begin", both(&bias, &tensor("F32", "[3,2]", 36, 12))),
        ("more than there is", both(&bias, &tensor("F32", "[3,8]", 12, 108))),
        ("less than there is", both(&bias, &tensor("F32", "[2]", 12, 20))),
        ("a shape of another size", both(&bias, &tensor("F32", "[3,3]", 12, 36))),
        ("a size that overflows", both(&bias, &tensor("F32", &format!("[{MAX},{MAX}]"), 12, 36))),
        ("bytes that overflow", both(&bias, &tensor("F64", &format!("[{MAX}]"), 12, MAX))),
        ("an end at the last number", format!(r#"{{"w":{}}}"#, tensor("U8", &format!("[{MAX}]"), 0, MAX))),
        ("a negative size", both(&bias, &tensor("F32", "[-3,-2]", 12, 36))),
        ("a size that is none", both(&bias, &tensor("F32", "[3.0,2]", 12, 36))),
        ("an unknown dtype", both(&bias, &tensor("F33", "[3,2]", 12, 36))),
        ("a tensor twice", format!(r#"{{"bias":{bias},"bias":{bias},"weight":{weight}}}"#)),
        ("other tensors by the same name", format!(r#"{{"weight":{bias},"weight":{weight},"bias":{bias}}}"#)),
        ("texts twice", r#"{"__metadata__":{},"__metadata__":{}}"#.into()),
        ("texts that are none", r#"{"__metadata__":{"a":1}}"#.into()),
        ("a list", "[]".into()),
        ("a deep list", "[".repeat(1_000_000)),
        ("a deep map", r#"{"a":"#.repeat(1_000_000)),
        ("a deep shape", both(&bias, &tensor("F32", &"[".repeat(100_000), 12, 36))),
        ("deep unknown content", format!(r#"{{"bias":{{"x":{}"#, "[".repeat(100_000))),
        ("a field that the format does not have", with_field("null")),
        ("such a field, deeper than other readers go", with_field(&("[".repeat(200) + &"]".repeat(200)))),
        ("a field twice", both(&bias, &weight.replace('{', r#"{"dtype":"F32","#))),
    ] {
        assert_damaged(&with_header(&header, &[0; 36]), why);
    }
}

/// Sparse files of a terabyte: only the model's tensors are read.
#[test]
fn an_oversized_file_is_not_read_into_memory() {
    const TERA: u64 = 1 << 40;
    let folder = temp_dir();
    let path = folder.path().join("weights");
    let tiny = |weight: u64, more: &str, end: u64| {
        let header = format!(
            r#"{{"bias":{{"dtype":"F32","shape":[3],"data_offsets":[0,12]}},"weight":{{"dtype":"F32","shape":[{},2],"data_offsets":[12,{}]}}{more}}}"#,
            weight / 8,
            12 + weight
        );
        let length = 8 + header.len() as u64 + end;
        (with_header(&header, &[]), length)
    };
    let more = format!(r#","more":{{"dtype":"U8","shape":[{TERA}],"data_offsets":[36,{}]}}"#, 36 + TERA);
    for ((header, length), expected) in [
        (tiny(24, &more, 36 + TERA), "`more` is in the file but not in the model".to_string()),
        (tiny(TERA, "", 12 + TERA), format!("`weight` should be (OutDim=3, InDim=2) but is [{}, 2]", TERA / 8)),
        (
            tiny(24, "", TERA),
            format!("FILE is damaged or not a safetensors file: its tensors should have 36 bytes but have {TERA}"),
        ),
        (
            ((TERA - 8).to_le_bytes().to_vec(), TERA),
            format!(
                "FILE is damaged or not a safetensors file: its header has {} bytes, but 10000000 are the maximum",
                TERA - 8
            ),
        ),
        (
            (Vec::new(), TERA),
            "FILE is damaged or not a safetensors file: EOF while parsing a value at line 1 column 0".into(),
        ),
    ] {
        fs::write(&path, header).unwrap();
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        let mut error = None;
        let memory = allocation_counter::measure(|| {
            error = weights::load::<Tiny, _, _>(&path, &Cpu::default()).err();
        });
        let error = error.unwrap().to_string();
        assert_eq!(error.replace(&path.display().to_string(), "FILE"), expected);
        assert!(memory.bytes_max < 0x1_0000, "{expected}: {memory:?}");
    }
}

/// Opening a pipe does not wait for its writer.
#[cfg(unix)]
#[test]
fn only_a_regular_file_is_read() {
    let folder = temp_dir();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/zero")] {
        let error = weights::load::<Tiny, _, _>(path, &Cpu::default()).unwrap_err();
        let expected = format!("cannot read {}: not a regular file", path.display());
        assert_error!(error, LoadError::Read { .. }, expected);
    }
}

#[test]
fn a_file_truncated_anywhere_is_damaged() {
    let whole = file_of(&parameters(&build::<Typed<f32>>()));
    let header = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    let around = |length: usize| length.saturating_sub(5)..(length + 5).min(whole.len());
    let everywhere = (0..whole.len()).step_by(whole.len() / 200);
    for length in around(0).chain(around(8)).chain(around(header)).chain(around(whole.len())).chain(everywhere) {
        assert_damaged(&whole[..length], &format!("{length} of {} bytes", whole.len()));
    }
}

// ---- Files of another model ----

#[test]
fn a_missing_tensor_is_named_in_the_error() {
    let error = error_after(|tensors| {
        tensors.remove(QUERY).unwrap();
    });
    assert_error!(error, LoadError::Missing { .. }, format!("`{QUERY}` {QUERY_DIMS} is missing"));
    // A file without tensors is valid, but not of this model.
    assert_error!(
        error_after(Tensors::clear),
        LoadError::Missing { .. },
        "`encoder.embedder.token_embedder.weight` (SrcVocab=7, EmbedDim=4) is missing"
    );
}

#[test]
fn an_unexpected_tensor_is_named_in_the_error() {
    let one_element = || (Dtype::F32, vec![1], vec![0; 4]);
    let error = error_after(|tensors| {
        tensors.insert("logit.scale".into(), one_element());
    });
    assert_error!(error, LoadError::Unexpected { .. }, "`logit.scale` is in the file but not in the model");
    // The error names the first of several, in alphabetical order.
    let error = error_after(|tensors| {
        for extra in ["z", "decoder", "m"] {
            tensors.insert(extra.into(), one_element());
        }
    });
    assert_error!(error, LoadError::Unexpected { .. }, "`decoder` is in the file but not in the model");
}

#[test]
fn a_renamed_tensor_is_missing() {
    let error = error_after(|tensors| {
        let tensor = tensors.remove(QUERY).unwrap();
        tensors.insert(QUERY.replace("query", "quarry"), tensor);
    });
    assert_error!(error, LoadError::Missing { .. }, format!("`{QUERY}` {QUERY_DIMS} is missing"));
}

#[test]
fn a_tensor_of_another_shape_is_named_in_the_error() {
    // Transposed; other shapes with as many elements; fewer elements; more; none.
    for found in [vec![4, 24], vec![96], vec![24, 4, 1], vec![12, 8], vec![24, 3], vec![25, 4], vec![0, 4], vec![]] {
        let error = error_after(|tensors| {
            let bytes = vec![0; 4 * found.iter().product::<usize>()];
            tensors.insert(QUERY.into(), (Dtype::F32, found.clone(), bytes));
        });
        assert_error!(error, LoadError::Shape { .. }, format!("`{QUERY}` should be {QUERY_DIMS} but is {found:?}"));
    }
}

#[test]
fn a_tensor_of_another_dtype_is_named_in_the_error() {
    for (found, size) in [
        (Dtype::F64, 8),
        (Dtype::I16, 2),
        (Dtype::I64, 8),
        // The same number of bytes.
        (Dtype::I32, 4),
    ] {
        let error = error_after(|tensors| {
            tensors.insert(QUERY.into(), (found, vec![24, 4], vec![0; 96 * size]));
        });
        assert_error!(error, LoadError::Dtype { .. }, format!("`{QUERY}` should hold F32 but holds {found:?}"));
    }
    let folder = temp_dir();
    weights::save(&build::<Typed<f32>>(), folder.path().join("f32")).unwrap();
    assert_error!(
        weights::load::<Typed<f64>, _, _>(folder.path().join("f32"), &Cpu::default()).unwrap_err(),
        LoadError::Dtype { expected: Dtype::F64, found: Dtype::F32, .. },
        "`encoder.embedder.token_embedder.weight` should hold F64 but holds F32"
    );
}

/// `(bits, value)` of the same number in both formats of 16 bits.
#[test]
fn elements_of_16_bits_are_widened_exactly() {
    const F16: [(u16, f32); 6] = [
        (0x0000, 0.0),
        (0x8000, -0.0),
        (0x3c00, 1.0),
        (0x0001, 5.960_464_5e-8),
        (0x7bff, 65_504.0),
        (0xb555, -0.333_251_95),
    ];
    const BF16: [(u16, f32); 6] = [
        (0x0000, 0.0),
        (0x8000, -0.0),
        (0x3f80, 1.0),
        (0x0001, 9.183_55e-41),
        (0x7f7f, 3.389_531_4e38),
        (0xbeab, -0.333_984_38),
    ];
    for (dtype, elements, infinity) in [(Dtype::F16, F16, 0x7c00_u16), (Dtype::BF16, BF16, 0x7f80)] {
        let mut tensors = parameters(&build::<Tiny>());
        let bytes: Vec<u8> = elements.iter().flat_map(|(bits, _)| bits.to_le_bytes()).collect();
        tensors.insert("weight".into(), (dtype, vec![3, 2], bytes));
        let loaded: Tiny = load_bytes(&file_of(&tensors)).unwrap();
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&loaded.weight.as_vec()), bits(&elements.map(|(_, value)| value)), "{dtype:?}");
        let wide: Linear<InDim, OutDim, f64, Cpu> = {
            let mut tensors = tensors.clone();
            let bias = tensors.get_mut("bias").unwrap();
            (bias.0, bias.2) = (Dtype::F64, vec![0; 24]);
            with_file(&file_of(&tensors), |path| weights::load(path, &Cpu::default())).unwrap()
        };
        assert_eq!(wide.weight.as_vec(), elements.map(|(_, value)| f64::from(value)));
        let bytes = &mut tensors.get_mut("weight").unwrap().2;
        bytes[4..6].copy_from_slice(&infinity.to_le_bytes());
        let error = load_bytes::<Tiny>(&file_of(&tensors)).unwrap_err();
        assert_error!(error, LoadError::NotFinite { .. }, "`weight` holds inf at position 2");
    }
}

#[test]
fn a_non_finite_element_is_named_in_the_error() {
    // The second NaN has a payload that arithmetic does not produce.
    let quiet = f32::from_bits(0xffc1_2345);
    for (element, index, text) in
        [(f32::NAN, 0, "NaN"), (quiet, 17, "NaN"), (f32::INFINITY, 95, "inf"), (f32::NEG_INFINITY, 40, "-inf")]
    {
        let error = error_after(|tensors| {
            let bytes = &mut tensors.get_mut(QUERY).unwrap().2;
            bytes[4 * index..][..4].copy_from_slice(&element.to_le_bytes());
        });
        assert_error!(error, LoadError::NotFinite { .. }, format!("`{QUERY}` holds {text} at position {index}"));
    }
}

// ---- Arbitrary files ----

/// Loads arbitrary bytes. A loaded model must equal the file, and memory must stay within a multiple of
/// the file's size. The test also fails if anything panics.
fn load_if_valid(bytes: &[u8]) -> Option<Tensors> {
    let load = |path: &Path| {
        let mut model: Option<Tiny> = None;
        let memory = allocation_counter::measure(|| {
            model = weights::load(path, &Cpu::default()).ok();
        });
        assert_memory_bound(&memory, bytes);
        let model = model.as_ref().map(parameters);
        // Loads with an identity name map, and with one that contradicts the file.
        let [same, turned] = ["* = *", "*t = *t [a b -> b a]\n* = weight [a b -> (a b)] part 1 of 2"].map(|names| {
            let names = names.parse().unwrap();
            let renamed: Result<Tiny, _> = weights::load_mapped(path, &names, &Cpu::default());
            renamed.ok().as_ref().map(parameters)
        });
        assert_eq!((&same, turned), (&model, None));
        model
    };
    let parameters = with_file(bytes, load)?;
    let file = SafeTensors::deserialize(bytes).unwrap();
    assert_eq!(file.len(), parameters.len());
    for (path, (dtype, sizes, data)) in &parameters {
        let view = file.tensor(path).unwrap();
        assert_eq!((view.dtype(), view.shape(), view.data()), (*dtype, &sizes[..], &data[..]));
        assert!(data.as_chunks().0.iter().all(|&x| f32::from_le_bytes(x).is_finite()));
    }
    assert!(parameters.keys().eq(["bias", "weight"]));
    Some(parameters)
}

/// A parsed header takes more memory than its text.
fn assert_memory_bound(memory: &AllocationInfo, bytes: &[u8]) {
    let max_bytes = 16 * bytes.len() + 0x8000;
    assert!(memory.bytes_max <= max_bytes as u64, "{memory:?} for {} bytes", bytes.len());
}

#[test]
fn a_flipped_bit_gives_an_error_or_the_model_in_the_file() {
    let whole = file_of(&parameters(&build::<Tiny>()));
    let original = load_if_valid(&whole).unwrap();
    let mut models = 0;
    for bit in 0..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Some(parameters) = load_if_valid(&bytes) {
            assert_ne!(parameters, original, "bit {bit} says nothing");
            models += 1;
        }
    }
    // Most bits of the 9 elements give another finite number.
    assert!((200..=288).contains(&models), "{models}");
}

/// A mutation of a valid file.
#[derive(Clone, Debug)]
enum Change {
    /// Flips a bit of the header.
    FlipHeader(Index),
    /// Flips a bit of the tensors.
    FlipData(Index),
    /// Replaces a number in the header.
    Number(Index, String),
    /// Replaces a string in the header by another string of the header.
    Text(Index, Index),
    /// Repeats a part of the header.
    Repeat(Index, Index),
    /// Replaces an element, perhaps by a non-finite value.
    Element(Index, f32),
    /// Appends bytes.
    Append(Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let other = prop::sample::select(vec![
        "0",
        "1",
        "2",
        "6",
        "12",
        "24",
        "36",
        "37",
        "-1",
        "1.5",
        "1e3",
        "4294967296",
        "9223372036854775807",
        "18446744073709551600",
        "18446744073709551615",
        "18446744073709551616",
        "null",
        "{}",
        "\"F32\"",
        "4294967296,4294967296,4294967296",
    ]);
    let other = prop_oneof![
        other.prop_map(str::to_string),
        (1..300_usize).prop_map(|depth| "[".repeat(depth)),
        (1..300_usize).prop_map(|depth| "[".repeat(depth) + &"]".repeat(depth)),
    ];
    let element = prop::sample::select(vec![f32::NAN, f32::INFINITY, -f32::INFINITY, f32::MAX, -0.0]);
    prop_oneof![
        any::<Index>().prop_map(Change::FlipHeader),
        any::<Index>().prop_map(Change::FlipData),
        (any::<Index>(), other).prop_map(|(at, other)| Change::Number(at, other)),
        any::<(Index, Index)>().prop_map(|(to, from)| Change::Text(to, from)),
        any::<(Index, Index)>().prop_map(|(begin, end)| Change::Repeat(begin, end)),
        (any::<Index>(), element).prop_map(|(at, element)| Change::Element(at, element)),
        prop::collection::vec(any::<u8>(), 1..9).prop_map(Change::Append),
    ]
}

/// Mutations, another header length, and a new end of the file.
type Mutation = (Vec<Change>, Option<u64>, Option<Index>);

fn mutation() -> impl Strategy<Value = Mutation> {
    let (size, end) = (proptest::option::weighted(0.1, any::<u64>()), proptest::option::weighted(0.1, any::<Index>()));
    (prop::collection::vec(change(), 1..4), size, end)
}

/// Applies mutations and writes the matching header length, or another one, and perhaps truncates the file.
fn changed(whole: &[u8], (changes, size, end): &Mutation) -> Vec<u8> {
    let (old, rest) = whole.split_at(8);
    let (header, data) = rest.split_at(u64::from_le_bytes(old.try_into().unwrap()) as usize);
    let (mut header, mut data) = (header.to_vec(), data.to_vec());
    for change in changes {
        // The edges of numbers, and of strings inside their quotation marks.
        let is_edge = |&at: &usize| header[at - 1].is_ascii_digit() != header[at].is_ascii_digit();
        let digits: Vec<_> = (1..header.len()).filter(is_edge).collect();
        let quotes = (0..header.len()).filter(|&at| header[at] == b'"');
        let texts: Vec<_> = (0..).zip(quotes).map(|(n, at)| at + (n + 1) % 2).collect();
        let span = |places: &[usize], index: &Index| match places.len() / 2 {
            0 => 0..0,
            count => {
                let at = 2 * index.index(count);
                places[at]..places[at + 1]
            }
        };
        let flip = |bytes: &mut Vec<u8>, index: &Index| {
            if !bytes.is_empty() {
                let bit = index.index(8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        };
        match change {
            Change::FlipHeader(at) => flip(&mut header, at),
            Change::FlipData(at) => flip(&mut data, at),
            Change::Number(at, other) => drop(header.splice(span(&digits, at), other.bytes())),
            Change::Text(to, from) => {
                let from = header[span(&texts, from)].to_vec();
                drop(header.splice(span(&texts, to), from));
            }
            Change::Repeat(begin, end) => {
                let (begin, end) = (begin.index(header.len() + 1), end.index(header.len() + 1));
                let part = header[begin.min(end)..begin.max(end)].to_vec();
                drop(header.splice(begin..begin, part));
            }
            Change::Element(at, element) => {
                let at = at.index(data.len() / 4 + 1);
                if let Some(place) = data.chunks_exact_mut(4).nth(at) {
                    place.copy_from_slice(&element.to_le_bytes());
                }
            }
            Change::Append(bytes) => data.extend(bytes),
        }
    }
    let size = size.unwrap_or(header.len() as u64);
    let mut bytes = [&size.to_le_bytes()[..], &header, &data].concat();
    if let Some(end) = end {
        bytes.truncate(end.index(bytes.len()));
    }
    bytes
}

/// A training run of the smallest model after two steps.
fn training() -> (Trainer<Adam<Tiny, f32>, f64>, Tiny) {
    let mut trainer = Trainer::new(Adam::default(), 0.01, usize::MAX, 0);
    let mut model = build::<Tiny>();
    step(&mut trainer, &mut model);
    step(&mut trainer, &mut model);
    (trainer, model)
}

/// One step, if the training is not over and its numbers are finite.
fn step(trainer: &mut Trainer<Adam<Tiny, f32>, f64>, model: &mut Tiny) -> Option<()> {
    let _step = trainer.next_step()?;
    let labels = LabelIds::from_ids(&[2], None, (Const::<1>, Const::<1>)).unwrap();
    let input: Tensor<(Const<1>, Const<1>, InDim), f32, Cpu> = Cpu::default().ones();
    let loss =
        cross_entropy(model.forward(input.put_tape(model.recording())).unwrap(), &labels, Reduction::MeanAll).unwrap();
    let value = loss.array();
    trainer.record_best(value.into());
    trainer.update(model, loss.backward().unwrap(), value.into(), 1).ok().map(drop)
}

proptest! {
    // Failures are printed with their input, so no file records them.
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(load_if_valid(&bytes), None);
    }

    #[test]
    fn a_random_header_is_refused(text in "[\\[\\]{}:,\"0-9a-z]{0,80}", data in prop::collection::vec(any::<u8>(), 0..40)) {
        let length = text.len() as u64;
        let bytes = [&length.to_le_bytes()[..], text.as_bytes(), &data].concat();
        prop_assert_eq!(load_if_valid(&bytes), None);
    }

    #[test]
    fn a_well_formed_wrong_header_gives_an_error_or_the_model_in_the_file(
        dtype in prop::sample::select(vec!["F32", "F64", "F16", "I8", "BOOL", "F4", "f32", ""]),
        weight in prop::collection::vec(prop::sample::select(vec![0, 1, 2, 3, 6, usize::MAX]), 0..4),
        offsets in prop::array::uniform4(prop::sample::select(vec![0_u64, 12, 24, 36, 37, u64::MAX])),
    ) {
        let [a, b, c, d] = offsets;
        let header = format!(
            r#"{{"bias":{{"dtype":"F32","shape":[3],"data_offsets":[{a},{b}]}},"weight":{{"dtype":"{dtype}","shape":{weight:?},"data_offsets":[{c},{d}]}}}}"#
        );
        let length = header.len() as u64;
        let bytes = [&length.to_le_bytes()[..], header.as_bytes(), &[0; 36]].concat();
        load_if_valid(&bytes);
    }

    #[test]
    fn a_changed_byte_gives_an_error_or_the_model_in_the_file(position: prop::sample::Index, byte: u8) {
        let mut bytes = file_of(&parameters(&build::<Tiny>()));
        let position = position.index(bytes.len());
        bytes[position] = byte;
        load_if_valid(&bytes);
    }

    #[test]
    fn mutations_of_a_file_give_an_error_or_the_model_in_the_file(mutation in mutation()) {
        let whole = file_of(&parameters(&build::<Tiny>()));
        load_if_valid(&changed(&whole, &mutation));
    }
}

/// Draws mutations of a saved model and of a checkpoint. Loading and resuming fail, or the file says the
/// same as before.
fn assert_mutations_are_refused(cases: u32) {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    let (trainer, model) = training();
    trainer.save(&model, at("checkpoint")).unwrap();
    weights::save(&model, at("weights")).unwrap();
    let [checkpoint, weights] = ["checkpoint", "weights"].map(|name| fs::read(at(name)).unwrap());
    let saved = parameters(&model);
    let next = {
        let (mut trainer, mut model) = training();
        step(&mut trainer, &mut model).unwrap();
        parameters(&model)
    };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let checked = TestRunner::new(config).run(&mutation(), |mutation| {
        let bytes = changed(&weights, &mutation);
        fs::write(at("changed"), &bytes).unwrap();
        let mut loaded: Option<Tiny> = None;
        let memory = allocation_counter::measure(|| {
            loaded = weights::load(at("changed"), &Cpu::default()).ok();
        });
        assert_memory_bound(&memory, &bytes);
        // Without both checksums, it is a file of another system.
        let is_sealed = SafeTensors::read_metadata(&bytes).is_ok_and(|(_, header)| {
            let mut keys = header.metadata().iter().flat_map(|metadata| metadata.keys());
            keys.any(|key| key == "header_checksum" || key == "tensor_checksums")
        });
        prop_assert!(loaded.is_none_or(|loaded| parameters(&loaded) == saved || !is_sealed));

        let bytes = changed(&checkpoint, &mutation);
        fs::write(at("changed"), &bytes).unwrap();
        let (mut trainer, mut model) = training();
        let mut resumed = None;
        let memory = allocation_counter::measure(|| {
            resumed = Some(trainer.resume::<Tiny, _, _>(at("changed"), &Cpu::default()));
        });
        assert_memory_bound(&memory, &bytes);
        match resumed.unwrap() {
            Ok(resumed) => model = resumed,
            Err(error) => prop_assert!(error.to_string().contains(&at("changed").display().to_string())),
        }
        // Whether it was resumed or refused, the next step is that of the training that was saved.
        prop_assert_eq!(trainer.steps_made(), 2);
        step(&mut trainer, &mut model).unwrap();
        prop_assert_eq!(&parameters(&model), &next);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn mutations_of_a_saved_file_are_refused() {
    assert_mutations_are_refused(2_000);
}

#[test]
#[ignore = "takes minutes"]
fn a_hundred_thousand_mutations_of_a_saved_file_are_refused() {
    assert_mutations_are_refused(100_000);
    print_figure("100000 mutations of a saved file: each is refused, or reads as the same model");
}

// ---- Saving ----

/// The path and the system error of a [`SaveError::Write`].
#[track_caller]
fn write_error(result: Result<(), SaveError>) -> (PathBuf, std::io::Error) {
    let error = result.unwrap_err();
    let text = error.to_string();
    let SaveError::Write { path, source } = error else {
        panic!("{error:?}");
    };
    assert_eq!(text, format!("cannot write {}: {source}", path.display()));
    (path, source)
}

#[test]
fn an_unwritable_path_is_named_in_the_error() {
    let folder = temp_dir();
    fs::write(folder.path().join("file"), "a file").unwrap();
    for (path, kind) in [
        (folder.path().join("no/folder"), ErrorKind::NotFound),
        (folder.path().join("file/weights"), ErrorKind::NotADirectory),
        (folder.path().to_path_buf(), ErrorKind::IsADirectory),
        (folder.path().join(".."), ErrorKind::IsADirectory),
    ] {
        let (named, source) = write_error(weights::ensure_writable(&path));
        assert_eq!((named, source.kind()), (path.clone(), kind), "before");
        let (named, _) = write_error(weights::save(&build::<Tiny>(), &path));
        assert_eq!(named, path);
    }
    write_error(weights::ensure_writable(""));
    write_error(weights::save(&build::<Tiny>(), ""));
    assert_eq!(file_names(&folder), ["file"], "files are left over");
}

#[test]
fn equal_models_give_equal_files() {
    let folder = temp_dir();
    let metadata: std::collections::HashMap<_, _> =
        (0..20).map(|number| (format!("key {number}"), "a text".repeat(number))).collect();
    let save = |name: &str| {
        let path = folder.path().join(name);
        // A new map has another order.
        let metadata = metadata.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        weights::save_with_metadata(&build::<Typed<f32>>(), &path, metadata, false).unwrap();
        fs::read(path).unwrap()
    };
    let first = save("first");
    assert!((0..5).all(|_| save("other") == first));
    assert_eq!(weights::metadata(folder.path().join("other")).unwrap(), metadata);
}

/// Saves with this metadata where there is a good file, and returns the error.
fn refused_metadata(key: &str, value: &str) -> SaveError {
    let folder = temp_dir();
    let path = folder.path().join("weights");
    let model = build::<Tiny>();
    weights::save(&model, &path).unwrap();
    let before = fs::read(&path).unwrap();
    let metadata = [(key.to_string(), value.to_string())].into();
    let error = weights::save_with_metadata(&model, &path, metadata, true).unwrap_err();
    assert!(fs::read(&path).unwrap() == before);
    assert_eq!(file_names(&folder), ["weights"], "files are left over");
    error
}

#[test]
fn a_header_that_could_not_be_read_again_is_not_written() {
    let error = refused_metadata("vocab", &"x".repeat(10_000_000));
    let SaveError::Format { message, .. } = &error else { panic!("{error}") };
    let found = message.strip_prefix("metadata, names and sizes of its tensors take ").unwrap();
    let found = found.strip_suffix(" bytes, but 10000000 are the maximum").unwrap();
    assert!((10_000_001..10_001_000).contains(&found.parse().unwrap()), "{error}");
    // The longest that is written is read.
    let folder = temp_dir();
    let path = folder.path().join("weights");
    let metadata: std::collections::HashMap<_, _> = [("vocab".to_string(), "x".repeat(9_999_000))].into();
    weights::save_with_metadata(&build::<Tiny>(), &path, metadata.clone(), false).unwrap();
    assert_eq!(weights::metadata(&path).unwrap(), metadata);
}

#[test]
fn the_metadata_of_this_crate_are_not_replaced() {
    for key in ["training", "conventions", "tensor_checksums", "header_checksum"] {
        let error = refused_metadata(key, "a: b");
        let SaveError::Format { message, .. } = &error else { panic!("{error}") };
        assert_eq!(*message, format!("the metadata key `{key}` is reserved for this crate"));
    }
}

#[test]
fn saving_replaces_the_older_file() {
    let folder = temp_dir();
    let path = folder.path().join("weights");
    weights::save(&build::<Typed<f32>>(), &path).unwrap();
    let tiny = build::<Tiny>();
    weights::save(&tiny, &path).unwrap();
    assert_eq!(tensors(&path), parameters(&tiny));
    assert_eq!(file_names(&folder), ["weights"], "files are left over");
}

/// A write-protected file is not replaced, and a private file stays private.
#[cfg(unix)]
#[test]
fn saving_keeps_the_permissions_of_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = temp_dir();
    let path = folder.path().join("weights");
    weights::save(&build::<Typed<f32>>(), &path).unwrap();
    let before = fs::read(&path).unwrap();
    let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o444);
    for result in [weights::ensure_writable(&path), weights::save(&build::<Tiny>(), &path)] {
        let (_, source) = write_error(result);
        assert_eq!(source.kind(), ErrorKind::PermissionDenied);
    }
    assert!(fs::read(&path).unwrap() == before);
    mode(0o600);
    weights::save(&build::<Tiny>(), &path).unwrap();
    let found = path.metadata().unwrap().permissions().mode();
    assert_eq!(found & 0o777, 0o600);
    assert_eq!(file_names(&folder), ["weights"], "files are left over");
}

#[test]
fn ensure_writable_changes_nothing() {
    let folder = temp_dir();
    weights::ensure_writable(folder.path().join("new")).unwrap();
    assert_eq!(file_names(&folder), [""; 0]);
    let old = folder.path().join("old");
    weights::save(&build::<Tiny>(), &old).unwrap();
    let before = fs::read(&old).unwrap();
    weights::ensure_writable(&old).unwrap();
    assert!(fs::read(&old).unwrap() == before);
    assert_eq!(file_names(&folder), ["old"]);
}

/// Runs this test again in a process that may write only a few hundred bytes per file, as on a full
/// disk.
#[cfg(unix)]
#[test]
fn a_failed_save_keeps_the_older_file() {
    const TARGET: &str = "TYPED_TRANSFORMER_TEST_TARGET";
    let larger = build::<Typed<f32>>();
    if let Some(target) = std::env::var_os(TARGET) {
        let (named, source) = write_error(weights::save(&larger, &target));
        assert_eq!((named.as_os_str(), source.kind()), (&*target, ErrorKind::FileTooLarge));
        return;
    }
    let folder = temp_dir();
    let path = folder.path().join("weights");
    weights::save(&build::<Tiny>(), &path).unwrap();
    let before = fs::read(&path).unwrap();
    let again = std::process::Command::new("sh")
        // With the signal ignored, exceeding the limit is an error of the write.
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact \"$1\""])
        .arg(std::env::current_exe().unwrap())
        .arg("files::a_failed_save_keeps_the_older_file")
        .env(TARGET, &path)
        .output()
        .unwrap();
    assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stdout));
    assert!(String::from_utf8_lossy(&again.stdout).contains("1 passed"));
    assert!(fs::read(&path).unwrap() == before);
    assert_eq!(file_names(&folder), ["weights"], "files are left over");
}

#[test]
fn a_reader_never_sees_a_partial_file() {
    let folder = temp_dir();
    let path = folder.path().join("weights");
    let models: [Typed<f32>; 2] = [1, 2].map(|seed| BuildModule::build(&Cpu::seed_from_u64(seed)));
    weights::save(&models[0], &path).unwrap();
    let known = models.each_ref().map(parameters);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for turn in 0..50 {
                weights::save(&models[turn % 2], &path).unwrap();
            }
        });
        while !writer.is_finished() {
            let seen: Typed<f32> = weights::load(&path, &Cpu::default()).unwrap();
            assert!(known.contains(&parameters(&seen)));
        }
    });
}

/// `ensure_writable` and `save` agree.
#[test]
fn a_path_in_a_missing_folder_is_not_writable() {
    let folder = temp_dir();
    for path in ["weights/", "weights/."].map(|path| folder.path().join(path)) {
        let (named, _) = write_error(weights::ensure_writable(&path));
        assert_eq!(named, path);
        write_error(weights::save(&build::<Tiny>(), &path));
    }
    assert_eq!(file_names(&folder), [""; 0], "files are left over");
}

#[cfg(unix)]
#[test]
fn saving_through_a_link_keeps_the_link() {
    let folder = temp_dir();
    let link = folder.path().join("link");
    weights::save(&build::<Typed<f32>>(), folder.path().join("weights")).unwrap();
    std::os::unix::fs::symlink("weights", &link).unwrap();
    let tiny = build::<Tiny>();
    weights::save(&tiny, &link).unwrap();
    assert!(link.is_symlink());
    assert_eq!(tensors(&folder.path().join("weights")), parameters(&tiny));
    assert_eq!(file_names(&folder), ["link", "weights"]);
    // A link to nothing is not replaced either.
    fs::remove_file(folder.path().join("weights")).unwrap();
    write_error(weights::ensure_writable(&link));
    write_error(weights::save(&tiny, &link));
    assert_eq!(file_names(&folder), ["link"]);
}

/// Otherwise a privileged user could replace `/dev/null`.
#[cfg(unix)]
#[test]
fn only_a_regular_file_is_replaced() {
    let folder = temp_dir();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    write_error(weights::ensure_writable(&path));
    write_error(weights::save(&build::<Tiny>(), &path));
    assert_eq!(file_names(&folder), ["pipe"]);
    assert!(!path.metadata().unwrap().is_file());
}

#[test]
fn two_threads_can_save_to_one_path() {
    let folder = temp_dir();
    let path = folder.path().join("weights");
    let models: [Typed<f32>; 2] = [1, 2].map(|seed| BuildModule::build(&Cpu::seed_from_u64(seed)));
    thread::scope(|scope| {
        for model in &models {
            scope.spawn(|| {
                for _ in 0..50 {
                    weights::save(model, &path).unwrap();
                    weights::ensure_writable(&path).unwrap();
                    weights::load::<Typed<f32>, _, _>(&path, &Cpu::default()).unwrap();
                }
            });
        }
    });
    assert_eq!(file_names(&folder), ["weights"], "files are left over");
}

// ---- Conventions that no tensor shows ----

/// The saving and loading of a model.
struct Files {
    save: fn(&Path),
    load: fn(&Path) -> Result<(), LoadError>,
}

fn files<M: SingleStack>() -> Files {
    type Model<M> = DecoderOnly<M, f32, Cpu>;
    Files {
        save: |path| weights::save(&build::<Model<M>>(), path).unwrap(),
        load: |path| weights::load::<Model<M>, _, _>(path, &Cpu::default()).map(|_| ()),
    }
}

/// A model with these conventions; the defaults are those of *The Typed Transformer*.
macro_rules! styled {
    ($($const:ident: $type:ty = $value:expr),*) => {
        styled!(ops::GeluTanh, Learned, PadQueriesAndKeys $(, $const: $type = $value)*)
    };
    ($activation:ty, $positions:ty, $padding:ty $(, $const:ident: $type:ty = $value:expr)*) => {{
        struct Styled;
        impl Conventions for Styled {
            type Activation = $activation;
            type Positions = $positions;
            type PaddingRule = $padding;
            $(const $const: $type = $value;)*
        }
        small!(Small: Styled);
        impl SingleStack for Small {
            type VocabSize = TgtVocab;
            type MaxSeqLen = MaxTgtLen;
            type EmbedDim = EmbedDim;
            type NumLayers = NumLayers;
        }
        files::<Small>()
    }};
}

#[test]
fn weights_saved_with_other_conventions_are_refused() {
    let all = [
        styled!(),
        styled!(ops::Relu, Learned, PadQueriesAndKeys),
        styled!(ops::Gelu, Learned, PadQueriesAndKeys),
        styled!(ops::GeluTanh, Sinusoidal, PadQueriesAndKeys),
        styled!(ops::GeluTanh, Learned, PadSourceKeys),
        styled!(NORM: NormKind = NormKind::RmsNorm),
        styled!(NORM: NormKind = NormKind::LayerNorm, NORM_BIAS: bool = false),
        styled!(NORM_PLACEMENT: NormPlacement = NormPlacement::Pre),
        styled!(NORM_PLACEMENT: NormPlacement = NormPlacement::PostShared),
        styled!(NORM_EPSILON: f64 = 1e-6),
        styled!(TIED_LOGITS: bool = true),
        styled!(LOGIT_BIAS: bool = false),
        styled!(ATTENTION_BIAS: bool = true),
        styled!(FEED_FORWARD_BIAS: bool = false),
        styled!(ATTENTION_SCALE: AttentionScale = AttentionScale::EmbedDim),
        styled!(MASK_FILL: MaskFill = MaskFill::Subtract(1e4)),
        styled!(EMBEDDING_SCALE: WidthScale = WidthScale::Sqrt),
        styled!(EMBEDDING_NORM: bool = false),
    ];
    let folder = temp_dir();
    for (i, saved) in all.iter().enumerate() {
        let path = folder.path().join(i.to_string());
        (saved.save)(&path);
        for (j, loaded) in all.iter().enumerate() {
            let result = (loaded.load)(&path);
            assert_eq!(result.is_ok(), i == j, "{i} as {j}: {result:?}");
        }
    }
    // If the tensors agree, the error names the convention that differs.
    assert_eq!(
        (all[1].load)(&folder.path().join("0")).unwrap_err().to_string(),
        "the model's activation is Relu, but the file was saved with GeluTanh",
    );
}

/// Self-attention with these positions.
type Masked<Mask> = SelfAttention<EmbedDim, Mask, SmallTyped, f32, Cpu>;

fn load_masked<Mask: MaskKind>(path: &Path) -> Result<Masked<Mask>, LoadError> {
    weights::load(path, &Cpu::default())
}

#[test]
fn weights_saved_with_another_mask_are_refused() {
    type LastTwo = SlidingWindow<InDim>;
    let (folder, model) = (temp_dir(), build::<Masked<LastTwo>>());
    let [path, checkpoint] = ["weights", "checkpoint"].map(|name| folder.path().join(name));
    weights::save(&model, &path).unwrap();
    load_masked::<LastTwo>(&path).unwrap();
    let found = "earlier positions in a window of 2";
    for (loaded, expected) in [
        (load_masked::<SlidingWindow<OutDim>>(&path).map(drop), "earlier positions in a window of 3"),
        (load_masked::<CausalMask>(&path).map(drop), "earlier positions"),
        (load_masked::<NoMask>(&path).map(drop), "all positions"),
        (load_masked::<CenteredWindow<InDim>>(&path).map(drop), "all positions in a window of 2"),
    ] {
        let expected = format!("the model's mask is {expected}, but the file was saved with {found}");
        assert_eq!(loaded.unwrap_err().to_string(), expected);
    }
    // Files of earlier versions do not say it.
    let trainer = || Trainer::new(Adam::<Masked<LastTwo>, f32>::default(), 1e-3, 1, 0);
    trainer().save(&model, &checkpoint).unwrap();
    for (path, line) in [(&path, format!("mask: {found}\n")), (&checkpoint, format!("[\"mask\",\"{found}\"],"))] {
        let (tensors, mut metadata) = tensors_of(&fs::read(path).unwrap());
        assert!(metadata.values().any(|text| text.contains(&line)));
        metadata.values_mut().for_each(|text| *text = text.replace(&line, ""));
        fs::write(path, sealed_file(&tensors, &metadata)).unwrap();
    }
    load_masked::<NoMask>(&path).unwrap();
    trainer().resume::<Masked<LastTwo>, _, _>(&checkpoint, &Cpu::default()).unwrap();
}

/// The best checkpoint of a training run, read for inference.
#[test]
fn the_model_of_a_checkpoint_is_loaded_with_its_conventions() {
    type Causal = Masked<CausalMask>;
    let (folder, model) = (temp_dir(), build::<Causal>());
    let path = folder.path().join("checkpoint");
    let trainer = || Trainer::new(Adam::<Causal, f32>::default(), 1e-3, 1, 0);
    trainer().save(&model, &path).unwrap();
    let names = "* = model.*\n ignore optimizer.*".parse().unwrap();
    let loaded: Causal = weights::load_mapped(&path, &names, &Cpu::default()).unwrap();
    assert_eq!(parameters(&loaded), parameters(&model));
    let other = weights::load_mapped::<Masked<NoMask>, _, _>(&path, &names, &Cpu::default()).map(drop).unwrap_err();
    assert_eq!(other.to_string(), "the model's mask is all positions, but the file was saved with earlier positions");
    assert_eq!(
        load_masked::<CausalMask>(&path).map(drop).unwrap_err().to_string(),
        format!(
            "{} is a checkpoint: `Trainer::resume` reads it, and `load_mapped` reads its model by the names `* = \
             model.*` and `ignore optimizer.*`",
            path.display()
        )
    );
    // Checkpoints of earlier versions do not have them.
    let (tensors, mut metadata) = tensors_of(&fs::read(&path).unwrap());
    metadata.remove("conventions").unwrap();
    fs::write(&path, sealed_file(&tensors, &metadata)).unwrap();
    trainer().resume::<Causal, _, _>(&path, &Cpu::default()).unwrap();
    weights::load_mapped::<Causal, _, _>(&path, &names, &Cpu::default()).unwrap();
}
