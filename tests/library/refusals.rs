//! Mistakes that show at run time are errors, and unusual values are no panics.

use crate::numbers::device;
use crate::support::temp_dir;
use dfdx::tensor::AutoDevice;
use std::fs;
use typed_transformer::doctest::Model as Sizes;
use typed_transformer::mask::MaskKind;
use typed_transformer::nn::{Autoregressive, Linear};
use typed_transformer::ops::alibi;
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, GradientsOf, StepReport, TrainError, Trainer};
use typed_transformer::{module, weights};

dims! { FourHeads = 4; EightColumns = 8; EightHeads = 8; FourColumns = 4; Width = 32; Batch = 1; Len; }

type Query<NumHeads, HeadDim> = Linear<Width, Product<NumHeads, HeadDim>, f32, AutoDevice>;

#[test]
fn a_model_of_other_heads_of_the_same_width_is_refused() {
    let file = temp_dir();
    let path = file.path().join("model");
    weights::save(&Query::<FourHeads, EightColumns>::build(&device()), &path).unwrap();
    weights::load::<Query<FourHeads, EightColumns>, _, _>(&path, &device()).unwrap();
    // The names of the factors are free.
    weights::load::<Query<FourColumns, EightHeads>, _, _>(&path, &device()).unwrap();
    let error = weights::load::<Query<EightHeads, FourColumns>, _, _>(&path, &device()).unwrap_err();
    assert_eq!(error.to_string(), "the model's division of dimensions is 8 * 4, but the file was saved with 4 * 8");
}

#[test]
fn a_length_beyond_its_bound_is_an_error_where_tokens_are_made() {
    dims! { Short <= Width; }
    let tokens = |len| -> Result<TokenIds<Batch, Short, EightHeads>, TokenError> {
        TokenIds::from_ids(&[1; 9], None, (Batch, Short::new(len)?))
    };
    assert_eq!(tokens(9).unwrap().shape().1, Short::new(9).unwrap());
    assert_eq!(tokens(33).unwrap_err().to_string(), "`Short` of 33 is longer than `Width` of 32");
}

/// An encoder of 4 heads of 8 columns, and a decoder.
#[module(output = Width)]
struct TwoDivisions<NumHeads: ConstDim, HeadDim: ConstDim, E, D> {
    encoder: Linear<Width, Product<FourHeads, EightColumns>, E, D>,
    decoder: Linear<Width, Product<NumHeads, HeadDim>, E, D>,
}

#[test]
fn a_model_that_lacks_a_division_of_heads_is_refused() {
    let file = temp_dir();
    let path = file.path().join("model");
    weights::save(&TwoDivisions::<EightHeads, FourColumns, f32, AutoDevice>::build(&device()), &path).unwrap();
    type Model = TwoDivisions<FourHeads, EightColumns, f32, AutoDevice>;
    let expected = "the model's division of dimensions is 4 * 8, but the file was saved with 4 * 8 and 8 * 4";
    assert_eq!(weights::load::<Model, _, _>(&path, &device()).unwrap_err().to_string(), expected);
    let names = "* = *".parse().unwrap();
    assert_eq!(weights::load_mapped::<Model, _, _>(&path, &names, &device()).unwrap_err().to_string(), expected);
    // The encoder alone is a part of the saved model.
    let names = "* = encoder.*\nignore decoder.*".parse().unwrap();
    weights::load_mapped::<Query<FourHeads, EightColumns>, _, _>(&path, &names, &device()).unwrap();
}

#[module(output = FourHeads)]
struct Classifier<E, D> {
    logit: Linear<Width, FourHeads, E, D>,
}

