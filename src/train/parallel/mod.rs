//! Data-parallel training: each rank has rows of the batch, and all make the same update.

mod buckets;
mod gradients;

use super::{Backpropagate, GradientTape, GradientsOf, Optimizer, update};
use crate::backend::Backend;
use crate::internal::Internal;
use crate::ops::{OpError, Real, device_error};
use crate::ranks::{Partial, ReducedOver, Replicated};
use dfdx::tensor::{PutTape, Tensor};
use dfdx::{nn::TensorCollection, shapes::Rank0, tensor_ops::Device};

/// [`update`] of a replicated model: all ranks make the same one, from gradients that have been summed over the ranks.
///
/// # Errors
/// Those of [`update`], on all ranks alike.
///
/// ```
/// use typed_transformer::{
///     doctest::*, nn::Linear, ops::partial_cross_entropy, prelude::*, ranks, ranks::Ranks,
///     train::{Adam, update_replicated},
/// };
/// ranks! { pub World; }
/// dims! { pub Rows; }
/// let models = Ranks::<World>::in_threads(2, |ranks| {
///     let device = Cpu::default();
///     let mut model = ranks.replicate(Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device)).unwrap();
///     let (rows, mut adam) = (ranks.shard(Rows::new(5)), Adam::default());
///     let labels = LabelIds::from_ids(&[2; 20][..4 * rows.size()], None, (rows, SeqLen)).unwrap();
///     let x: Tensor<_, f32, Cpu> = device.tensor_from_vec(vec![1.0; 32 * rows.size()], (rows, SeqLen, EmbedDim));
///     let logits = model.forward(x.put_tape(model.recording())).unwrap();
///     let gradients = partial_cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().backward().unwrap();
///     let gradients = gradients.all_reduce(ranks, &model).unwrap();
///     update_replicated(&mut model, gradients, &mut adam, 0.05, 1.0).unwrap();
///     ranks.ensure_replicated(&model)
/// });
/// assert_eq!(models, [Ok(()), Ok(())]);
/// ```
pub fn update_replicated<Model: TensorCollection<E, D>, E: Real, D: Backend<E>, W>(
    model: &mut Replicated<Model, W>,
    gradients: impl ReducedOver<GradientsOf<Model, E, D>, W>,
    optimizer: &mut impl Optimizer<Model, E, D>,
    learning_rate: f64,
    clip_norm: f64,
) -> Result<f64, OpError> {
    update(model.as_mut(), gradients.into_sum(Internal(())), optimizer, learning_rate, clip_norm)
}

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

impl<E: Real, D: Device<E>, T, W> Partial<Tensor<Rank0, E, D, T>, W> {
    /// The number of this rank's part of the loss.
    pub fn value(&self) -> Partial<f64, W> {
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
    pub fn of_no_rows(device: &D, tape: T) -> Result<Self, OpError> {
        let zero: Tensor<Rank0, E, D> = device.try_zeros().map_err(device_error("loss of no rows"))?;
        Ok(Self::term(zero.put_tape(tape)))
    }
}
