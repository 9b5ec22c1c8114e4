//! Training against PyTorch and optax: 20 steps with each optimizer, schedule and loss on the small
//! problem of `tests/fixtures/training.py`.

use crate::numbers::device;
use crate::recorded::Recorded;
use dfdx::tensor::AutoDevice;
use safetensors::SafeTensors;
use std::{array::from_fn, fs, path::Path, sync::LazyLock};
use typed_transformer::module;
use typed_transformer::nn::Linear;
use typed_transformer::ops::{Activation, Relu, cross_entropy_with_label_smoothing, scale};
use typed_transformer::prelude::*;
use typed_transformer::train::{
    Adam, AdamW, GradientsOf, InverseSqrt, Optimizer, Schedule, Sgd, WarmupCosine, WarmupExponential, update,
};

dims! { Batch = 4; SeqLen = 2; InDim = 3; HiddenDim = 5; VocabSize = 7; }

/// `logit(relu(hidden(x)))`.
#[module]
struct Classifier<E, D> {
    hidden: Linear<InDim, HiddenDim, E, D>,
    logit: Linear<HiddenDim, VocabSize, E, D>,
}

const STEPS: usize = 20;

// ---- The fixture ----

static FIXTURE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read(tests.join("fixtures/training.safetensors")).unwrap()
});

/// The numbers stored under a key.
fn numbers(key: &str) -> Vec<f64> {
    let file = SafeTensors::deserialize(&FIXTURE).unwrap();
    let (elements, _) = file.tensor(key).unwrap().data().as_chunks();
    elements.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
}

fn tensor<Dims: Shape + Default, E: Real>(key: &str) -> Tensor<Dims, E, AutoDevice>
where
    AutoDevice: Backend<E>,
{
    let elements = numbers(key).into_iter().map(|x| E::from_f64(x).unwrap());
    device().tensor_from_vec(elements.collect(), Dims::default())
}

fn labels() -> LabelIds<Batch, SeqLen, VocabSize> {
    let file = SafeTensors::deserialize(&FIXTURE).unwrap();
    let (elements, _) = file.tensor("labels").unwrap().data().as_chunks();
    let ids: Vec<_> = elements.iter().map(|&bytes| u64::from_le_bytes(bytes) as usize).collect();
    LabelIds::from_ids(&ids, Some(Fin::literal::<6>()), (Batch, SeqLen)).unwrap()
}

/// The model before the first step.
fn start<E: Real>() -> Classifier<E, AutoDevice>
where
    AutoDevice: Backend<E>,
{
    let mut model = Classifier::build(&device());
    model.hidden.weight = tensor("weights.hidden.weight");
    model.hidden.bias = tensor("weights.hidden.bias");
    model.logit.weight = tensor("weights.logit.weight");
    model.logit.bias = tensor("weights.logit.bias");
    model
}

// ---- Training ----

fn logits<E: Real, T: Tape<E, AutoDevice>>(
    model: &Classifier<E, AutoDevice>,
    tape: T,
) -> Tensor<(Batch, SeqLen, VocabSize), E, AutoDevice, T>
where
    AutoDevice: Backend<E>,
{
    let input: Tensor<(Batch, SeqLen, InDim), E, AutoDevice> = tensor("input");
    let hidden = model.hidden.forward(input.put_tape(tape)).unwrap();
    model.logit.forward(Relu::apply(hidden).unwrap()).unwrap()
}

