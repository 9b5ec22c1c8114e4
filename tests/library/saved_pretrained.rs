//! A model that is saved by the names of its published files, and the errors of names that no file can have.

use crate::pretrained::{Model, assert_is_whole, config, folder_with, load, tensors};
use crate::support::{temp_dir, tensors_of};
use safetensors::Dtype;
use std::fs;
use typed_transformer::nn::Linear;
use typed_transformer::prelude::*;
use typed_transformer::weights::{ConfigField, Pretrained, SaveError, load_mapped, save_pretrained};

dims! { pub InDim = 5; pub HiddenDim = 3; pub OutDim = 4; NumHeads = 2; HeadDim = 3; }

#[test]
fn a_saved_model_has_the_tensors_that_it_was_loaded_from() {
    let folder = folder_with(&config(), &tensors(), Dtype::BF16);
    let model: Model = load(&folder).unwrap();
    // The weights of the folder are replaced.
    save_pretrained(&model, folder.path()).unwrap();
    let (found, metadata) = tensors_of(&fs::read(folder.path().join("model.safetensors")).unwrap());
    assert_eq!(metadata["format"], "pt");
    assert!(found.keys().eq(tensors().keys()));
    for (name, (dtype, sizes, bytes)) in found {
        let (expected_sizes, elements) = &tensors()[&name];
        let expected: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        assert_eq!((dtype, &sizes, bytes), (Dtype::F32, expected_sizes, expected), "{name}");
    }
    assert_is_whole(&load(&folder).unwrap());
}

/// As `transformers` does.
#[test]
fn the_new_file_is_read_in_place_of_shards() {
    let folder = folder_with(&config(), &tensors(), Dtype::F32);
    let model: Model = load(&folder).unwrap();
    let index = r#"{"weight_map": {"a": "model-00001-of-00001.safetensors"}}"#;
    fs::write(folder.path().join("model.safetensors.index.json"), index).unwrap();
    save_pretrained(&model, folder.path()).unwrap();
    assert_is_whole(&load(&folder).unwrap());
}

#[test]
fn a_product_becomes_the_axes_that_it_was() {
    #[module]
    struct Query<E, D> {
        query: Linear<InDim, Product<NumHeads, HeadDim>, E, D>,
        part: Linear<HiddenDim, InDim, E, D>,
        other_part: Linear<HiddenDim, InDim, E, D>,
    }
    impl<E: Real, D: Device<E>> Pretrained for Query<E, D> {
        const NAMES: &'static str = "
            query.weight = query.kernel or q [in head size -> (head size) in]
            query.bias = query.bias [one head size -> (one head size)]
            part.weight = both [in one out -> out (one in)] part 1 of 2
            other_part.weight = both [in one out -> out (one in)] part 2 of 2
            * = *
        ";

        fn config() -> Vec<ConfigField> {
            Vec::new()
        }
    }
    let (folder, device) = (temp_dir(), Cpu::seed_from_u64(1));
    let model = Query::<f64, Cpu>::build(&device);
    save_pretrained(&model, folder.path()).unwrap();
    let (found, _) = tensors_of(&fs::read(folder.path().join("model.safetensors")).unwrap());
    let shapes: Vec<_> = found.iter().map(|(name, (dtype, sizes, _))| (name.as_str(), *dtype, sizes.clone())).collect();
    assert_eq!(
        shapes,
        [
            ("both", Dtype::F64, vec![3, 1, 10]),
            ("other_part.bias", Dtype::F64, vec![5]),
            ("part.bias", Dtype::F64, vec![5]),
            ("query.bias", Dtype::F64, vec![1, 2, 3]),
            ("query.kernel", Dtype::F64, vec![5, 2, 3]),
        ]
    );
    let loaded: Query<f64, Cpu> =
        load_mapped(folder.path(), &Query::<f64, Cpu>::NAMES.parse().unwrap(), &device).unwrap();
    let maps = |model: Query<f64, Cpu>| {
        let parts = [model.part, model.other_part].map(|part| part.weight.as_vec());
        (model.query.weight.as_vec(), model.query.bias.as_vec(), parts)
    };
    // `kernel[in, head, size]` is `weight[(head, size), in]`.
    let kernel: Vec<f64> =
        found["query.kernel"].2.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
    let weight = model.query.weight.as_vec();
    assert!((0..30).all(|index| kernel[index] == weight[index % 6 * 5 + index / 6]));
    assert_eq!(maps(loaded), maps(model));
}

