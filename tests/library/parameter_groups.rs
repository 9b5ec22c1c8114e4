//! Learning rates by parameter, frozen parameters, the moving average of a model, and schedules.

use crate::tiny_training::{InDim, OutDim, Tiny};
use dfdx::{shapes::HasShape, tensor::TensorFromVec, tensor_ops::SumTo};
use typed_transformer::nn::Linear;
use typed_transformer::ops::{OpError, mean, offset};
use typed_transformer::prelude::*;
use typed_transformer::train::{
    Adam, GradientsOf, GroupRates, MovingAverage, OneCycle, Optimizer, OptimizerState, Parameter, Parameters, Schedule,
    Sgd, Slot, compare_gradients, update,
};

/// An update by a gradient of 1 for each element, with the learning rate 0.5. Returns the norm.
fn step(model: &mut Tiny, optimizer: &mut impl Optimizer<Tiny, f32>) -> Result<f64, OpError> {
    let weight = SumTo::sum::<(), _>(model.weight.clone().put_tape(model.recording()));
    let bias = SumTo::sum::<(), _>(model.bias.clone().put_tape(model.recording()));
    let gradients = add(weight, bias)?.backward()?;
    update(model, gradients, optimizer, 0.5, f64::INFINITY)
}

fn slow_weight(parameter: &Parameter) -> f64 {
    if parameter.path == "weight" { 0.1 } else { 1.0 }
}

fn frozen_weight(parameter: &Parameter) -> f64 {
    if parameter.path == "weight" { 0.0 } else { 1.0 }
}

/// How far one step moves the first weight and the first bias.
fn moved(mut optimizer: impl Optimizer<Tiny, f32>) -> [f32; 2] {
    let mut model = Tiny::build(&Cpu::seed_from_u64(1));
    let before = [model.weight.as_vec()[0], model.bias.as_vec()[0]];
    step(&mut model, &mut optimizer).unwrap();
    [before[0] - model.weight.as_vec()[0], before[1] - model.bias.as_vec()[0]]
}

fn assert_close(found: [f32; 2], expected: [f32; 2]) {
    assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-5), "{found:?}, not {expected:?}");
}

#[test]
fn each_group_has_its_rate() {
    assert_close(moved(GroupRates::new(Sgd::default(), slow_weight)), [0.05, 0.5]);
    assert_close(moved(GroupRates::new(Adam::default(), slow_weight)), [0.05, 0.5]);
    let twice = GroupRates::new(GroupRates::new(Sgd::default(), slow_weight), slow_weight);
    assert_close(moved(twice), [0.005, 0.5]);
}

/// A closure has what a program reads from its options.
#[test]
fn rates_may_be_those_of_a_closure() {
    let (slow, path) = (0.1, String::from("weight"));
    let rate_factor = |parameter: &Parameter| if parameter.path == path { slow } else { 1.0 };
    let groups = GroupRates { inner: Sgd::<Tiny>::default(), rate_factor };
    assert_eq!(format!("{groups:?}"), format!("GroupRates {{ inner: {:?}, .. }}", groups.inner));
    assert_close(moved(groups.clone()), [0.05, 0.5]);
}

#[test]
fn a_frozen_parameter_stays_and_counts_for_no_norm_and_needs_no_gradient() {
    assert_close(moved(GroupRates::new(Adam::default(), frozen_weight)), [0.0, 0.5]);
    let mut model = Tiny::build(&Cpu::seed_from_u64(1));
    let mut optimizer = GroupRates::new(Sgd::default(), frozen_weight);
    let bias_len = model.bias.as_vec().len();
    let norm = step(&mut model, &mut optimizer).unwrap();
    assert!((norm - (bias_len as f64).sqrt()).abs() < 1e-6, "{norm}");
    let of_bias = SumTo::sum::<(), _>(model.bias.clone().put_tape(model.recording())).backward().unwrap();
    update(&mut model, of_bias, &mut optimizer, 0.5, f64::INFINITY).unwrap();
}

/// An optimizer around another one that has no `rate_factor` of its own.
struct Around<Inner>(Inner);