/// Trains for 20 steps and compares loss, gradient norm and learning rate at every step, and the
/// parameters at the end.
#[track_caller]
fn check<E: Real>(
    case: &str,
    tolerance: f64,
    mut optimizer: impl Optimizer<Classifier<E, AutoDevice>, E, AutoDevice>,
    schedule: impl Schedule,
    clip_norm: f64,
    (reduction, smoothing): (Reduction, f64),
) where
    AutoDevice: Backend<E>,
{
    let close = |what: &str, ours: &[f64]| {
        let theirs = numbers(&format!("{case}.{what}"));
        assert_eq!(ours.len(), theirs.len());
        for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let difference = (ours - theirs).abs();
            assert!(difference <= tolerance * (1.0 + theirs.abs()), "{case}.{what} at {i}: {ours} and {theirs}");
        }
    };
    let mut model = start::<E>();
    let [mut losses, mut norms] = [[0.0; STEPS]; 2];
    for step in 0..STEPS {
        let logits = logits(&model, model.recording());
        let loss = cross_entropy_with_label_smoothing(logits, &labels(), reduction, smoothing).unwrap();
        losses[step] = loss.array().to_f64().unwrap();
        let rate = schedule.learning_rate(step);
        norms[step] = update(&mut model, loss.backward().unwrap(), &mut optimizer, rate, clip_norm).unwrap();
    }
    close("loss", &losses);
    close("norm", &norms);
    close("rate", &from_fn::<_, STEPS, _>(|step| schedule.learning_rate(step)));
    let Classifier { hidden, logit, .. } = model;
    let elements = |x: Vec<E>| x.iter().map(|x| x.to_f64().unwrap()).collect::<Vec<_>>();
    close("hidden.weight", &elements(hidden.weight.as_vec()));
    close("hidden.bias", &elements(hidden.bias.as_vec()));
    close("logit.weight", &elements(logit.weight.as_vec()));
    close("logit.bias", &elements(logit.bias.as_vec()));
}

/// [`check`] in `f64`, by the definitions, and in `f32`, by the kernels.
macro_rules! agrees {
    ($case:literal, $optimizer:expr, $schedule:expr, $clip_norm:expr) => {
        agrees!($case, $optimizer, $schedule, $clip_norm, (Reduction::MeanAll, 0.0));
    };
    ($case:literal, $optimizer:expr, $schedule:expr, $clip_norm:expr, $loss:expr) => {
        check::<f64>($case, 1e-11, $optimizer, $schedule, $clip_norm, $loss);
        check::<f32>($case, 1e-4, $optimizer, $schedule, $clip_norm, $loss);
    };
}

const NO_CLIPPING: f64 = f64::INFINITY;

/// The default value after `set`.
fn with<T: Default>(set: impl FnOnce(&mut T)) -> T {
    let mut value = T::default();
    set(&mut value);
    value
}

#[test]
fn sgd_matches_pytorch() {
    agrees!("sgd", Sgd::default(), 0.1, NO_CLIPPING);
    agrees!("momentum", with(|it: &mut Sgd<_, _, _>| it.momentum = 0.9), 0.1, NO_CLIPPING);
}

#[test]
fn adam_matches_pytorch_and_optax() {
    agrees!("adam", with(|it: &mut Adam<_, _, _>| it.beta2 = 0.99), 0.03, NO_CLIPPING);
    agrees!("adam_of_optax", Adam::default(), 0.03, NO_CLIPPING);
}

#[test]
fn adamw_matches_pytorch_and_decays_only_selected_parameters() {
    agrees!(
        "adamw_matrices",
        with(|it: &mut AdamW<_, _, _>| {
            it.weight_decay = 0.1;
            it.adam.beta2 = 0.99;
        }),
        0.03,
        NO_CLIPPING
    );
    agrees!(
        "adamw_by_path",
        with(|it: &mut AdamW<_, _, _>| {
            it.weight_decay = 0.1;
            it.weight_decay_filter = |parameter| parameter.path.starts_with("logit");
        }),
        0.03,
        NO_CLIPPING
    );
}

#[test]
fn clipping_and_warmup_cosine_match_optax() {
    let schedule = WarmupCosine { peak_value: 0.04, end_value: 0.01, warmup_steps: 4, steps: 16 };
    agrees!(
        "adamw_warmup_cosine",
        with(|it: &mut AdamW<_, _, _>| {
            it.weight_decay = 0.1;
            it.adam.beta2 = 0.99;
        }),
        schedule,
        0.2
    );
}