/// The error of saving a pair of linear maps by these names, without the path of the file.
macro_rules! error_by {
    ($names:literal) => {
        error_by!($names, |_| {})
    };
    ($names:literal, $change:expr) => {{
        #[module(output = OutDim)]
        struct Pair<E, D> {
            hidden: Linear<InDim, HiddenDim, E, D>,
            output: Linear<HiddenDim, OutDim, E, D>,
        }
        impl<E: Real, D: Device<E>> Pretrained for Pair<E, D> {
            const NAMES: &'static str = $names;

            fn config() -> Vec<ConfigField> {
                Vec::new()
            }
        }
        let mut model = Pair::<f32, Cpu>::build(&Cpu::default());
        let change: fn(&mut Pair) = $change;
        change(&mut model);
        let folder = temp_dir();
        let path = folder.path().join("model.safetensors");
        let error = save_pretrained(&model, folder.path()).unwrap_err().to_string();
        assert!(!path.exists(), "{error}");
        error.strip_prefix(&format!("cannot write {}: ", path.display())).unwrap().to_string()
    }};
}

#[test]
fn names_that_no_file_can_have_are_errors() {
    for (error, expected) in [
        (
            error_by!("hidden.weight"),
            "the names of Pair: line 1: `hidden.weight` is neither `PATH = NAME`, \
          `ignore NAME` nor `copy NAME of NAME`",
        ),
        (error_by!("{m}.weight = {m}"), "the name map has no rule for `hidden.bias` (HiddenDim=3,)"),
        (
            error_by!("{m}.weight = w or {m}\n* = *"),
            "`output.weight` (OutDim=4, HiddenDim=3) is written as `w`, where another parameter is",
        ),
        (
            error_by!("hidden.weight = w part 1 of 2\noutput.weight = w part 1 of 3\n* = *"),
            "`output.weight` (OutDim=4, HiddenDim=3) is written as `w part 1 of 3`, where another parameter is",
        ),
        (
            error_by!("hidden.weight = w part 1 of 2\noutput.weight = w part 2 of 2\n* = *"),
            "`output.weight` (OutDim=4, HiddenDim=3) is written as `w part 2 of 2`, whose other parts have other sizes",
        ),
        (error_by!("hidden.bias = b part 1 of 2\n* = *"), "no parameter is written as `b part 2 of 2`"),
        (
            error_by!("hidden.weight = w [a b c -> c b a]\n* = *"),
            "`hidden.weight` (HiddenDim=3, InDim=5) is written as `w [a b c -> c b a]`, which has other dimensions",
        ),
        (
            error_by!("hidden.weight = w [a b c -> (a b) c] part 1 of 2\n* = *"),
            "`hidden.weight` (HiddenDim=3, InDim=5) is written as `w [a b c -> (a b) c] part 1 of 2`, \
             which has other dimensions",
        ),
        (
            error_by!("* = *", |model| model.output.bias = Cpu::default().tensor(vec![0.0, f32::NAN, 0.0, 0.0])),
            "`output.bias` holds NaN at position 1",
        ),
    ] {
        assert_eq!(error, expected);
    }
}

#[test]
fn a_folder_must_exist_and_what_is_no_weights_stays() {
    let model = Model::build(&Cpu::default());
    let folder = temp_dir();
    let error = save_pretrained(&model, folder.path().join("none")).unwrap_err();
    assert!(matches!(error, SaveError::Write { .. }), "{error}");
    let path = folder.path().join("model.safetensors");
    fs::write(&path, "notes").unwrap();
    let error = save_pretrained(&model, folder.path()).unwrap_err();
    assert!(matches!(error, SaveError::Exists { .. }), "{error}");
    assert_eq!(fs::read(path).unwrap(), b"notes");
}
