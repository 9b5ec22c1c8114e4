//! Folders as `transformers` saves them: shards, 16 bits, names without a prefix, memory, and configurations that are
//! compared with the type.

use crate::support::temp_dir;
use allocation_counter::measure;
use half::{bf16, f16};
use safetensors::{Dtype, tensor::TensorView};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};
use tempfile::TempDir;
use typed_transformer::nn::{Linear, Module};
use typed_transformer::prelude::*;
use typed_transformer::weights::{ConfigField, LoadError, NameMap, Pretrained, load_mapped, load_pretrained};

dims! { pub InDim = 5; pub HiddenDim = 3; pub OutDim = 4; }

/// A model with a plain and a transposed tensor, and with parts of one.
#[module(output = OutDim)]
pub struct Tiny<E, D> {
    pub hidden: Linear<InDim, HiddenDim, E, D>,
    pub gate: Linear<InDim, HiddenDim, E, D>,
    pub output: Linear<HiddenDim, OutDim, E, D>,
}

impl<E: Real, D: Device<E>> Pretrained for Tiny<E, D> {
    const NAMES: &'static str = "
        hidden.weight = base.hidden_gate.weight part 1 of 2
        gate.weight = base.hidden_gate.weight part 2 of 2
        hidden.bias = base.hidden_gate.bias part 1 of 2
        gate.bias = base.hidden_gate.bias part 2 of 2
        output.weight = base.output.weight [in out -> out in]
        output.bias = head.bias
        ignore *.mask
    ";
    const PREFIX: &'static str = "base.";

    fn config() -> Vec<ConfigField> {
        vec![
            ConfigField::text("model_type", &["tiny"]),
            ConfigField::dim::<InDim>("hidden_size"),
            ConfigField::dim::<Product<HiddenDim, Const<2>>>("inner.size").also_called("inner_size"),
            ConfigField::number("eps", 1e-5).or_absent(),
            ConfigField::text("act", &["gelu_new", "gelu_pytorch_tanh"]),
            ConfigField::flag("tied", true).or_absent(),
            ConfigField::absent("rope_scaling"),
            ConfigField::sizes("heads", [3, 6]).or_absent(),
        ]
    }
}

pub type Model = Tiny;

pub fn config() -> Value {
    json!({ "model_type": "tiny", "hidden_size": 5, "inner": { "size": 6 }, "act": "gelu_new", "eps": 1e-5, "more": [1] })
}

/// The tensors of a file, with different numbers that 8 bits hold.
pub fn tensors() -> BTreeMap<String, (Vec<usize>, Vec<f32>)> {
    let shapes = [
        ("base.hidden_gate.weight", vec![6, 5]),
        ("base.hidden_gate.bias", vec![6]),
        ("base.output.weight", vec![3, 4]),
        ("head.bias", vec![4]),
    ];
    let mut next = 0.0;
    let tensor = |(name, sizes): (&str, Vec<usize>)| {
        let elements = (0..sizes.iter().product()).map(|_: usize| {
            next += 0.5;
            next
        });
        (name.to_string(), (sizes, elements.collect()))
    };
    shapes.into_iter().map(tensor).collect()
}