#[test]
fn clipping_and_warmup_exponential_match_optax() {
    let short = WarmupExponential {
        init_value: 0.5,
        peak_value: 0.8,
        warmup_steps: 4,
        hold_steps: 3,
        decay_steps: 6,
        decay_rate: 0.5,
        end_value: 0.35,
    };
    agrees!("clipped_warmup_exponential", Sgd::default(), short, 0.3);

    let published =
        WarmupExponential { warmup_steps: 100, hold_steps: 100, decay_steps: 200, end_value: 1e-3, ..short };
    for (hundreds, theirs) in numbers("rates.published").into_iter().enumerate() {
        let ours = published.learning_rate(100 * hundreds);
        assert!((ours - theirs).abs() < 1e-12, "{hundreds}: {ours} and {theirs}");
    }
}

#[test]
fn inverse_sqrt_matches_the_paper() {
    agrees!(
        "attention_is_all_you_need",
        with(|it: &mut Adam<_, _, _>| {
            it.beta2 = 0.98;
            it.epsilon = 1e-9;
        }),
        InverseSqrt { width: HiddenDim::SIZE, warmup_steps: 4 },
        NO_CLIPPING
    );
}

#[test]
fn schedules_are_finite_without_warmup_and_past_their_end() {
    let cosine = WarmupCosine { peak_value: 0.04, end_value: 0.01, warmup_steps: 0, steps: 0 };
    let exponential = WarmupExponential {
        init_value: 0.5,
        peak_value: 0.8,
        warmup_steps: 0,
        hold_steps: 0,
        decay_steps: 0,
        decay_rate: 0.5,
        end_value: 0.35,
    };
    let inverse = InverseSqrt { width: 4, warmup_steps: 0 };
    assert_eq!(cosine.learning_rate(0), 0.04);
    assert_eq!(exponential.learning_rate(0), 0.8);
    assert_eq!(inverse.learning_rate(0), 0.5);
    for step in [1, 2, 1_000_000, usize::MAX] {
        assert_eq!(cosine.learning_rate(step), 0.01);
        assert!((0.35..0.8).contains(&exponential.learning_rate(step)));
        assert!((0.0..0.5).contains(&inverse.learning_rate(step)));
    }
}

/// A step refuses it.
#[test]
fn a_schedule_does_not_hide_nan() {
    let schedule = WarmupExponential {
        init_value: 0.5,
        peak_value: 0.8,
        warmup_steps: 0,
        hold_steps: 0,
        decay_steps: 2,
        decay_rate: 0.5,
        end_value: 0.35,
    };
    assert!(WarmupExponential { decay_rate: -0.5, ..schedule }.learning_rate(1).is_nan());
    assert!(WarmupExponential { end_value: f64::NAN, ..schedule }.learning_rate(1).is_nan());
}

#[test]
fn label_smoothing_matches_pytorch() {
    for (case, loss) in
        [("smoothing", (Reduction::MeanAll, 0.1)), ("smoothing_of_real_labels", (Reduction::MeanPerSequence, 0.3))]
    {
        check::<f64>(case, 1e-11, Sgd::default(), 0.1, NO_CLIPPING, loss);
        check::<f32>(case, 1e-4, Sgd::default(), 0.1, NO_CLIPPING, loss);
    }
}

#[test]
fn label_smoothing_outside_0_to_1_is_an_error() {
    fn error<E: Real>(smoothing: f64) -> String
    where
        AutoDevice: Backend<E>,
    {
        let logits = logits(&start::<E>(), NoneTape);
        let loss = cross_entropy_with_label_smoothing(logits, &labels(), Reduction::MeanAll, smoothing);
        loss.unwrap_err().to_string()
    }
    for (smoothing, text) in [(-0.1, "-0.1"), (1.5, "1.5"), (f64::NAN, "NaN")] {
        let text = format!("cross-entropy: label smoothing must be between 0 and 1, but it is {text}");
        assert_eq!(error::<f32>(smoothing), text);
        assert_eq!(error::<f64>(smoothing), text);
    }
}