impl<Inner: Optimizer<Tiny, f32>> Optimizer<Tiny, f32> for Around<Inner> {
    fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Tiny>) -> Result<(), OpError> {
        self.0.step(learning_rate, parameters)
    }
    fn hyperparameters(&self) -> String {
        self.0.hyperparameters()
    }
    fn state(&self) -> &OptimizerState<Tiny, f32, [Slot<f32>]> {
        self.0.state()
    }
    fn state_mut(&mut self) -> &mut OptimizerState<Tiny, f32, [Slot<f32>]> {
        self.0.state_mut()
    }
}

#[test]
fn a_frozen_parameter_is_not_trained_by_an_optimizer_around() {
    let mut model = Tiny::build(&Cpu::seed_from_u64(1));
    let before = [model.weight.as_vec(), model.bias.as_vec()];
    let error = step(&mut model, &mut Around(GroupRates::new(Sgd::default(), frozen_weight))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "update: `rate_factor` must be 0, as that of the `GroupRates` inside of the optimizer, but it is 1",
    );
    assert_eq!([model.weight.as_vec(), model.bias.as_vec()], before);
    // One that returns the factor, and a factor that is not 0.
    assert_close(moved(GroupRates::new(GroupRates::new(Sgd::default(), frozen_weight), slow_weight)), [0.0, 0.5]);
    assert_close(moved(Around(GroupRates::new(Sgd::default(), |_| 1.0))), [0.5, 0.5]);
}

type Layer<E> = Linear<InDim, OutDim, E, Cpu>;

/// The gradients of `Σ weight² + Σ bias²`: twice the elements.
fn of_squares<E: Real>(model: &Layer<E>) -> GradientsOf<Layer<E>, E, Cpu>
where
    Cpu: Backend<E>,
{
    let weight = SumTo::sum::<(), _>(model.weight.clone().put_tape(model.recording()).square());
    let bias = SumTo::sum::<(), _>(model.bias.clone().put_tape(model.recording()).square());
    add(weight, bias).unwrap().backward().unwrap()
}

#[test]
fn a_change_of_gradients_reaches_the_update() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let mut model = Layer::<E>::build(&Cpu::seed_from_u64(1));
        let numbers = |numbers: [f64; 3]| numbers.map(|x| E::from_f64(x).unwrap());
        model.bias = tensor(&Cpu::default(), numbers([0.125, -4.0, 2.0]), (OutDim,)).unwrap();
        let before = model.bias.as_vec();
        let mut paths = Vec::new();
        let clipped = of_squares(&model).map(&model, |parameter, gradient| {
            paths.push(parameter.path.clone());
            Ok(gradient.clamp(-0.5, 0.5))
        });
        update(&mut model, clipped.unwrap(), &mut Sgd::default(), 1.0, f64::INFINITY).unwrap();
        assert_eq!(paths, ["weight", "bias"]);
        let moved: Vec<E> = before.into_iter().zip(model.bias.as_vec()).map(|(before, after)| before - after).collect();
        assert_eq!(moved, numbers([0.25, -0.5, 0.5]));

        let short = of_squares(&model).map(&model, |_, _| tensor(&Cpu::default(), [E::one(); 5], (5,)));
        assert_eq!(short.err().unwrap().to_string(), "map gradients: shape (5) is not compatible with (6)");
        let other = Layer::<E>::build(&Cpu::seed_from_u64(2));
        let error = of_squares(&other).map(&model, |_, gradient| Ok(gradient)).err().unwrap();
        assert!(matches!(error, OpError::OtherModel { .. }), "{error}");
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn noise_hides_no_parameter_without_a_gradient() {
    let mut model = Tiny::build(&Cpu::seed_from_u64(1));
    let of_bias = SumTo::sum::<(), _>(model.bias.clone().put_tape(model.recording())).backward().unwrap();
    let noisy = of_bias.map(&model, |_, gradient| offset(gradient, 0.1)).unwrap();
    let error = update(&mut model, noisy, &mut Sgd::default(), 0.5, f64::INFINITY).unwrap_err();
    assert_eq!(error, OpError::Unused { parameters: vec!["weight".into()] });
}

