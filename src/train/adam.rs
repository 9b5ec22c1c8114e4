use super::optimizer::{ensure, ensure_decay_rate, ensure_non_negative, of_inner};
use super::{Optimizer, OptimizerState, Parameter, ParameterMut, Parameters, Slot};
use crate::backend::{AdamStep, Backend};
use crate::nn::HasParameters;
use crate::ops::{OpError, Real, cast, device_error};
use dfdx::tensor::{Cpu, Tensor};
use dfdx::tensor_ops::{TryAdd, TryDiv, TryMul, TrySub};

/// Adam ([Kingma and Ba, 2014](https://arxiv.org/abs/1412.6980), algorithm 1).
///
/// At step `t`, the first being 1:
/// `m ← β₁ m + (1 - β₁) g`, `v ← β₂ v + (1 - β₂) g²`,
/// `θ ← θ - rate · m / (1 - β₁ᵗ) / (√(v / (1 - β₂ᵗ)) + ε)`.
///
/// `m`, `v` and `t` are those of one model. Two models of one type, such as two critics, need an `Adam` each.
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*, train::{Adam, update}};
/// let mut model = Linear::<Const<1>, Const<2>, f64, Cpu>::build(&Cpu::default());
/// let before = model.bias.array();
/// let gradient: Tensor<(Const<2>,), f64, Cpu> = Cpu::default().tensor([3.0, -0.001]);
/// let weighted = mul(model.bias.clone().put_tape(model.recording()), &gradient)?;
/// let gradients = sum_over(weighted, axis::<Const<2>>())?.backward()?;
/// let gradients = gradients.allow_unused(&model.weight);
/// let mut adam = Adam { beta2: 0.98, ..Adam::default() };
/// update(&mut model, gradients, &mut adam, 0.1, f64::INFINITY)?;
/// // The first step has the size of the learning rate, whatever the size of the gradient.
/// assert!((model.bias.array()[0] - (before[0] - 0.1)).abs() < 1e-6);
/// assert!((model.bias.array()[1] - (before[1] + 0.1)).abs() < 1e-5);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adam<Model, E: Real = f32, D: Backend<E> = Cpu> {
    /// `β₁`, the decay rate of the average of the gradients, at least 0 and below 1, also when rounded to `E`.
    pub beta1: f64,
    /// `β₂`, the decay rate of the average of the squared gradients, at least 0 and below 1, also when rounded to `E`.
    pub beta2: f64,
    /// `ε`, added to the denominator; above 0.
    pub epsilon: f64,
    // `Adam { beta2: 0.98, ..Adam::default() }` needs a field that is public.
    #[doc(hidden)]
    pub state: OptimizerState<Model, E, [Slot<E, D>; 2]>,
}

impl<Model, E: Real, D: Backend<E>> Default for Adam<Model, E, D> {
    fn default() -> Self {
        let state = OptimizerState::new(["exp_avg", "exp_avg_sq"]);
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, state }
    }
}

impl<Model: HasParameters<E, D>, E: Real, D: Backend<E>> Adam<Model, E, D> {
    /// A step that first multiplies each parameter by `1 - rate · weight_decay`.
    fn step_with_decay(
        &mut self,
        learning_rate: f64,
        parameters: Parameters<'_, Model, E, D>,
        weight_decay: impl Fn(&Parameter) -> f64,
    ) -> Result<(), OpError> {
        let bias_correction = |beta: f64, steps: u64| 1.0 - beta.powf(steps as f64);
        let (beta1, beta2) = (self.beta1, self.beta2);
        ensure_decay_rate::<E>("beta1", beta1)?;
        ensure_decay_rate::<E>("beta2", beta2)?;
        let epsilon: E = cast(self.epsilon);
        // With an epsilon of 0, a gradient that is always 0 makes its parameter NaN. A valid `f64` may be 0 or infinite
        // in `E`.
        let is_valid = epsilon.is_finite() && epsilon > E::zero();
        ensure("epsilon", self.epsilon, is_valid, "above 0 in the type of the parameters, and finite")?;
        self.state.update(parameters, |steps, mut parameter, [exp_avg, exp_avg_sq]| {
            let learning_rate = learning_rate * parameter.rate_factor();
            let step = AdamStep {
                corrected_rate: cast(learning_rate / bias_correction(beta1, steps)),
                inv_sqrt_correction: cast(1.0 / bias_correction(beta2, steps).sqrt()),
                beta1: cast(beta1),
                beta2: cast(beta2),
                epsilon,
                decay_factor: cast(1.0 - learning_rate * weight_decay(&parameter)),
            };
            // In one pass in CPU memory.
            let slots = [&mut *exp_avg, &mut *exp_avg_sq];
            let is_done = parameter.update_in_place(slots, |factor, values, gradient, averages| {
                D::adam_step(&step, factor, values, gradient, averages);
            })?;
            if is_done { Ok(()) } else { update_by_dfdx(&step, &mut parameter, exp_avg, exp_avg_sq) }
        })
    }
}

/// The step as dfdx operations, which run on every device.
fn update_by_dfdx<E: Real, D: Backend<E>>(
    step: &AdamStep<E>,
    parameter: &mut ParameterMut<'_, E, D>,
    exp_avg: &mut Tensor<(usize,), E, D>,
    exp_avg_sq: &mut Tensor<(usize,), E, D>,
) -> Result<(), OpError> {
    let gradient = parameter.gradient()?;
    let values = parameter.values()?;
    let run = || -> Result<_, D::Err> {
        let square = gradient.clone().try_mul(E::one() - step.beta2)?.try_mul(gradient.clone())?;
        D::scale_and_add(exp_avg, step.beta1, &gradient, E::one() - step.beta1)?;
        D::scale_and_add(exp_avg_sq, step.beta2, &square, E::one())?;
        let root = exp_avg_sq.clone().try_sqrt()?;
        let denominator = root.try_mul(step.inv_sqrt_correction)?.try_add(step.epsilon)?;
        let change = exp_avg.clone().try_mul(step.corrected_rate)?.try_div(denominator)?;
        values.try_mul(step.decay_factor)?.try_sub(change)
    };
    let values = run().map_err(device_error("Adam"))?;
    parameter.set_values(values)
}

