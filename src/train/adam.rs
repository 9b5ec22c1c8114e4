use super::{
    Optimizer, OptimizerState, Parameter, Slot,
    elementwise::{for_each, update_elements},
};
use crate::{
    backend::dispatch_simd,
    ops::{Real, cast},
};

/// Adam ([Kingma and Ba, 2014](https://arxiv.org/abs/1412.6980), algorithm 1).
///
/// At step `t`, the first being 1:
/// `m ← β₁ m + (1 - β₁) g`, `v ← β₂ v + (1 - β₂) g²`,
/// `θ ← θ - rate · m / (1 - β₁ᵗ) / (√(v / (1 - β₂ᵗ)) + ε)`.
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*, train::{Adam, update}};
/// let mut model = Linear::<Const<1>, Const<2>, f64, Cpu>::build(&Cpu::default());
/// let before = model.bias.array();
/// let gradient: Tensor<(Const<2>,), f64, Cpu> = Cpu::default().tensor([3.0, -0.001]);
/// # use dfdx::tensor_ops::SumTo;
/// let gradients = (model.bias.clone().put_tape(model.recording()) * gradient).sum().backward();
/// update(&mut model, gradients, &mut Adam::default(), 0.1, f64::INFINITY)?;
/// // The first step has the size of the learning rate, whatever the size of the gradient.
/// assert!((model.bias.array()[0] - (before[0] - 0.1)).abs() < 1e-6);
/// assert!((model.bias.array()[1] - (before[1] + 0.1)).abs() < 1e-5);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adam<Model, E> {
    /// `β₁`, the decay rate of the average of the gradients.
    pub beta1: f64,
    /// `β₂`, the decay rate of the average of the squared gradients.
    pub beta2: f64,
    /// `ε`, added to the denominator.
    pub epsilon: f64,
    state: OptimizerState<Model, E, [Slot<E>; 2]>,
}

impl<Model, E> Default for Adam<Model, E> {
    fn default() -> Self {
        let state = OptimizerState::new(["exp_avg", "exp_avg_sq"]);
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, state }
    }
}

impl<Model, E: Real> Optimizer<Model, E> for Adam<Model, E> {
    fn step(&mut self, learning_rate: f64, parameters: &mut [Parameter<E>]) {
        let (steps, slots) = self.state.begin_step(parameters);
        let bias_correction = |beta: f64| 1.0 - beta.powf(steps as f64);
        let rate = cast::<E>(learning_rate / bias_correction(self.beta1));
        let root_scale = cast::<E>(1.0 / bias_correction(self.beta2).sqrt());
        let (beta1, beta2) = (cast::<E>(self.beta1), cast::<E>(self.beta2));
        let epsilon = cast::<E>(self.epsilon);
        update_elements(parameters, slots, |parameter, [exp_avg, exp_avg_sq]| {
            dispatch_simd(
                #[inline(always)]
                || {
                    let elements = parameter.values.iter_mut().zip(&parameter.gradient);
                    let elements = elements.zip(exp_avg.iter_mut().zip(exp_avg_sq.iter_mut()));
                    for ((value, &gradient), (m, v)) in elements {
                        *m = beta1 * *m + (E::one() - beta1) * gradient;
                        *v = beta2 * *v + (E::one() - beta2) * gradient * gradient;
                        *value -= rate * *m / (v.sqrt() * root_scale + epsilon);
                    }
                },
            );
        });
    }

    fn hyperparameters(&self) -> String {
        format!("Adam {{ beta1: {:?}, beta2: {:?}, epsilon: {:?} }}", self.beta1, self.beta2, self.epsilon)
    }

    fn state(&self) -> &OptimizerState<Model, E> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut OptimizerState<Model, E> {
        &mut self.state
    }
}

/// Adam with decoupled weight decay
/// ([Loshchilov and Hutter, 2017](https://arxiv.org/abs/1711.05101), as in PyTorch).
///
/// `θ ← θ - rate · weight_decay · θ` for the parameters that
/// [`weight_decay_filter`](Self::weight_decay_filter) selects, then [`Adam`] for all.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::AdamW};
/// let mut adamw = AdamW::<Linear<EmbedDim, VocabSize, f32, Cpu>, f32>::default();
/// assert_eq!(adamw.weight_decay, 0.01);
/// // The default decays all matrices. This filter excludes embeddings.
/// adamw.weight_decay_filter = |parameter| parameter.is_matrix() && !parameter.path.contains("embedder");
/// ```
#[derive(Clone, Debug)]
pub struct AdamW<Model, E> {
    /// The step that follows the decay.
    pub adam: Adam<Model, E>,
    /// The fraction of a parameter that one step removes, divided by the learning rate.
    pub weight_decay: f64,
    /// Whether a parameter decays; by default, [every matrix](Parameter::is_matrix) does. A checkpoint does
    /// not store the filter, so resuming cannot detect another one.
    pub weight_decay_filter: fn(&Parameter<E>) -> bool,
}

impl<Model, E> Default for AdamW<Model, E> {
    fn default() -> Self {
        Self { adam: Adam::default(), weight_decay: 0.01, weight_decay_filter: Parameter::is_matrix }
    }
}

impl<Model, E: Real> Optimizer<Model, E> for AdamW<Model, E> {
    fn step(&mut self, learning_rate: f64, parameters: &mut [Parameter<E>]) {
        let decay_factor = cast::<E>(1.0 - learning_rate * self.weight_decay);
        let decays = self.weight_decay_filter;
        for_each(parameters, |parameter| {
            if decays(parameter) {
                dispatch_simd(
                    #[inline(always)]
                    || parameter.values.iter_mut().for_each(|value| *value *= decay_factor),
                );
            }
        });
        self.adam.step(learning_rate, parameters);
    }

    fn hyperparameters(&self) -> String {
        let adam = self.adam.hyperparameters();
        format!("AdamW {{ weight_decay: {:?}, adam: {adam} }}", self.weight_decay)
    }

    fn state(&self) -> &OptimizerState<Model, E> {
        self.adam.state()
    }

    fn state_mut(&mut self) -> &mut OptimizerState<Model, E> {
        self.adam.state_mut()
    }
}