#[test]
fn a_factor_below_zero_is_an_error() {
    for factor in [|_: &Parameter| -1.0, |_: &Parameter| f64::NAN] {
        let mut model = Tiny::build(&Cpu::seed_from_u64(1));
        let mut optimizer = GroupRates::new(Sgd::default(), factor);
        let error = step(&mut model, &mut optimizer).unwrap_err();
        assert!(matches!(error, OpError::Hyperparameter { .. }), "{error}");
    }
}

/// Descent with momentum: `v ← 0.9 v + g`, then `θ ← θ - rate · v`.
struct Momentum<E: Real>
where
    Cpu: Backend<E>,
{
    is_in_place: bool,
    state: OptimizerState<Layer<E>, E, [Slot<E, Cpu>; 1]>,
}

impl<E: Real> Optimizer<Layer<E>, E> for Momentum<E>
where
    Cpu: Backend<E>,
{
    fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Layer<E>, E>) -> Result<(), OpError> {
        let [rate, decay] = [learning_rate, 0.9].map(|x| E::from_f64(x).unwrap());
        self.state.update(parameters, |_, mut parameter, [velocity]| {
            if self.is_in_place {
                let is_done = parameter.update_in_place([velocity], |factor, values, gradient, [velocity]| {
                    for ((value, gradient), velocity) in values.iter_mut().zip(gradient).zip(velocity) {
                        *velocity = *velocity * decay + *gradient * factor;
                        *value -= *velocity * rate;
                    }
                })?;
                assert!(is_done);
                return Ok(());
            }
            *velocity = velocity.clone() * decay + parameter.gradient()?;
            parameter.set_values(parameter.values()? - velocity.clone() * rate)
        })
    }
    fn hyperparameters(&self) -> String {
        "Momentum".into()
    }
    fn state(&self) -> &OptimizerState<Layer<E>, E, [Slot<E, Cpu>]> {
        &self.state
    }
    fn state_mut(&mut self) -> &mut OptimizerState<Layer<E>, E, [Slot<E, Cpu>]> {
        &mut self.state
    }
}

#[test]
fn an_update_in_place_has_the_bits_of_the_tensors() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let models = [true, false].map(|is_in_place| {
            let mut model = Layer::<E>::build(&Cpu::seed_from_u64(1));
            let mut optimizer = Momentum { is_in_place, state: OptimizerState::new(["velocity"]) };
            for _ in 0..3 {
                // The norm is clipped.
                let gradients = of_squares(&model);
                let norm = update(&mut model, gradients, &mut optimizer, 0.1, 0.01).unwrap();
                assert!(norm > 0.01);
            }
            [model.weight.as_vec(), model.bias.as_vec()]
        });
        assert_eq!(models[0], models[1]);
    }
    check::<f32>();
    check::<f64>();
}

/// The average of three steps, by its definition in f64.
#[test]
fn a_moving_average_is_that_of_its_formula() {
    let mut model = Tiny::build(&Cpu::seed_from_u64(1));
    let mut average = MovingAverage::new(&model, 0.7);
    let mut expected: Vec<f64> = model.weight.as_vec().into_iter().map(f64::from).collect();
    for _ in 0..3 {
        step(&mut model, &mut Sgd::default()).unwrap();
        average.add(&model).unwrap();
        for (expected, weight) in expected.iter_mut().zip(model.weight.as_vec()) {
            *expected = 0.7 * *expected + 0.3 * f64::from(weight);
        }
    }
    for (average, expected) in average.model().weight.as_vec().into_iter().zip(expected) {
        assert!((f64::from(average) - expected).abs() < 1e-6);
    }
    assert!(mean(average.model().weight.clone()).unwrap().array().is_finite());
    let error = MovingAverage::new(&model, 1.5).add(&model).unwrap_err();
    assert_eq!(error.to_string(), "update: decay must be from 0 to 1, but it is 1.5");
}

/// Stochastic weight averaging: at step `n`, `n / (n + 1)` of the average is kept.
#[test]
fn a_moving_average_may_be_the_mean() {
    let model = |bias: f32| {
        let mut model = Tiny::build(&Cpu::seed_from_u64(1));
        model.bias = tensor(&Cpu::default(), [bias; 3], (OutDim,)).unwrap();
        model
    };
    let mut average = MovingAverage::new(&model(1.0), 0.0);
    for (n, bias) in [(1.0, 2.0), (2.0, 6.0)] {
        average.decay = n / (n + 1.0);
        average.add(&model(bias)).unwrap();
    }
    assert!(average.model().bias.as_vec().iter().all(|mean| (mean - 3.0).abs() < 1e-6));
}

