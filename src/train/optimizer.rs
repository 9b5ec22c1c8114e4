use super::{OptimizerState, Parameter};
use crate::ranks::RanksError;

/// A rule that turns the gradients of a `Model` into new parameters: [`Sgd`](super::Sgd),
/// [`Adam`](super::Adam), [`AdamW`](super::AdamW).
///
/// Its [`OptimizerState`] names the `Model`, so an optimizer cannot step another model.
/// [`OptimizerState`] shows an optimizer of one's own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an optimizer of `{Model}` in `{E}`",
    label = "this optimizer's state belongs to another model or another element type",
    note = "make one optimizer per model: its state has an element for each parameter"
)]
pub trait Optimizer<Model, E> {
    /// Changes the parameters by their gradients. `parameters` are those of the model, in the order of
    /// its fields.
    fn step(&mut self, learning_rate: f64, parameters: &mut [Parameter<E>]);

    /// The algorithm and its hyperparameters in one line: optimizers of equal text compute the same.
    /// A checkpoint can only be resumed by an optimizer of the same text.
    fn hyperparameters(&self) -> String;

    /// The state that a checkpoint stores.
    fn state(&self) -> &OptimizerState<Model, E>;

    /// The state, to be filled from a checkpoint.
    fn state_mut(&mut self) -> &mut OptimizerState<Model, E>;

    /// Whether the ranks share out the state, as a [`ShardedState`](super::ShardedState) does.
    fn is_shared(&self) -> bool {
        false
    }

    /// Gives rank 0 the state of the whole model, whose parameters have `lens` elements each, until the next step. All
    /// ranks call it.
    ///
    /// # Errors
    /// [`RanksError`] if a rank fails.
    fn gather_state(&mut self, _lens: &[usize]) -> Result<(), RanksError> {
        Ok(())
    }
}
