use super::{
    Optimizer, OptimizerState, Parameter, Slot,
    optimizer::{for_each, step},
};
use crate::{
    backend::dispatch_simd,
    ops::{Real, cast},
};

/// Adam ([Kingma and Ba, 2014](https://arxiv.org/abs/1412.6980), algorithm 1).
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*, train::{Adam, update}};
/// let mut model = Linear::<Const<1>, Const<2>, f64, Cpu>::build(&Cpu::default());
/// let before = model.bias.array();
/// let slopes: Tensor<(Const<2>,), f64, Cpu> = Cpu::default().tensor([3.0, -0.001]);
/// # use dfdx::tensor_ops::SumTo;
/// let gradients = (model.bias.leaky_trace() * slopes).sum().backward();
/// update(&mut model, gradients, &mut Adam::default(), 0.1, f64::INFINITY)?;
/// // The first step goes by the learning rate, whatever the size of the gradient.
/// assert!((model.bias.array()[0] - (before[0] - 0.1)).abs() < 1e-6);
/// assert!((model.bias.array()[1] - (before[1] + 0.1)).abs() < 1e-5);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adam<Model, E> {
    /// Decay of the mean of the gradients.
    pub beta1: f64,
    /// Decay of the mean of their squares.
    pub beta2: f64,
    /// Added to the root of that mean.
    pub epsilon: f64,
    memory: OptimizerState<Model, E, [Slot<E>; 2]>,
}

impl<Model, E> Default for Adam<Model, E> {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, memory: OptimizerState::new(["mean", "square"]) }
    }
}

impl<Model, E: Real> Optimizer<Model, E> for Adam<Model, E> {
    fn step(&mut self, learning_rate: f64, parameters: &mut [Parameter<E>]) {
        let (steps, slots) = self.memory.begin_step(parameters);
        let unbiased = |beta: f64| 1.0 - beta.powf(steps as f64);
        let rate = cast::<E>(learning_rate / unbiased(self.beta1));
        let root_scale = cast::<E>(1.0 / unbiased(self.beta2).sqrt());
        let (beta1, beta2) = (cast::<E>(self.beta1), cast::<E>(self.beta2));
        let epsilon = cast::<E>(self.epsilon);
        step(parameters, slots, |parameter, [mean, square]| {
            dispatch_simd(
                #[inline(always)]
                || {
                    let elements = parameter.values.iter_mut().zip(&parameter.gradient);
                    let elements = elements.zip(mean.iter_mut().zip(square.iter_mut()));
                    for ((value, &gradient), (mean, square)) in elements {
                        *mean = beta1 * *mean + (E::one() - beta1) * gradient;
                        *square = beta2 * *square + (E::one() - beta2) * gradient * gradient;
                        *value -= rate * *mean / (square.sqrt() * root_scale + epsilon);
                    }
                },
            );
        });
    }

    fn settings(&self) -> String {
        format!("Adam {{ beta1: {:?}, beta2: {:?}, epsilon: {:?} }}", self.beta1, self.beta2, self.epsilon)
    }

    fn state(&self) -> &OptimizerState<Model, E> {
        &self.memory
    }

    fn state_mut(&mut self) -> &mut OptimizerState<Model, E> {
        &mut self.memory
    }
}

/// Adam with decoupled weight decay
/// ([Loshchilov and Hutter, 2017](https://arxiv.org/abs/1711.05101), as in PyTorch).
///
/// `θ ← θ - rate · weight_decay · θ` for the parameters that [`decays`](Self::decays) picks, then
/// [`Adam`].
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*, train::AdamW};
/// let mut adam = AdamW::<Linear<Const<2>, Const<3>, f32, Cpu>, f32>::default();
/// assert_eq!(adam.weight_decay, 0.01);
/// // On matrices only, unless another group is chosen.
/// adam.decays = |parameter| parameter.is_matrix() && !parameter.path.contains("embedder");
/// ```
#[derive(Clone, Debug)]
pub struct AdamW<Model, E> {
    /// The step after the decay.
    pub adam: Adam<Model, E>,
    /// What a parameter loses of itself in a step of a learning rate of 1.
    pub weight_decay: f64,
    /// The parameters that decay. A checkpoint cannot tell one function from another.
    pub decays: fn(&Parameter<E>) -> bool,
}

impl<Model, E> Default for AdamW<Model, E> {
    fn default() -> Self {
        Self { adam: Adam::default(), weight_decay: 0.01, decays: Parameter::is_matrix }
    }
}

impl<Model, E: Real> Optimizer<Model, E> for AdamW<Model, E> {
    fn step(&mut self, learning_rate: f64, parameters: &mut [Parameter<E>]) {
        let kept = cast::<E>(1.0 - learning_rate * self.weight_decay);
        let decays = self.decays;
        for_each(parameters, |parameter| {
            if decays(parameter) {
                dispatch_simd(
                    #[inline(always)]
                    || parameter.values.iter_mut().for_each(|value| *value *= kept),
                );
            }
        });
        self.adam.step(learning_rate, parameters);
    }

    fn settings(&self) -> String {
        let adam = self.adam.settings();
        format!("AdamW {{ weight_decay: {:?}, adam: {adam} }}", self.weight_decay)
    }

    fn state(&self) -> &OptimizerState<Model, E> {
        self.adam.state()
    }

    fn state_mut(&mut self) -> &mut OptimizerState<Model, E> {
        self.adam.state_mut()
    }
}