/// A decay of 0.999 leaves 82 % of the beginning in the average after 200 steps.
#[test]
fn a_moving_average_of_a_short_training_needs_a_decay_that_rises() {
    let model = |bias: f32| {
        let mut model = Tiny::build(&Cpu::seed_from_u64(1));
        model.bias = tensor(&Cpu::default(), [bias; 3], (OutDim,)).unwrap();
        model
    };
    let average = |decay: fn(f64) -> f64| {
        let mut average = MovingAverage::new(&model(0.0), 0.0);
        for n in 1..=200 {
            average.decay = decay(f64::from(n));
            average.add(&model(1.0)).unwrap();
        }
        average.model().bias.as_vec()[0]
    };
    assert!((average(|_| 0.999) - 0.18).abs() < 0.005);
    assert!(average(|n| (n / (n + 10.0)).min(0.999)) > 0.99);
}

#[test]
fn an_infinite_gradient_of_a_reference_differs() {
    let model = Tiny::build(&Cpu::seed_from_u64(1));
    let mut expected = model.clone();
    let mut elements = model.weight.as_vec();
    elements[0] = f32::INFINITY;
    expected.weight = Cpu::default().tensor_from_vec(elements, *model.weight.shape());
    let mut gradients = GradientsOf::zeros(&model);
    assert_eq!(compare_gradients(&model, &mut gradients, &expected).unwrap().largest(), f64::INFINITY);
}

#[test]
fn a_moving_average_of_equal_parameters_is_their_value() {
    let model = Tiny::build(&Cpu::seed_from_u64(1));
    for decay in [0.0, 0.9999, 1.0] {
        let mut average = MovingAverage::new(&model, decay);
        (0..100).for_each(|_| average.add(&model).unwrap());
        assert_eq!(average.model().weight.as_vec(), model.weight.as_vec());
    }
}

#[test]
fn a_moving_average_has_gradients_of_its_own() {
    let model = Tiny::build(&Cpu::seed_from_u64(1));
    let mut average = MovingAverage::new(&model, 0.9);
    for _ in 0..2 {
        average.add(&model).unwrap();
        let of_average = SumTo::sum::<(), _>(average.model().bias.clone().put_tape(model.recording()));
        assert_eq!(of_average.backward().unwrap().of(&model.bias).unwrap().as_vec(), [0.0; 3]);
    }
}

/// The average of so many elements that threads divide them, as operations of dfdx.
#[test]
fn a_moving_average_has_the_bits_of_its_operations() {
    dims! { Columns = 65_536; }
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let build = |seed| Linear::<Const<1>, Columns, E, Cpu>::build(&Cpu::seed_from_u64(seed));
        let (first, second) = (build(1), build(2));
        let mut average = MovingAverage::new(&first, 0.9);
        average.add(&second).unwrap();
        let rest = E::from_f64(1.0 - 0.9).unwrap();
        let expected = first.weight.clone() + (second.weight.clone() - first.weight.clone()) * rest;
        assert_eq!(average.model().weight.as_vec(), expected.as_vec());
        assert_ne!(first.weight.as_vec(), expected.as_vec());
    }
    check::<f32>();
    check::<f64>();
}

/// `OneCycleLR(max_lr=0.8, total_steps=50)` of PyTorch 2.15.
#[test]
fn one_cycle_is_that_of_pytorch() {
    let schedule = OneCycle { peak_value: 0.8, steps: 50 };
    let expected = [
        (0, 0.032),
        (1, 0.04162768172217979),
        (7, 0.416),
        (14, 0.8),
        (15, 0.7983897240392254),
        (30, 0.4536946915538369),
        (49, 3.2e-06),
    ];
    for (step, rate) in expected {
        assert!((schedule.learning_rate(step) - rate).abs() < 1e-12, "{step}: {}", schedule.learning_rate(step));
    }
}
