//! Mixed precision: a copy of the model runs in fewer bits, and its gradients update the model.
//!
//! Copies in `f32` of `f64` models are always tested, copies in `AMP<f16>` with the feature `f16`.

use crate::recorded::{OwnTape, of_model};
use dfdx::nn::{TensorCollection, ToDtype};
use dfdx::shapes::HasShape;
use dfdx::tensor::{AutoDevice, OnesTensor};
use dfdx::tensor_ops::SumTo;
use typed_transformer::nn::Linear;
use typed_transformer::ops::scale;
use typed_transformer::prelude::*;
use typed_transformer::train::{
    Backpropagate, GradientsOf, Optimizer, OptimizerState, Parameter, Parameters, Slot, master_gradients, update,
};

dims! {
    VocabSize = 11; MaxSeqLen = 8; EmbedDim = 12; NumHeads = 3; HeadDim = 4; HiddenDim = 20;
    NumLayers = 2; SeqLen = 7; Batch = 5;
}

struct Small;
impl Arch for Small {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}
impl SingleStack for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}
type Model<E> = DecoderOnly<Small, E, AutoDevice>;

type Map<E> = Linear<Const<2>, Const<2>, E, AutoDevice>;

/// Sequences that count up from any token, modulo the vocabulary size.
fn counting_batch() -> (TokenIds<Batch, SeqLen, VocabSize>, LabelIds<Batch, SeqLen, VocabSize>) {
    let [ids, labels] = [0, 1].map(|next| {
        let position = |i| 3 * (i / SeqLen::SIZE) + i % SeqLen::SIZE + next;
        let ids: Vec<_> = (0..Batch::SIZE * SeqLen::SIZE).map(|i| position(i) % VocabSize::SIZE).collect();
        TokenIds::from_ids(&ids, None, (Batch, SeqLen)).unwrap()
    });
    (ids, labels.into())
}

/// The loss, and the gradients of `factor` times the loss.
/// The factor is applied in two steps, because it may not fit into 16 bits.
fn loss_and_gradients<E: Real>(model: &Model<E>, factor: f64) -> (f64, GradientsOf<Model<E>, E, AutoDevice>)
where
    AutoDevice: Backend<E>,
{
    let (ids, labels) = counting_batch();
    let logits = model.forward(&ids, OwnTape::default()).unwrap();
    let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
    let value = loss.array().to_f64().unwrap();
    let loss = scale(scale(loss, factor.sqrt()).unwrap(), factor.sqrt()).unwrap();
    (value, of_model(loss, model).backward().unwrap())
}

/// A parameter with its elements and its gradient.
struct Recorded<E> {
    parameter: Parameter,
    values: Vec<E>,
    gradient: Vec<E>,
}

/// An optimizer that records the gradients and changes nothing.
struct RecordGradients<Model, E: Real>
where
    AutoDevice: Backend<E>,
{
    state: OptimizerState<Model, E, [Slot<E, AutoDevice>; 0]>,
    parameters: Vec<Recorded<E>>,
}

impl<Model: TensorCollection<E, AutoDevice>, E: Real> Optimizer<Model, E, AutoDevice> for RecordGradients<Model, E>
where
    AutoDevice: Backend<E>,
{
    fn step(&mut self, _: f64, parameters: Parameters<'_, Model, E, AutoDevice>) -> Result<(), OpError> {
        let recorded = &mut self.parameters;
        self.state.update(parameters, |_, mut parameter, []| {
            // dfdx's `as_vec` panics on a tensor without elements.
            let elements = |tensor: Tensor<(usize,), E, AutoDevice>| match tensor.shape().0 {
                0 => Vec::new(),
                _ => tensor.as_vec(),
            };
            let (values, gradient) = (elements(parameter.values()?), elements(parameter.gradient()?));
            recorded.push(Recorded { parameter: parameter.clone(), values, gradient });
            Ok(())
        })
    }
    fn hyperparameters(&self) -> String {
        "looks".into()
    }
    fn state(&self) -> &OptimizerState<Model, E, [Slot<E, AutoDevice>]> {
        &self.state
    }
    fn state_mut(&mut self) -> &mut OptimizerState<Model, E, [Slot<E, AutoDevice>]> {
        &mut self.state
    }
}

/// Every parameter with its gradient.
fn recorded_parameters<E: Real, Collection: TensorCollection<E, AutoDevice>>(
    model: &mut Collection,
    gradients: GradientsOf<Collection, E, AutoDevice>,
) -> Vec<Recorded<E>>
where
    AutoDevice: Backend<E>,
{
    let mut recorded_parameters = RecordGradients { state: OptimizerState::new([]), parameters: Vec::new() };
    update(model, gradients, &mut recorded_parameters, 0.0, f64::INFINITY).unwrap();
    recorded_parameters.parameters
}