pub fn write(path: &Path, tensors: &BTreeMap<String, (Vec<usize>, Vec<f32>)>, dtype: Dtype) {
    let bytes = |element: &f32| match dtype {
        Dtype::F16 => f16::from_f32(*element).to_le_bytes().to_vec(),
        Dtype::BF16 => bf16::from_f32(*element).to_le_bytes().to_vec(),
        _ => element.to_le_bytes().to_vec(),
    };
    let data: Vec<(&String, &Vec<usize>, Vec<u8>)> = tensors
        .iter()
        .map(|(name, (sizes, elements))| (name, sizes, elements.iter().flat_map(bytes).collect()))
        .collect();
    let views = data.iter().map(|(name, sizes, bytes)| (name, TensorView::new(dtype, sizes.to_vec(), bytes).unwrap()));
    fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

/// A folder with this configuration and these tensors in one file.
pub fn folder_with(config: &Value, tensors: &BTreeMap<String, (Vec<usize>, Vec<f32>)>, dtype: Dtype) -> TempDir {
    let folder = temp_dir();
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    write(&folder.path().join("model.safetensors"), tensors, dtype);
    folder
}

/// A folder with two shards and their index.
pub fn sharded() -> TempDir {
    let folder = temp_dir();
    fs::write(folder.path().join("config.json"), config().to_string()).unwrap();
    let (mut first, mut second) = (tensors(), tensors());
    first.retain(|name, _| name.contains("hidden"));
    second.retain(|name, _| !name.contains("hidden"));
    write(&folder.path().join("a.safetensors"), &first, Dtype::F32);
    write(&folder.path().join("b.safetensors"), &second, Dtype::BF16);
    let files =
        first.keys().map(|name| (name, "a.safetensors")).chain(second.keys().map(|name| (name, "b.safetensors")));
    let index = json!({ "metadata": { "total_size": 7 }, "weight_map": files.collect::<BTreeMap<_, _>>() });
    fs::write(folder.path().join("model.safetensors.index.json"), index.to_string()).unwrap();
    folder
}

pub fn load(folder: &TempDir) -> Result<Model, LoadError> {
    load_pretrained(folder.path(), &Cpu::default())
}

/// Asserts that the parameters are those of [`tensors`].
pub fn assert_is_whole(model: &Model) {
    let tensors = tensors();
    let of = |name: &str| tensors[name].1.clone();
    assert_eq!(model.hidden.weight.as_vec(), of("base.hidden_gate.weight")[..15]);
    assert_eq!(model.gate.weight.as_vec(), of("base.hidden_gate.weight")[15..]);
    assert_eq!(model.hidden.bias.as_vec(), of("base.hidden_gate.bias")[..3]);
    assert_eq!(model.gate.bias.as_vec(), of("base.hidden_gate.bias")[3..]);
    let file = of("base.output.weight");
    let transposed: Vec<f32> = (0..4).flat_map(|out| (0..3).map(move |i| i * 4 + out)).map(|at| file[at]).collect();
    assert_eq!(model.output.weight.as_vec(), transposed);
    assert_eq!(model.output.bias.as_vec(), of("head.bias"));
}

#[test]
fn one_file_shards_and_16_bits_make_the_same_model() {
    for dtype in [Dtype::F32, Dtype::F16, Dtype::BF16] {
        assert_is_whole(&load(&folder_with(&config(), &tensors(), dtype)).unwrap());
    }
    let folder = sharded();
    assert_is_whole(&load(&folder).unwrap());
    // Without a configuration, by the folder or by its index.
    let names: NameMap = Model::NAMES.parse().unwrap();
    for path in [folder.path().to_path_buf(), folder.path().join("model.safetensors.index.json")] {
        assert_is_whole(&load_mapped(path, &names, &Cpu::default()).unwrap());
    }
    // A shard alone lacks the tensors of the other.
    let error = load_mapped::<Model, _, _>(folder.path().join("b.safetensors"), &names, &Cpu::default()).unwrap_err();
    assert!(error.to_string().starts_with("`hidden.weight` (HiddenDim=3, InDim=5) is missing, read as"), "{error}");
}

#[test]
fn names_may_lack_their_prefix() {
    let mut bare: BTreeMap<_, _> =
        tensors().into_iter().map(|(name, tensor)| (name.trim_start_matches("base.").to_string(), tensor)).collect();
    assert_is_whole(&load(&folder_with(&config(), &bare, Dtype::F32)).unwrap());
    bare.insert("hidden_gate.mask".into(), (vec![1], vec![f32::NAN]));
    assert_is_whole(&load(&folder_with(&config(), &bare, Dtype::F32)).unwrap());
    // Names are mixed in no published file.
    bare.insert("base.output.weight".into(), bare["output.weight"].clone());
    let error = load(&folder_with(&config(), &bare, Dtype::F32)).unwrap_err().to_string();
    assert!(error.contains("is missing, read as `base.hidden_gate.weight part 1 of 2`"), "{error}");
}

#[test]
fn a_configuration_of_another_model_is_refused_with_all_that_differs() {
    let differing = |changes: &[(&str, Value)]| {
        let mut config = config();
        changes.iter().for_each(|(field, value)| config[field] = value.clone());
        let folder = folder_with(&config, &tensors(), Dtype::F32);
        let path = folder.path().join("config.json").display().to_string();
        load(&folder).map(drop).map_err(|error| error.to_string().replace(&path, "FILE"))
    };
    let is = |difference: &str| Err(format!("FILE is of another model than Tiny: {difference}"));
    for (field, value, difference) in [
        ("model_type", json!("gpt2"), "`model_type` is \"gpt2\", not \"tiny\""),
        ("model_type", Value::Null, "`model_type` is absent, not \"tiny\""),
        ("hidden_size", json!(8), "`hidden_size` is 8, not InDim=5"),
        ("hidden_size", json!(-5), "`hidden_size` is -5, not InDim=5"),
        ("hidden_size", json!("5"), "`hidden_size` is \"5\", not InDim=5"),
        ("inner", json!({ "size": 7 }), "`inner.size` is 7, not Product<HiddenDim, Const<2>>=6"),
        ("inner", json!(6), "`inner.size` is absent, not Product<HiddenDim, Const<2>>=6; `inner` is 6, not an object"),
        ("eps", json!(1e-6), "`eps` is 1e-6, not 1e-5"),
        ("act", json!("relu"), "`act` is \"relu\", not \"gelu_new\" or \"gelu_pytorch_tanh\""),
        ("tied", json!(false), "`tied` is false, not true"),
        ("heads", json!([6, 3]), "`heads` is [6,3], not [3, 6]"),
        ("heads", json!(3), "`heads` is 3, not [3, 6]"),
        ("rope_scaling", json!({ "factor": 8 }), "`rope_scaling` is {\"factor\":8}, not absent"),
        ("act", json!("\u{1b}[2J"), "`act` is \"\\u001b[2J\", not \"gelu_new\" or \"gelu_pytorch_tanh\""),
    ] {
        assert_eq!(differing(&[(field, value)]), is(difference));
    }
    let all = [("hidden_size", json!(8)), ("eps", json!(1)), ("tied", json!(false))];
    let expected = "`hidden_size` is 8, not InDim=5; `eps` is 1, not 1e-5; `tied` is false, not true";
    assert_eq!(differing(&all), is(expected));
    for (field, value) in [
        ("eps", json!(9.999999747378752e-6)), // the nearest `f32`
        ("eps", Value::Null),
        ("act", json!("gelu_pytorch_tanh")),
        ("tied", json!(true)),
        ("heads", json!([3, 6])),
    ] {
        assert_eq!(differing(&[(field, value)]), Ok(()));
    }
    assert_eq!(differing(&[("inner", Value::Null), ("inner_size", json!(6))]), Ok(()));
}

#[test]
fn each_object_around_a_field_has_no_other_field() {
    #[module]
    struct Rotary<E, D> {
        output: Linear<InDim, OutDim, E, D>,
    }
    impl<E: Real, D: Device<E>> Pretrained for Rotary<E, D> {
        const NAMES: &'static str = "* = *";

        fn config() -> Vec<ConfigField> {
            vec![
                ConfigField::number("theta", 1e4).also_called("rope.full.theta"),
                ConfigField::text("rope.sliding.type", &["default"]).or_absent(),
            ]
        }
    }
    let folder = temp_dir();
    let differences = |config: Value| {
        fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
        match load_pretrained::<Rotary<f32, Cpu>, _, _>(folder.path(), &Cpu::default()).map(drop).unwrap_err() {
            LoadError::Config { differences, .. } => differences,
            LoadError::NoWeights { .. } => Vec::new(),
            error => panic!("{error}"),
        }
    };
    for (config, expected) in [
        (json!({ "rope": { "full": { "theta": 1e4 }, "sliding": { "type": "default" } } }), vec![]),
        (json!({ "theta": 1e4, "rope": Value::Null }), vec![]),
        (json!({ "theta": 1e4, "rope": { "type": "linear" } }), vec!["`rope.type` is \"linear\", not absent"]),
        (json!({ "theta": 1e4, "rope": "linear" }), vec!["`rope` is \"linear\", not an object"]),
        (json!({ "theta": 1e4, "rope": { "full": 8 } }), vec!["`rope.full` is 8, not an object"]),
        (json!({ "theta": 1e4, "rope": { "full": { "factor": 8 } } }), vec!["`rope.full.factor` is 8, not absent"]),
    ] {
        assert_eq!(differences(config.clone()), expected, "{config}");
    }
}

/// Loading takes the memory of the model and of one tensor.
#[test]
fn one_tensor_is_in_memory_beside_the_model() {
    dims! { Width = 512; Big = 1024; }
    #[module]
    struct Wide<E, D> {
        first: Linear<Width, Big, E, D>,
        second: Linear<Width, Big, E, D>,
        third: Linear<Width, Big, E, D>,
    }
    const TENSOR: u64 = 4 * 512 * 1024;
    let names = ["first", "second", "third"];
    for (layout, sizes, beside) in [("", vec![1024, 512], 0), ("[in out -> out in]", vec![512, 1024], TENSOR)] {
        for dtype in [Dtype::F32, Dtype::BF16] {
            let folder = temp_dir();
            let tensors = names.iter().flat_map(|name| {
                let weight = (format!("{name}.weight"), (sizes.clone(), vec![0.5; 512 * 1024]));
                [weight, (format!("{name}.bias"), (vec![1024], vec![0.5; 1024]))]
            });
            write(&folder.path().join("model.safetensors"), &tensors.collect(), dtype);
            let map: NameMap = format!("{{n}}.weight = {{n}}.weight {layout}\n* = *").parse().unwrap();
            let mut model = None;
            let memory = measure(|| {
                model = Some(load_mapped::<Wide<f32, Cpu>, _, _>(folder.path(), &map, &Cpu::default()).unwrap());
            });
            let params = 4 * Wide::<f32, Cpu>::NUM_PARAMS as u64;
            let most = params + beside + 200_000;
            assert!(memory.bytes_max <= most, "{layout} {dtype:?}: {} of {most}", memory.bytes_max);
        }
    }
}
