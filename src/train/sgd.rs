use super::{Optimizer, OptimizerState, Parameters, Slot, optimizer::ensure};
use crate::backend::{Backend, SgdStep};
use crate::nn::HasParameters;
use crate::ops::{OpError, Real, cast, device_error};
use dfdx::tensor::Cpu;
use dfdx::tensor_ops::{TryMul, TrySub};

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
/// let mut sgd = Sgd { momentum: 0.5, ..Sgd::default() };
/// for _ in 0..2 {
///     // The loss is the bias itself, so its gradient is 1.
///     let gradients = sum_over(model.bias.clone().put_tape(model.recording()), axis::<Const<1>>())?.backward()?;
///     let gradients = gradients.allow_unused(&model.weight);
///     update(&mut model, gradients, &mut sgd, 0.5, f64::INFINITY)?;
/// }
/// assert!((model.bias.array()[0] - (before[0] - 0.5 * (1.0 + 1.5))).abs() < 1e-12);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sgd<Model, E: Real = f32, D: Backend<E> = Cpu> {
    /// The decay rate of the velocity, from 0 to 1.
    pub momentum: f64,
    // `Sgd { momentum: 0.9, ..Sgd::default() }` needs a field that is public.
    #[doc(hidden)]
    pub state: OptimizerState<Model, E, [Slot<E, D>; 1]>,
}

impl<Model, E: Real, D: Backend<E>> Default for Sgd<Model, E, D> {
    fn default() -> Self {
        Self { momentum: 0.0, state: OptimizerState::new(["velocity"]) }
    }
}

impl<Model: HasParameters<E, D>, E: Real, D: Backend<E>> Optimizer<Model, E, D> for Sgd<Model, E, D> {
    fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError> {
        ensure("momentum", self.momentum, (0.0..=1.0).contains(&self.momentum), "from 0 to 1")?;
        let momentum = cast(self.momentum);
        self.state.update(parameters, |_, mut parameter, [velocity]| {
            let step = SgdStep { rate: cast(learning_rate * parameter.rate_factor()), momentum };
            // In one pass in CPU memory.
            let is_done = parameter.update_in_place([&mut *velocity], |factor, values, gradient, [velocity]| {
                D::sgd_step(&step, factor, values, gradient, velocity);
            })?;
            if is_done {
                return Ok(());
            }
            // As dfdx operations, which run on every device.
            let (gradient, values) = (parameter.gradient()?, parameter.values()?);
            let run = || -> Result<_, D::Err> {
                D::scale_and_add(velocity, step.momentum, &gradient, E::one())?;
                values.try_sub(velocity.clone().try_mul(step.rate)?)
            };
            parameter.set_values(run().map_err(device_error("Sgd"))?)
        })
    }

    fn hyperparameters(&self) -> String {
        format!("Sgd {{ momentum: {:?} }}", self.momentum)
    }

    fn state(&self) -> &OptimizerState<Model, E, [Slot<E, D>]> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut OptimizerState<Model, E, [Slot<E, D>]> {
        &mut self.state
    }
}