/// The gradients of a copy equal those of the model up to rounding, at every loss scale.
#[track_caller]
fn check_gradients<E: Real, CopyE: Real>(to_copy: impl Fn(&Model<E>) -> Model<CopyE>, scales: &[f64], tolerance: f64)
where
    AutoDevice: Backend<E> + Backend<CopyE>,
{
    let mut model = Model::<E>::build(&AutoDevice::seed_from_u64(1));
    let (loss, gradients) = loss_and_gradients(&model, 1.0);
    let exact = recorded_parameters(&mut model, gradients);
    assert!(exact.len() > 20);
    for &scale in scales {
        let copy = to_copy(&model);
        let (copy_loss, gradients) = loss_and_gradients(&copy, scale);
        assert!((copy_loss - loss).abs() <= tolerance * loss, "{copy_loss} and {loss}");
        let gradients = master_gradients(&model, &copy, gradients, scale, GradientsOf::zeros(&model)).unwrap();
        let ours = recorded_parameters(&mut model, gradients);
        assert_eq!(ours.len(), exact.len());
        for (ours, exact) in ours.iter().zip(&exact) {
            assert_eq!(ours.parameter, exact.parameter);
            assert_eq!(ours.values, exact.values);
            let norm = |gradient: &mut dyn Iterator<Item = E>| {
                gradient.map(|x| x.to_f64().unwrap().powi(2)).sum::<f64>().sqrt()
            };
            let size = norm(&mut exact.gradient.iter().copied());
            let pairs = ours.gradient.iter().zip(&exact.gradient);
            let error = norm(&mut pairs.map(|(&ours, &exact)| ours - exact));
            // The gradient of a key's bias is zero up to rounding.
            assert!(error <= tolerance * (size + 1e-2), "{} by {scale}: {error} of {size}", ours.parameter.path);
        }
    }
}

#[test]
fn gradients_of_an_f32_copy_match_those_of_an_f64_model() {
    check_gradients::<f64, f32>(ToDtype::to_dtype, &[1.0, 1024.0, 3.0], 1e-5);
}

/// An unused parameter has gradient 0 and does not reach the optimizer; a parameter used twice has the sum of both
/// gradients.
#[test]
fn each_parameter_gets_its_own_gradient() {
    let device = AutoDevice::seed_from_u64(0);
    let mut model: (Map<f64>, Map<f64>) = (Linear::build(&device), Linear::build(&device));
    let copy: (Map<f32>, Map<f32>) = model.to_dtype();
    let input: Tensor<(Const<1>, Const<1>, Const<2>), f32, AutoDevice> = device.tensor([[[1.0, 2.0]]]);
    let [[[first, last]]] = copy.1.forward(input.clone()).unwrap().array();
    let twice = copy.1.forward(copy.1.forward(input.put_tape(copy.recording())).unwrap()).unwrap();
    let gradients = scale(twice.sum(), 8.0).unwrap().backward().unwrap();
    let mut gradients = master_gradients(&model, &copy, gradients, 8.0, GradientsOf::zeros(&model)).unwrap();
    let unused_part = model.0.clone();
    assert_eq!(gradients.of(&unused_part.weight).unwrap().array(), [[0.0; 2]; 2]);
    assert_eq!(gradients.of(&unused_part.bias).unwrap().array(), [0.0; 2]);
    let parameters = recorded_parameters(&mut model, gradients.allow_unused(&unused_part));
    assert!(parameters.iter().map(|p| &p.parameter.path[..]).eq(["1.weight", "1.bias"]));
    let [[a, b], [c, d]] = copy.1.weight.array();
    let expected =
        [first + (a + c), last + 2.0 * (a + c), first + (b + d), last + 2.0 * (b + d), 1.0 + a + c, 1.0 + b + d];
    let found = parameters.iter().flat_map(|p| &p.gradient);
    for (found, expected) in found.zip(expected) {
        let difference = (found - f64::from(expected)).abs();
        assert!(difference < 1e-6, "{found} and {expected}");
    }
}