#[test]
fn a_training_of_another_model_says_which() {
    let file = temp_dir();
    let path = file.path().join("checkpoint");
    let model = Linear::<Width, FourHeads, f32, AutoDevice>::build(&device());
    Trainer::new(Adam::default(), 1e-3, 1, 0).save(&model, &path).unwrap();
    let mut trainer = Trainer::new(Adam::default(), 1e-3, 1, 0);
    let error = trainer.resume::<Classifier<f32, AutoDevice>, _, _>(&path, &device()).unwrap_err().to_string();
    let expected = "checkpoint: the model should be Classifier but is Linear<Width, FourHeads>";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn a_training_has_no_more_steps_than_it_says() {
    let mut model = Linear::<Width, FourHeads, f32, AutoDevice>::build(&device());
    let mut trainer = Trainer::new(Adam::default(), 1e-3, 1, 0);
    let mut step = |model: &mut _| -> Result<StepReport, TrainError> {
        let gradients = GradientsOf::zeros(model).allow_unused(model);
        trainer.update(model, gradients, 3.0, 1)
    };
    // Its speed is not known, because `next_step` was not called.
    assert_eq!(step(&mut model).unwrap().to_string(), "step 1/1  loss 3.0000  rate 1.00e-3");
    assert_eq!(step(&mut model).unwrap_err().to_string(), "the training ends after step 1");
}

#[test]
fn a_cache_with_reserved_positions_that_no_layer_filled_is_refused() {
    let model = DecoderOnly::<Sizes, f32, AutoDevice>::build(&device());
    let token = TokenIds::from_ids(&[1], None, (Batch, Len::new(1))).unwrap();
    let mut cache = model.cache(Batch).unwrap();
    model.next_logits(&token, &mut cache).unwrap();
    cache.advance(&model.embedder.token_embedder.weight, (Batch, Len::new(1))).unwrap();
    assert_eq!(
        model.next_logits(&token, &mut cache).unwrap_err().to_string(),
        "cache: 2 positions are reserved, but a layer has filled 1; decode with another cache"
    );
}

#[test]
fn a_text_that_ends_in_padding_has_no_next_token() {
    let model = DecoderOnly::<Sizes, f32, AutoDevice>::build(&device());
    dims! { Texts = 2; }
    let pad = Some(Fin::literal::<27>());
    let next = |ids: &[usize], len: usize| {
        let tokens = TokenIds::from_ids(ids, pad, (Texts, Len::new(len))).unwrap();
        model.next_logits(&tokens, &mut model.cache(Texts).unwrap()).map(|logits| logits.as_vec())
    };
    assert_eq!(
        next(&[7, 4, 11, 27], 2).unwrap_err().to_string(),
        "next logits: row 1 ends in padding, and its logits would be those after the padding; `Generation` takes texts \
         of different lengths; a token that is also the padding, as the start of a T5, is given without padding"
    );
    assert!(next(&[7, 4, 27, 11], 2).is_ok());
}

#[test]
fn a_window_may_be_empty() {
    struct Blind;
    impl MaskKind for Blind {
        const CAUSAL: bool = false;
        const WINDOW: Option<usize> = Some(0);
    }
    let padding = PaddingMask::without_padding((Batch, Len::new(2)));
    assert_eq!(mk_mask::<Blind, PadSourceKeys, _, _>(&padding).as_slice(), [false; 4]);
}

#[test]
fn linear_biases_of_other_than_a_power_of_two_heads_are_those_of_the_paper() {
    dims! { SixHeads = 6; One = 1; Two = 2; }
    let bias: Tensor<(SixHeads, One, Two), f64, AutoDevice> = alibi(&device(), SixHeads, 1, One, Two).unwrap();
    let slopes: Vec<f64> = bias.as_vec().chunks(2).map(|head| -head[0]).collect();
    assert_eq!(slopes, [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]);
}

#[test]
fn a_field_may_have_the_name_of_a_keyword() {
    #[module]
    struct Typed<E, D> {
        r#type: Linear<Width, FourHeads, E, D>,
    }
    let file = temp_dir();
    let path = file.path().join("model");
    weights::save(&Typed::<f32, AutoDevice>::build(&device()), &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let names = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert!(names.tensor("type.weight").is_ok());
    weights::load::<Typed<f32, AutoDevice>, _, _>(&path, &device()).unwrap();
}

#[test]
fn a_dimension_of_a_closure_has_its_name_in_errors() {
    let name = || {
        dims! { Inner = 2; }
        format!("{:?}", Product::<Inner, FourHeads>::default())
    };
    assert_eq!(name(), "Product<Inner, FourHeads>=8");
}

#[cfg(feature = "plot")]
mod plots {
    use super::*;
    use typed_transformer::plot::{HeatMapGrid, HtmlReport, LinePlot, PlotError, training_curves};

    #[test]
    fn curves_that_cannot_be_drawn_are_left_out() {
        let folder = temp_dir();
        let metrics = folder.path().join("metrics.jsonl");
        for line in ["{\"step\":1,\"loss\":1e301}", "{\"step\":1e301,\"loss\":1}"] {
            fs::write(&metrics, line).unwrap();
            assert_eq!(training_curves(&metrics).unwrap().len(), 0);
            HtmlReport::new("A report").training_curves(&metrics).unwrap();
        }
    }

    #[test]
    fn a_matrix_without_elements_is_nothing_to_draw() {
        dims! { Rows; Columns; }
        let matrix: Tensor<(Rows, Columns), f32, Cpu> =
            tensor(&Cpu::default(), [], (Rows::new(0), Columns::new(3))).unwrap();
        let folder = temp_dir();
        let file = folder.path().join("plot.svg");
        let heat_map = HeatMapGrid::of_matrix("nothing", &matrix).draw(&file).unwrap_err();
        let lines = LinePlot::of_columns("nothing", "x", "y", &matrix, 0..3).draw(&file).unwrap_err();
        assert!(matches!([heat_map, lines], [PlotError::Nothing { .. }, PlotError::Nothing { .. }]));
    }
}
