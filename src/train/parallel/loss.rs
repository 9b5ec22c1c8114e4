//! The backward pass of a loss that is summed over ranks.

use crate::ops::{OpError, Real, device_error};
use crate::ranks::Partial;
use crate::train::{Backpropagate, GradientTape};
use dfdx::shapes::Rank0;
use dfdx::tensor::{PutTape, Storage, Tensor};
use dfdx::tensor_ops::Device;

impl<E: Real, D: Device<E>, T, W> Partial<Tensor<Rank0, E, D, T>, W>
where
    Tensor<Rank0, E, D, T>: Backpropagate<E, D, Tape = T>,
{
    /// The gradients of this rank's part of the loss. Their sum over the ranks is the gradients of the loss.
    pub fn backward(self) -> Result<Partial<T::Gradients, W>, OpError>
    where
        T: GradientTape<E, D>,
    {
        self.into_term().backward().map(Partial::term)
    }
}

impl<E: Real, D: Storage<E>, T, W> Partial<Tensor<Rank0, E, D, T>, W> {
    /// The number of this rank's part of the loss.
    pub fn value(&self) -> Partial<f64, W>
    where
        D: Device<E>,
    {
        let value = self.as_term().as_vec()[0];
        Partial::term(value.to_f64().unwrap_or(f64::NAN))
    }

    /// A zero loss, for a rank that has no rows of the batch. With it the rank takes part in the reductions.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*, ranks, ranks::Partial};
    /// ranks! { pub World; }
    /// let device = Cpu::default();
    /// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
    /// let loss: Partial<_, World> = Partial::of_no_rows(&device, model.recording())?;
    /// let gradients = loss.backward()?;
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn of_no_rows(device: &D, tape: T) -> Result<Self, OpError>
    where
        D: Device<E>,
    {
        let zero: Tensor<Rank0, E, D> = device.try_zeros().map_err(device_error("loss of no rows"))?;
        Ok(Self::term(zero.put_tape(tape)))
    }
}
