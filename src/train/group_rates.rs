use super::{Optimizer, OptimizerState, Parameter, Parameters, Slot};
use crate::backend::Backend;
use crate::ops::{OpError, Real};
use crate::ranks::RanksError;

/// An optimizer with other learning rates for some parameters (PyTorch's parameter groups): that of the step times
/// `rate_factor`. A parameter of factor 0 is frozen: it is not changed, and its gradient does not count for the norm.
///
/// [`Adam`](super::Adam) corrects the bias of its moments by the number of all steps. The moments of a parameter that
/// was frozen from the beginning are 0 when its factor rises, so with the default betas its first steps are up to seven
/// times the learning rate: let the factor rise from a small one.
///
/// A checkpoint does not store the function, so resuming cannot detect another one.
///
/// ```
/// use typed_transformer::{nn::Linear, ops::mean, prelude::*, train::{GradientsOf, GroupRates, Sgd, update}};
/// dims! { InDim = 2; OutDim = 1; Batch = 1; }
/// let device = Cpu::seed_from_u64(0);
/// let mut model = Linear::<InDim, OutDim, f32, Cpu>::build(&device);
/// let before = model.clone();
/// // The weight learns ten times as slowly as the bias.
/// let mut optimizer = GroupRates::new(Sgd::default(), |parameter| if parameter.path == "weight" { 0.1 } else { 1.0 });
/// let x: Tensor<(Batch, InDim), f32, Cpu> = tensor(&device, [1.0, 1.0], (Batch, InDim))?;
/// let loss = mean(model.forward(x.put_tape(model.recording()))?)?;
/// update(&mut model, loss.backward()?, &mut optimizer, 0.5, f64::INFINITY)?;
/// assert!((before.weight.as_vec()[0] - model.weight.as_vec()[0] - 0.05).abs() < 1e-6);
/// assert!((before.bias.as_vec()[0] - model.bias.as_vec()[0] - 0.5).abs() < 1e-6);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GroupRates<Inner> {
    /// The optimizer.
    pub inner: Inner,
    /// The factor of the learning rate for a parameter.
    pub rate_factor: fn(&Parameter) -> f64,
}

impl<Inner> GroupRates<Inner> {
    /// The optimizer `inner` with these factors.
    pub fn new(inner: Inner, rate_factor: fn(&Parameter) -> f64) -> Self {
        Self { inner, rate_factor }
    }
}

impl<Inner: Optimizer<Model, E, D>, Model, E: Real, D: Backend<E>> Optimizer<Model, E, D> for GroupRates<Inner> {
    fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError> {
        self.inner.step(learning_rate, parameters)
    }

    fn hyperparameters(&self) -> String {
        self.inner.hyperparameters()
    }

    fn rate_factor(&self, parameter: &Parameter) -> f64 {
        (self.rate_factor)(parameter) * self.inner.rate_factor(parameter)
    }

    fn state(&self) -> &OptimizerState<Model, E, [Slot<E, D>]> {
        self.inner.state()
    }

    fn state_mut(&mut self) -> &mut OptimizerState<Model, E, [Slot<E, D>]> {
        self.inner.state_mut()
    }

    fn is_sharded(&self) -> bool {
        self.inner.is_sharded()
    }

    fn gather_state(&mut self) -> Result<(), RanksError> {
        self.inner.gather_state()
    }
}
