//! Training against PyTorch and optax: 20 steps of each optimizer, schedule and loss on a small
//! problem, which `tests/fixtures/training.py` describes.

use dfdx::tensor::{Cpu, OwnedTape, Tensor};
use safetensors::SafeTensors;
use std::{array::from_fn, fs, path::Path, sync::LazyLock};
use typed_transformer::{
    module,
    nn::Linear,
    ops::{Activation, Relu},
    prelude::*,
    train::{Adam, AdamW, Optimizer, Schedule, Sgd, WarmupCosine, update},
};

dims! { Batch = 4; SeqLen = 2; InDim = 3; HiddenDim = 5; VocabSize = 7; }

module! {
    /// `logit(relu(hidden(x)))`.
    struct Classifier<E, D> {
        hidden: module Linear<InDim, HiddenDim, E, D>,
        logit: module Linear<HiddenDim, VocabSize, E, D>,
    }
}

const STEPS: usize = 20;

// ---- The fixture ----

static FIXTURE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    fs::read(tests.join("fixtures/training.safetensors")).unwrap()
});

/// The numbers under a key.
fn numbers(key: &str) -> Vec<f64> {
    let file = SafeTensors::deserialize(&FIXTURE).unwrap();
    let (elements, _) = file.tensor(key).unwrap().data().as_chunks();
    elements
        .iter()
        .map(|&bytes| f64::from_le_bytes(bytes))
        .collect()
}

fn tensor<Dims: Shape + Default, E: Real>(key: &str) -> Tensor<Dims, E, Cpu>
where
    Cpu: Backend<E>,
{
    let elements = numbers(key).into_iter().map(|x| E::from_f64(x).unwrap());
    Cpu::default().tensor_from_vec(elements.collect(), Dims::default())
}

fn labels() -> TokenIds<Batch, SeqLen, VocabSize> {
    let file = SafeTensors::deserialize(&FIXTURE).unwrap();
    let (elements, _) = file.tensor("labels").unwrap().data().as_chunks();
    let ids: Vec<_> = elements
        .iter()
        .map(|&bytes| u64::from_le_bytes(bytes) as usize)
        .collect();
    TokenIds::from_ids(&ids, Some(Fin::literal::<6>()), (Batch, SeqLen)).unwrap()
}

/// The model before the first step.
fn start<E: Real>() -> Classifier<E, Cpu>
where
    Cpu: Backend<E>,
{
    let mut model = Classifier::build(&Cpu::default());
    model.hidden.weight = tensor("weights.hidden.weight");
    model.hidden.bias = tensor("weights.hidden.bias");
    model.logit.weight = tensor("weights.logit.weight");
    model.logit.bias = tensor("weights.logit.bias");
    model
}

// ---- Training ----

fn logits<E: Real, T: Tape<E, Cpu>>(
    model: &Classifier<E, Cpu>,
    tape: T,
) -> Tensor<(Batch, SeqLen, VocabSize), E, Cpu, T>
where
    Cpu: Backend<E>,
{
    let input: Tensor<(Batch, SeqLen, InDim), E, Cpu> = tensor("input");
    let hidden = model.hidden.forward(input.put_tape(tape));
    model.logit.forward(Relu::try_apply(hidden).unwrap())
}

/// Trains for 20 steps; at each of them loss, norm and rate are those of the case, and at the end
/// the parameters are.
#[track_caller]
fn check<E: Real>(
    case: &str,
    tolerance: f64,
    mut optimizer: impl Optimizer<Classifier<E, Cpu>, E>,
    schedule: impl Fn(usize) -> f64,
    max_norm: f64,
) where
    Cpu: Backend<E>,
{
    let close = |what: &str, ours: &[f64]| {
        let theirs = numbers(&format!("{case}.{what}"));
        assert_eq!(ours.len(), theirs.len());
        for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let difference = (ours - theirs).abs();
            assert!(
                difference <= tolerance * (1.0 + theirs.abs()),
                "{case}.{what} at {i}: {ours} and {theirs}"
            );
        }
    };
    let mut model = start::<E>();
    let [mut losses, mut norms] = [[0.0; STEPS]; 2];
    for step in 0..STEPS {
        let loss = cross_entropy(
            logits(&model, OwnedTape::default()),
            &labels(),
            Average::EveryPosition,
        );
        losses[step] = loss.array().to_f64().unwrap();
        let rate = schedule(step);
        norms[step] = update(&mut model, loss.backward(), &mut optimizer, rate, max_norm).unwrap();
    }
    close("loss", &losses);
    close("norm", &norms);
    close("rate", &from_fn::<_, STEPS, _>(schedule));
    let Classifier { hidden, logit, .. } = model;
    let elements = |x: Vec<E>| x.iter().map(|x| x.to_f64().unwrap()).collect::<Vec<_>>();
    close("hidden.weight", &elements(hidden.weight.as_vec()));
    close("hidden.bias", &elements(hidden.bias.as_vec()));
    close("logit.weight", &elements(logit.weight.as_vec()));
    close("logit.bias", &elements(logit.bias.as_vec()));
}

/// [`check`] in double precision, by definition, and in single precision, by kernels.
macro_rules! agrees {
    ($case:literal, $optimizer:expr, $schedule:expr, $max_norm:expr) => {
        check::<f64>($case, 1e-11, $optimizer, $schedule, $max_norm);
        check::<f32>($case, 1e-4, $optimizer, $schedule, $max_norm);
    };
}

const NO_CLIPPING: f64 = f64::INFINITY;

/// A value with some of its fields set.
fn with<T: Default>(set: impl FnOnce(&mut T)) -> T {
    let mut value = T::default();
    set(&mut value);
    value
}

#[test]
fn gradient_descent_is_pytorch_s() {
    agrees!("sgd", Sgd::default(), |_| 0.1, NO_CLIPPING);
    agrees!(
        "momentum",
        with(|it: &mut Sgd<_, _>| it.momentum = 0.9),
        |_| 0.1,
        NO_CLIPPING
    );
}

#[test]
fn adam_is_pytorch_s_and_optax_s() {
    agrees!(
        "adam",
        with(|it: &mut Adam<_, _>| it.beta2 = 0.99),
        |_| 0.03,
        NO_CLIPPING
    );
    agrees!("adam_of_optax", Adam::default(), |_| 0.03, NO_CLIPPING);
}

#[test]
fn adamw_decays_the_parameters_that_it_is_told_to() {
    agrees!(
        "adamw_matrices",
        with(|it: &mut AdamW<_, _>| {
            it.weight_decay = 0.1;
            it.adam.beta2 = 0.99;
        }),
        |_| 0.03,
        NO_CLIPPING
    );
    agrees!(
        "adamw_by_path",
        with(|it: &mut AdamW<_, _>| {
            it.weight_decay = 0.1;
            it.decays = |parameter| parameter.path.starts_with("logit");
        }),
        |_| 0.03,
        NO_CLIPPING
    );
}

#[test]
fn clipping_and_warmup_cosine_are_optax_s() {
    let schedule = WarmupCosine {
        peak: 0.04,
        last: 0.01,
        warmup_steps: 4,
        steps: 16,
    };
    agrees!(
        "adamw_warmup_cosine",
        with(|it: &mut AdamW<_, _>| {
            it.weight_decay = 0.1;
            it.adam.beta2 = 0.99;
        }),
        |step| schedule.learning_rate(step),
        0.2
    );
}
