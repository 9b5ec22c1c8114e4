use super::{Optimizer, OptimizerState, Parameter, Slot, elementwise::update_elements};
use crate::ops::{Real, cast};

/// Stochastic gradient descent with momentum
/// ([Sutskever et al., 2013](https://proceedings.mlr.press/v28/sutskever13.html), as in PyTorch).
///
/// `v ← momentum · v + g`, then `θ ← θ - rate · v`. The default momentum is 0: plain gradient descent.
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*, train::{Sgd, update}};
/// let device = Cpu::default();
/// let mut model = Linear::<Const<1>, Const<1>, f64, Cpu>::build(&device);
/// let before = model.bias.array();
/// let mut sgd = Sgd::default();
/// sgd.momentum = 0.5;
/// for _ in 0..2 {
///     // The loss is the bias itself, so its gradient is 1.
///     let gradients = model.bias.clone().put_tape(model.recording()).sum().backward();
///     update(&mut model, gradients, &mut sgd, 0.5, f64::INFINITY)?;
/// }
/// # use dfdx::tensor_ops::SumTo;
/// assert!((model.bias.array()[0] - (before[0] - 0.5 * (1.0 + 1.5))).abs() < 1e-12);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sgd<Model, E> {
    /// The decay rate of the velocity, from 0 to 1.
    pub momentum: f64,
    state: OptimizerState<Model, E, [Slot<E>; 1]>,
}

impl<Model, E> Default for Sgd<Model, E> {
    fn default() -> Self {
        Self { momentum: 0.0, state: OptimizerState::new(["velocity"]) }
    }
}

impl<Model, E: Real> Optimizer<Model, E> for Sgd<Model, E> {
    fn step(&mut self, learning_rate: f64, parameters: &mut [Parameter<E>]) {
        let (rate, momentum) = (cast::<E>(learning_rate), cast::<E>(self.momentum));
        let (_, slots) = self.state.begin_step(parameters);
        update_elements(parameters, slots, |parameter, [velocity]| {
            let elements = parameter.values.iter_mut().zip(&parameter.gradient);
            for ((value, &gradient), velocity) in elements.zip(velocity) {
                *velocity = momentum * *velocity + gradient;
                *value -= rate * *velocity;
            }
        });
    }

    fn hyperparameters(&self) -> String {
        format!("Sgd {{ momentum: {:?} }}", self.momentum)
    }

    fn state(&self) -> &OptimizerState<Model, E> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut OptimizerState<Model, E> {
        &mut self.state
    }
}