// dfdx does not run kernels without elements on a GPU.
#[cfg(not(feature = "cuda"))]
#[test]
fn an_empty_parameter_gets_an_empty_gradient() {
    type Both<E> = (Linear<Const<0>, Const<2>, E, AutoDevice>, Linear<Const<2>, Const<1>, E, AutoDevice>);
    let mut model: Both<f64> = <_>::build(&AutoDevice::seed_from_u64(0));
    let copy: Both<f32> = model.to_dtype();
    let input: Tensor<(Const<1>, Const<1>, Const<2>), f32, AutoDevice> = AutoDevice::default().ones();
    let gradients = copy.1.forward(input.put_tape(copy.recording())).unwrap().sum().backward().unwrap();
    let gradients = master_gradients(&model, &copy, gradients, 1.0, GradientsOf::zeros(&model)).unwrap();
    let unused_part = model.0.clone();
    let parameters = recorded_parameters(&mut model, gradients.allow_unused(&unused_part));
    let found: Vec<_> = parameters.iter().map(|p| p.gradient.clone()).collect();
    // That without elements, and those of the second layer; the bias of the first is unused.
    assert_eq!(found, [vec![], vec![1.0; 2], vec![1.0]]);
}

/// Accumulates a bias gradient over more positions than 16 bits can sum.
#[track_caller]
fn check_parts<E: Real, CopyE: Real>(to_copy: impl Fn(&Map<E>) -> Map<CopyE>, tolerance: f64)
where
    AutoDevice: Backend<E> + Backend<CopyE>,
{
    const PARTS: usize = 64;
    dims! { Batch = 1; SeqLen = 200; }
    let device = AutoDevice::seed_from_u64(0);
    let mut model: Map<E> = Linear::build(&device);
    let copy = to_copy(&model);
    let labels = LabelIds::from_ids(&[0; SeqLen::SIZE], None, (Batch, SeqLen)).unwrap();
    let mut gradients = GradientsOf::zeros(&model);
    for _ in 0..PARTS {
        let input: Tensor<(Batch, SeqLen, Const<2>), CopyE, AutoDevice> = device.ones();
        let logits = copy.forward(input.put_tape(copy.recording())).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        let part = scale(scale(loss, 1.0 / PARTS as f64).unwrap(), 1024.0).unwrap().backward().unwrap();
        gradients = master_gradients(&model, &copy, part, 1024.0, gradients).unwrap();
    }
    let input: Tensor<(Const<1>, Const<1>, Const<2>), E, AutoDevice> = device.ones();
    // There are two logits.
    let logits = model.forward(input).unwrap().as_vec();
    let odds = (logits[1] - logits[0]).exp();
    let expected_gradient = E::one() / (E::one() + odds) - E::one();
    let expected_gradient = expected_gradient.to_f64().unwrap();
    let bias = recorded_parameters(&mut model, gradients)[1].gradient[0].to_f64().unwrap();
    assert!((bias - expected_gradient).abs() <= tolerance * expected_gradient.abs(), "{bias} and {expected_gradient}");
}

#[test]
fn microbatch_gradients_accumulate_in_f64() {
    check_parts::<f64, f32>(ToDtype::to_dtype, 1e-5);
}

#[cfg(feature = "f16")]
mod half {
    use super::*;
    use dfdx::dtypes::{AMP, f16};
    use typed_transformer::ops::{Activation, GeluTanh};
    use typed_transformer::train::Adam;

    /// `f16` has a significand of 11 bits.
    type Half = AMP<f16>;

    #[test]
    fn gradients_of_a_half_precision_copy_match_those_of_an_f32_model() {
        check_gradients::<f32, Half>(ToDtype::to_dtype, &[16.0, 1024.0], 2e-2);
    }

    #[test]
    fn microbatch_gradients_accumulate_in_f32() {
        check_parts::<f32, Half>(ToDtype::to_dtype, 2e-2);
    }

    /// With 1,024 equal numbers the square of the sum of their exponentials is infinite in `f16`.
    #[test]
    fn a_softmax_of_many_numbers_has_its_gradient() {
        dims! { Keys = 1024; }
        fn gradient<E: Real>() -> Vec<f64>
        where
            AutoDevice: Backend<E>,
        {
            let numbers =
                |number: fn(usize) -> f64| (0..1024).map(|i| E::from_f64(number(i)).unwrap()).collect::<Vec<_>>();
            let x: Tensor<(Keys,), E, AutoDevice> = AutoDevice::default().tensor(numbers(|_| 0.0));
            let factor: Tensor<(Keys,), E, AutoDevice> = AutoDevice::default().tensor(numbers(|i| (i % 5) as f64));
            let weights = softmax_over(x.clone().put_tape(OwnTape::default()), axis::<Keys>()).unwrap();
            let sum = sum_over(mul(weights, &factor).unwrap(), axis::<Keys>()).unwrap();
            let mut gradients = Backpropagate::backward(sum).unwrap();
            gradients.of(&x).unwrap().as_vec().into_iter().map(|x| x.to_f64().unwrap()).collect()
        }
        for (half, single) in gradient::<Half>().into_iter().zip(gradient::<f32>()) {
            assert!((half - single).abs() < 2e-4, "{half} {single}");
        }
    }