impl<Model: HasParameters<E, D>, E: Real, D: Backend<E>> Optimizer<Model, E, D> for Adam<Model, E, D> {
    fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError> {
        self.step_with_decay(learning_rate, parameters, |_| 0.0)
    }

    fn hyperparameters(&self) -> String {
        format!("Adam {{ beta1: {:?}, beta2: {:?}, epsilon: {:?} }}", self.beta1, self.beta2, self.epsilon)
    }

    fn state(&self) -> &OptimizerState<Model, E, [Slot<E, D>]> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut OptimizerState<Model, E, [Slot<E, D>]> {
        &mut self.state
    }
}

/// Adam with decoupled weight decay ([Loshchilov and Hutter, 2017](https://arxiv.org/abs/1711.05101), as in PyTorch).
///
/// `θ ← θ - rate · weight_decay · θ` for the parameters that [`weight_decay_filter`](Self::weight_decay_filter)
/// selects, then [`Adam`] for all. Two models of one type need an `AdamW` each.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::AdamW};
/// let mut adamw = AdamW::<Linear<EmbedDim, VocabSize, f32, Cpu>, f32>::default();
/// assert_eq!(adamw.weight_decay, 0.01);
/// adamw.adam.beta2 = 0.98;
/// // The default decays all matrices. This filter excludes embeddings.
/// adamw.weight_decay_filter = |parameter| parameter.is_matrix() && !parameter.path.contains("embedder");
/// ```
#[derive(Clone, Debug)]
pub struct AdamW<Model, E: Real = f32, D: Backend<E> = Cpu> {
    /// The step that follows the decay.
    pub adam: Adam<Model, E, D>,
    /// One step removes the fraction `rate · weight_decay` of a parameter.
    pub weight_decay: f64,
    /// Whether a parameter decays; by default, [every matrix](Parameter::is_matrix) does. A checkpoint does
    /// not store the filter, so resuming cannot detect another one.
    pub weight_decay_filter: fn(&Parameter) -> bool,
}

impl<Model, E: Real, D: Backend<E>> Default for AdamW<Model, E, D> {
    fn default() -> Self {
        Self { adam: Adam::default(), weight_decay: 0.01, weight_decay_filter: Parameter::is_matrix }
    }
}

impl<Model: HasParameters<E, D>, E: Real, D: Backend<E>> Optimizer<Model, E, D> for AdamW<Model, E, D> {
    fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError> {
        ensure_non_negative::<E>("weight_decay", self.weight_decay)?;
        let (weight_decay, decays) = (self.weight_decay, self.weight_decay_filter);
        let weight_decay = |parameter: &Parameter| if decays(parameter) { weight_decay } else { 0.0 };
        self.adam.step_with_decay(learning_rate, parameters, weight_decay)
    }

    fn hyperparameters(&self) -> String {
        let adam = self.adam.hyperparameters();
        format!("AdamW {{ weight_decay: {:?}, adam: {adam} }}", self.weight_decay)
    }

    of_inner!(self => self.adam; state);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Gradients;
    use dfdx::shapes::Rank2;
    use dfdx::tensor::{SampleTensor, TensorFromVec};

    /// Values, averages and averages of squares after three steps.
    fn train<E: Real>(is_in_place: bool) -> [Vec<E>; 3]
    where
        Cpu: Backend<E>,
        rand_distr::StandardNormal: rand_distr::Distribution<E>,
    {
        let device = Cpu::seed_from_u64(3);
        let mut model: Tensor<Rank2<7, 31>, E, Cpu> = device.sample_normal();
        let [mut m, mut v] = [0.0; 2].map(|zero| device.tensor_from_vec(vec![cast(zero); 7 * 31], (7 * 31,)));
        for steps in 1..4 {
            let gradient: Tensor<Rank2<7, 31>, E, Cpu> = device.sample_normal();
            let mut gradients = Gradients::default();
            let elements = Cpu::gradient_mut(&mut gradients, &model).unwrap().unwrap();
            elements.copy_from_slice(&gradient.as_vec());
            let step = AdamStep {
                corrected_rate: cast(0.01 * f64::from(steps)),
                inv_sqrt_correction: cast(1.3),
                beta1: cast(0.9),
                beta2: cast(0.99),
                epsilon: cast(1e-8),
                decay_factor: cast(0.97),
            };
            let mut parameters = Parameters::new(&mut model, gradients);
            parameters.gradient_factor = Some(cast(0.37));
            parameters
                .for_each(&mut |mut parameter: ParameterMut<'_, E, Cpu>| {
                    if !is_in_place {
                        return update_by_dfdx(&step, &mut parameter, &mut m, &mut v);
                    }
                    let is_done = parameter.update_in_place([&mut m, &mut v], |factor, values, gradient, slots| {
                        Cpu::adam_step(&step, factor, values, gradient, slots);
                    })?;
                    assert!(is_done);
                    Ok(())
                })
                .unwrap();
        }
        [model.as_vec(), m.as_vec(), v.as_vec()]
    }

    #[test]
    fn a_step_in_place_has_the_same_bits_as_the_definition() {
        assert_eq!(train::<f32>(true), train::<f32>(false));
        assert_eq!(train::<f64>(true), train::<f64>(false));
    }
}
