use super::{OptimizerState, Parameter, Parameters, Slot};
use crate::backend::Backend;
use crate::ops::{OpError, Real};
use crate::ranks::RanksError;
use dfdx::tensor::Cpu;

/// A rule that turns the gradients of a `Model` into new parameters: [`Sgd`](super::Sgd),
/// [`Adam`](super::Adam), [`AdamW`](super::AdamW).
///
/// Its [`OptimizerState`] names the `Model`, so an optimizer cannot step another model.
/// [`OptimizerState`] shows an optimizer of one's own.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{Adam, Optimizer, Sgd}};
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// fn num_steps(optimizer: &dyn Optimizer<Layer, f32>) -> u64 {
///     optimizer.state().steps()
/// }
/// let optimizers: [&dyn Optimizer<Layer, f32>; 2] = [&Sgd::default(), &Adam::default()];
/// assert_eq!(optimizers.map(num_steps), [0, 0]);
/// assert_eq!(optimizers[0].hyperparameters(), "Sgd { momentum: 0.0 }");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an optimizer of `{Model}` in `{E}`",
    label = "this optimizer's state belongs to another model or another element type",
    note = "make one optimizer per model: its state has an element for each parameter"
)]
pub trait Optimizer<Model, E: Real, D: Backend<E> = Cpu> {
    /// Changes the parameters by their gradients.
    ///
    /// # Errors
    /// [`OpError::Hyperparameter`] before the first change if a hyperparameter is out of its range; [`OpError::Shape`]
    /// if the state is that of a model with other run-time sizes.
    fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError>;

    /// The algorithm and its hyperparameters in one line. Two optimizers with the same line must compute the same. A
    /// checkpoint is only resumed by an optimizer with the line that it stores.
    fn hyperparameters(&self) -> String;

    /// The factor of the learning rate for a parameter; [`GroupRates`](super::GroupRates) sets it. A parameter of
    /// factor 0 is frozen: it is not changed, and its gradient does not count for the norm.
    fn rate_factor(&self, _parameter: &Parameter) -> f64 {
        1.0
    }

    /// The state that a checkpoint stores.
    fn state(&self) -> &OptimizerState<Model, E, [Slot<E, D>]>;

    /// The state, to be filled from a checkpoint.
    fn state_mut(&mut self) -> &mut OptimizerState<Model, E, [Slot<E, D>]>;

    /// Whether the state is sharded over ranks, as a [`ShardedState`](super::ShardedState) does it.
    fn is_sharded(&self) -> bool {
        false
    }

    /// Gives rank 0 the state of the whole model until the next step. All ranks call it.
    ///
    /// # Errors
    /// [`RanksError`] if a rank fails.
    fn gather_state(&mut self) -> Result<(), RanksError> {
        Ok(())
    }
}

/// An optimizer that is chosen at run time.
#[diagnostic::do_not_recommend]
impl<O: Optimizer<Model, E, D> + ?Sized, Model, E: Real, D: Backend<E>> Optimizer<Model, E, D> for Box<O> {
    fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError> {
        (**self).step(learning_rate, parameters)
    }
    fn hyperparameters(&self) -> String {
        (**self).hyperparameters()
    }
    fn rate_factor(&self, parameter: &Parameter) -> f64 {
        (**self).rate_factor(parameter)
    }
    fn state(&self) -> &OptimizerState<Model, E, [Slot<E, D>]> {
        (**self).state()
    }
    fn state_mut(&mut self) -> &mut OptimizerState<Model, E, [Slot<E, D>]> {
        (**self).state_mut()
    }
    fn is_sharded(&self) -> bool {
        (**self).is_sharded()
    }
    fn gather_state(&mut self) -> Result<(), RanksError> {
        (**self).gather_state()
    }
}