/// A token with logit -inf costs nothing unless it is a label or smoothing makes it part of one.
#[test]
fn an_excluded_token_costs_only_with_label_smoothing() {
    fn loss<E: Real>(smoothing: f64) -> f64
    where
        AutoDevice: Backend<E>,
    {
        let logits = [0.0, f64::NEG_INFINITY, 0.0].map(|x| E::from_f64(x).unwrap());
        let logits: Tensor<(Const<1>, Const<1>, Const<3>), E, AutoDevice> = device().tensor(logits.to_vec());
        let labels = LabelIds::from_ids(&[2], None, (Const, Const)).unwrap();
        let loss = cross_entropy_with_label_smoothing(logits, &labels, Reduction::MeanAll, smoothing).unwrap();
        loss.array().to_f64().unwrap()
    }
    for loss in [loss::<f32>, loss::<f64>] {
        assert!((loss(0.0) - 2f64.ln()).abs() < 1e-6);
        assert_eq!(loss(0.1), f64::INFINITY);
    }
}

/// As PyTorch's `ignore_index`: logits at padding labels affect neither loss nor gradients.
#[test]
fn logits_at_padding_have_no_effect() {
    fn check<E: Real>(padded: [f64; 3], smoothing: f64)
    where
        AutoDevice: Backend<E>,
    {
        let run = |padded: [f64; 3]| {
            let logits = [[0.5, -1.0, 2.0], padded].concat();
            let logits = logits.into_iter().map(|x| E::from_f64(x).unwrap());
            let logits: Tensor<(Const<1>, Const<2>, Const<3>), E, AutoDevice> =
                device().tensor(logits.collect::<Vec<_>>());
            let labels = LabelIds::from_ids(&[2, 0], Some(Fin::literal::<0>()), (Const, Const));
            let (labels, reduction) = (labels.unwrap(), Reduction::MeanPerSequence);
            let loss = cross_entropy_with_label_smoothing(logits.recorded(), &labels, reduction, smoothing).unwrap();
            let value = loss.array();
            (value, loss.backward().unwrap().of(&logits).unwrap().as_vec())
        };
        let (loss, gradient) = run(padded);
        assert_eq!(gradient[3..], [E::zero(); 3]);
        assert_eq!((loss, gradient), run([0.0; 3]));
    }
    const NEVER: f64 = f64::NEG_INFINITY;
    for padded in [[NEVER, 0.0, 1.0], [NEVER; 3], [f64::INFINITY, 0.0, 0.0], [f64::NAN; 3]] {
        for smoothing in [0.0, 0.1] {
            check::<f32>(padded, smoothing);
            check::<f64>(padded, smoothing);
        }
    }
}