    /// The square of 300 is infinite in `f16`.
    #[test]
    fn gelu_has_its_gradient_far_from_0() {
        dims! { Numbers = 2; }
        let half = |x| AMP(f16::from_f64(x));
        let x: Tensor<(Numbers,), Half, AutoDevice> = AutoDevice::default().tensor(vec![half(300.0), half(-300.0)]);
        let y = GeluTanh::apply(x.clone().put_tape(OwnTape::default())).unwrap();
        assert_eq!(y.as_vec(), [half(300.0), half(0.0)]);
        let mut gradients = Backpropagate::backward(sum_over(y, axis::<Numbers>()).unwrap()).unwrap();
        assert_eq!(gradients.of(&x).unwrap().as_vec(), [half(1.0), half(0.0)]);
    }

    /// Weights are drawn from a uniform and from a normal distribution.
    #[test]
    fn a_seed_gives_the_same_initial_weights_in_every_dtype() {
        fn weights<E: Real>() -> Vec<E>
        where
            AutoDevice: Backend<E>,
        {
            let model = Model::<E>::build(&AutoDevice::seed_from_u64(5));
            let embeddings = model.embedder.token_embedder.weight.as_vec();
            [embeddings, model.logit.weight.unwrap().as_vec()].concat()
        }
        for ((half, single), double) in weights::<Half>().into_iter().zip(weights::<f32>()).zip(weights::<f64>()) {
            assert_eq!(double as f32, single);
            assert_eq!(half, AMP(f16::from_f64(double)));
        }
    }

    /// Gradients that underflow in `f16` survive if the loss is scaled.
    #[test]
    fn loss_scaling_keeps_small_gradients() {
        let mut model = Model::<f32>::build(&AutoDevice::seed_from_u64(1));
        let copy = model.to_dtype::<Half>();
        let mut norm = |factor: f64| {
            let (_, gradients) = loss_and_gradients(&copy, factor * 1e-6);
            let gradients = master_gradients(&model, &copy, gradients, factor, GradientsOf::zeros(&model)).unwrap();
            let all = recorded_parameters(&mut model, gradients).into_iter().flat_map(|p| p.gradient);
            all.map(|x| f64::from(x).powi(2)).sum::<f64>().sqrt()
        };
        let [lost, kept] = [1.0, 1e6].map(&mut norm);
        assert!(lost < 0.5 * kept, "{lost} of {kept}");
    }

    #[test]
    fn infinite_gradients_leave_the_model_unchanged() {
        let mut model = Model::<f32>::build(&AutoDevice::seed_from_u64(1));
        let weight = |model: &Model<f32>| model.logit.weight.as_ref().unwrap().as_vec();
        let before = weight(&model);
        let copy = model.to_dtype::<Half>();
        let (_, gradients) = loss_and_gradients(&copy, 1e8);
        let gradients = master_gradients(&model, &copy, gradients, 1e8, GradientsOf::zeros(&model)).unwrap();
        let result = update(&mut model, gradients, &mut Adam::default(), 0.1, 1.0);
        assert!(matches!(result, Err(OpError::Gradient { .. })), "{result:?}");
        assert_eq!(weight(&model), before);
    }

    /// In mixed precision a model reaches the loss that it reaches in single precision.
    #[test]
    fn a_model_learns_in_mixed_precision() {
        let mut single = Model::<f32>::build(&AutoDevice::seed_from_u64(2));
        let mut mixed = Model::<f32>::build(&AutoDevice::seed_from_u64(2));
        let [mut adam, mut mixed_adam] = [Adam::default(), Adam::default()];
        let (mut loss, mut mixed_loss) = (0.0, 0.0);
        for step in 0..150 {
            let gradients;
            (loss, gradients) = loss_and_gradients(&single, 1.0);
            update(&mut single, gradients, &mut adam, 0.01, 1.0).unwrap();

            let copy = mixed.to_dtype::<Half>();
            let gradients;
            (mixed_loss, gradients) = loss_and_gradients(&copy, 1024.0);
            let gradients = master_gradients(&mixed, &copy, gradients, 1024.0, GradientsOf::zeros(&mixed)).unwrap();
            update(&mut mixed, gradients, &mut mixed_adam, 0.01, 1.0).unwrap();
            if step == 0 {
                assert!(loss > 2.0 && (loss - mixed_loss).abs() < 0.01);
            }
        }
        assert!(loss < 0.05 && mixed_loss < 0.05, "{loss} and {mixed_loss}");
    }
}