/// The batch is split into four microbatches of one sequence.
#[test]
fn accumulated_gradients_match_pytorch() {
    fn check_parts<E: Real>(tolerance: f64)
    where
        AutoDevice: Backend<E>,
    {
        dims! { Part = 1; }
        let device = device();
        let (mut model, mut sgd) = (start::<E>(), with(|it: &mut Sgd<_, _, _>| it.momentum = 0.9));
        let input: Vec<E> = tensor::<(Batch, SeqLen, InDim), E>("input").as_vec();
        let labels = labels();
        let parts: Vec<_> =
            input.chunks(SeqLen::SIZE * InDim::SIZE).zip(labels.indices().as_slice().chunks(SeqLen::SIZE)).collect();
        for theirs in numbers("accumulation.loss") {
            let mut sum = 0.0;
            let mut gradients = GradientsOf::zeros(&model);
            for (input, labels) in &parts {
                let input: Tensor<(Part, SeqLen, InDim), E, AutoDevice> = device.tensor(input.to_vec());
                let labels = LabelIds::from_ids(labels, None, (Part, SeqLen)).unwrap();
                let tape = gradients.into_recording();
                let hidden = model.hidden.forward(input.put_tape(tape)).unwrap();
                let logits = model.logit.forward(Relu::apply(hidden).unwrap()).unwrap();
                let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
                let scaled_loss = scale(loss, 1.0 / parts.len() as f64).unwrap();
                sum += scaled_loss.array().to_f64().unwrap();
                gradients = scaled_loss.backward().unwrap();
            }
            assert!((sum - theirs).abs() < tolerance, "{sum} and {theirs}");
            update(&mut model, gradients, &mut sgd, 0.1, NO_CLIPPING).unwrap();
        }
        let ours = model.hidden.weight.as_vec();
        for (ours, theirs) in ours.iter().zip(numbers("accumulation.hidden.weight")) {
            assert!((ours.to_f64().unwrap() - theirs).abs() < tolerance);
        }
    }
    check_parts::<f64>(1e-11);
    check_parts::<f32>(1e-4);
}

#[test]
fn gradients_of_another_model_of_the_same_type_are_refused() {
    let (mut model, mut other) = (start::<f64>(), start::<f64>());
    let record = |model: &Classifier<f64, AutoDevice>| {
        let logits = logits(model, model.recording());
        cross_entropy(logits, &labels(), Reduction::MeanAll).unwrap().backward().unwrap()
    };
    let mut sgd = Sgd::default();
    let error = update(&mut other, record(&model), &mut sgd, 0.1, NO_CLIPPING).unwrap_err();
    // The name of a type leaves the CPU out.
    assert_eq!(
        error.to_string().replace(", Cuda", ""),
        "the gradients were recorded for another `Classifier<f64>`: no parameter of this one has a gradient",
    );
    let zeros = GradientsOf::zeros(&model);
    let tape = zeros.into_recording();
    let part = cross_entropy(logits(&model, tape), &labels(), Reduction::MeanAll).unwrap().backward().unwrap();
    assert!(update(&mut other, part, &mut sgd, 0.1, NO_CLIPPING).is_err());
    // A model may be moved, and gradients may be zero.
    let gradients = record(&model);
    let mut moved = Box::new(model);
    assert!(update(&mut *moved, gradients, &mut sgd, 0.1, NO_CLIPPING).unwrap() > 0.0);
    let constant: Tensor<(), f64, AutoDevice> = device().tensor(1.0);
    let unused = constant.put_tape(moved.recording()).backward().unwrap();
    model = *moved;
    let error = update(&mut model, unused, &mut sgd, 0.1, NO_CLIPPING).unwrap_err();
    assert!(matches!(error, OpError::Unused { .. }), "{error}");
    let loss = cross_entropy(logits(&model, model.recording()), &labels(), Reduction::MeanAll).unwrap();
    assert_eq!(update(&mut model, scale(loss, 0.0).unwrap().backward().unwrap(), &mut sgd, 0.1, NO_CLIPPING), Ok(0.0));
}

#[test]
fn an_optimizer_may_be_borrowed_as_a_trait_object() {
    type Map = Linear<InDim, InDim, f64, AutoDevice>;
    let mut model = Map::build(&device());
    let (mut sgd, mut adam) = (Sgd::<Map, f64, AutoDevice>::default(), Adam::<Map, f64, AutoDevice>::default());
    let optimizers: [&mut dyn Optimizer<Map, f64, AutoDevice>; 2] = [&mut sgd, &mut adam];
    for optimizer in optimizers {
        let gradients = GradientsOf::zeros(&model).allow_unused(&model);
        update(&mut model, gradients, optimizer, 0.1, NO_CLIPPING).unwrap();
        assert_eq!(optimizer.state().steps(), 1);
    }
}
