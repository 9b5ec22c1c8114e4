//! Data-parallel training: each rank has rows of the batch, and all make the same update.

mod buckets;

use super::gradients::put_gradient;
use super::{Backpropagate, GradientTape, GradientsOf, Optimizer, Parameter, Recording, update};
use crate::backend::{Backend, Gradients, elements_of};
use crate::internal::Internal;
use crate::model_tensors::{map_tensors, map_trained, visit_tensors};
use crate::nn::{HasParameters, PartOfModel};
use crate::ops::{OpError, Real, device_error};
use crate::ranks::{Element, Partial, RankAxis, Ranks, RanksError, ReducedOver, Replicated, TermOver};
use buckets::Buckets;
use dfdx::tensor::{PutTape, SplitTape, Storage, Tensor, UniqueId};
use dfdx::{nn::TensorCollection, tensor_ops::Device};
use std::{collections::HashSet, mem, rc::Rc};

/// [`update`] of a replicated model: all ranks make the same update, from gradients that have been summed over the
/// ranks.
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
pub fn update_replicated<Model: HasParameters<E, D>, E: Real, D: Backend<E>, W>(
    model: &mut Replicated<Model, W>,
    gradients: impl ReducedOver<GradientsOf<Model, E, D>, W>,
    optimizer: &mut (impl Optimizer<Model, E, D> + ?Sized),
    learning_rate: f64,
    clip_norm: f64,
) -> Result<f64, OpError> {
    update(model.as_mut(), gradients.into_sum(Internal(())), optimizer, learning_rate, clip_norm)
}

impl<E: Real, D: Device<E>, T, W> Partial<Tensor<(), E, D, T>, W>
where
    Tensor<(), E, D, T>: Backpropagate<E, D, Tape = T>,
{
    /// The gradients of this rank's part of the loss. Their sum over the ranks is the gradients of the loss.
    pub fn backward(self) -> Result<Partial<T::Gradients, W>, OpError>
    where
        T: GradientTape<E, D>,
    {
        self.into_term().backward().map(Partial::term)
    }
}

impl<E: Real, D: Device<E>, T, W> Partial<Tensor<(), E, D, T>, W> {
    /// This rank's part of the loss, as a number.
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
        let zero: Tensor<(), E, D> = device.try_zeros().map_err(device_error("loss of no rows"))?;
        Ok(Self::term(zero.put_tape(tape)))
    }
}

const OP: &str = "all-reduce of gradients";

impl<Model: TensorCollection<E, D>, E: Element, D: Backend<E>, W: RankAxis> Partial<GradientsOf<Model, E, D>, W> {
    /// Sums the gradients of all ranks. Every rank gets the same bits.
    ///
    /// # Errors
    /// [`RanksError::Transport`]; [`RanksError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*, ranks, ranks::{Partial, Ranks, RanksError}};
    /// ranks! { pub World; }
    /// let sums = Ranks::<World>::in_threads(3, |ranks| -> Result<Vec<f32>, RanksError> {
    ///     let model = ranks.replicate(Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default()))?;
    ///     // The loss is the sum of the bias, on each rank.
    ///     let sum = sum_over(model.bias.clone().put_tape(model.recording()), axis::<VocabSize>()).unwrap();
    ///     let loss: Partial<_, World> = Partial::term(sum);
    ///     let gradients = loss.backward().unwrap().all_reduce(ranks, &model)?;
    ///     Ok(gradients.into_inner().of(&model.bias).unwrap().as_vec())
    /// });
    /// assert_eq!(sums[0], Ok(vec![3.0; 28]));
    /// ```
    pub fn all_reduce(
        self,
        ranks: &Ranks<W>,
        model: &Replicated<Model, W>,
    ) -> Result<Replicated<GradientsOf<Model, E, D>, W>, RanksError> {
        let gradients = self.into_term();
        if ranks.size() == 1 {
            return Ok(Replicated::assume(gradients));
        }
        let parameters = list_parameters::<Model, E, D>(model);
        finish_sums(ranks, &Buckets::new(ranks, &parameters), gradients, model, &parameters)
    }
}

impl<Model, E, D: Storage<E>, W> Partial<GradientsOf<Model, E, D>, W> {
    /// [`GradientsOf::into_recording`] of this rank's terms: the next part of a batch adds to them, and
    /// [`all_reduce`](Partial::all_reduce) comes after the last one. The first part is recorded by
    /// `GradientsOf::zeros(&*model).into_recording()`.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*, ranks, ranks::{Partial, Ranks, RanksError}};
    /// use typed_transformer::train::GradientsOf;
    /// ranks! { pub World; }
    /// let sums = Ranks::<World>::in_threads(3, |ranks| -> Result<Vec<f32>, RanksError> {
    ///     let model = ranks.replicate(Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default()))?;
    ///     let mut gradients = Partial::<_, World>::term(GradientsOf::zeros(&*model));
    ///     for _part in 0..2 {
    ///         // The loss is the sum of the bias, on each rank.
    ///         let bias = model.bias.clone().put_tape(gradients.into_recording());
    ///         let loss: Partial<_, World> = Partial::term(sum_over(bias, axis::<VocabSize>()).unwrap());
    ///         gradients = loss.backward().unwrap();
    ///     }
    ///     Ok(gradients.all_reduce(ranks, &model)?.into_inner().of(&model.bias).unwrap().as_vec())
    /// });
    /// assert_eq!(sums[0], Ok(vec![6.0; 28]));
    /// ```
    pub fn into_recording(self) -> Recording<Model, E, D> {
        self.into_term().into_recording()
    }
}

impl<Model: TensorCollection<E, D>, E: Element, D: Backend<E>, W: RankAxis> Replicated<GradientsOf<Model, E, D>, W> {
    /// [`GradientsOf::map`] of the sums. `change` must compute the same on all ranks, so noise needs the same seed on
    /// each.
    ///
    /// # Errors
    /// Those of [`GradientsOf::map`].
    pub fn map(
        self,
        model: &Replicated<Model, W>,
        change: impl FnMut(&Parameter, Tensor<(usize,), E, D>) -> Result<Tensor<(usize,), E, D>, OpError>,
    ) -> Result<Self, OpError> {
        self.into_inner().map(model, change).map(Self::assume)
    }

    /// [`GradientsOf::allow_unused`] of the sums. All ranks call it for the same part.
    pub fn allow_unused(self, part: &impl PartOfModel<E, D>) -> Self {
        Self::assume(self.into_inner().allow_unused(part))
    }

    /// Exists for its error message: the gradients are already summed, so no type fulfils the bound.
    #[doc(hidden)]
    pub fn all_reduce(self, _: &Ranks<W>, _: &Replicated<Model, W>) -> Result<Self, RanksError>
    where
        GradientsOf<Model, E, D>: TermOver<W>,
    {
        Ok(self)
    }
}

impl<Model: TensorCollection<E, D>, E: Element, D: Backend<E>, W: RankAxis>
    Partial<Tensor<(), E, D, Recording<Model, E, D>>, W>
{
    /// [`backward`](Self::backward) and [`all_reduce`](Partial::all_reduce) at once: the gradients of the last layers
    /// are summed while those of the first are computed. The result has the same bits as that of the two calls. Do not
    /// use it for a pass through [`gather_batch`](crate::ops::gather_batch) if a rank may have no rows of the batch.
    ///
    /// # Errors
    /// [`RanksError::Transport`]; [`RanksError::Device`] if the device or the backward pass fails, with the sentence
    /// of that error.
    pub fn backward_all_reduce(
        self,
        ranks: &Ranks<W>,
        model: &Replicated<Model, W>,
    ) -> Result<Replicated<GradientsOf<Model, E, D>, W>, RanksError> {
        let (loss, tape) = self.into_term().split_tape();
        if ranks.size() == 1 {
            return tape.run_with_hook(&loss, None).map(Replicated::assume).map_err(RanksError::device(OP));
        }
        let parameters = list_parameters::<Model, E, D>(model);
        let buckets = Rc::new(Buckets::new(ranks, &parameters));
        let gradients = tape.run_with_hook(&loss, Some(buckets.clone())).map_err(RanksError::device(OP))?;
        finish_sums(ranks, &buckets, gradients, model, &parameters)
    }
}

/// Sums the gradients that the buckets do not have yet, and waits for all.
fn finish_sums<Model: TensorCollection<E, D>, E: Element, D: Backend<E>, W: RankAxis>(
    ranks: &Ranks<W>,
    buckets: &Buckets<E, W>,
    mut gradients: GradientsOf<Model, E, D>,
    model: &Replicated<Model, W>,
    parameters: &[(UniqueId, usize)],
) -> Result<Replicated<GradientsOf<Model, E, D>, W>, RanksError> {
    let ids: Vec<_> = parameters.iter().map(|(id, _)| *id).collect();
    let mut local = mem::replace(&mut gradients.gradients, Gradients::of_leaves(&ids));
    let taken = map_tensors::<_, E, D, _, D::Err>(&**model, |visited| match visited.is_trained {
        false => Ok(None),
        true => match visited.tensor.row_major_gradient(&mut local)? {
            Some(gradient) => Ok(Some(gradient.to_vec())),
            None => Ok(Some(elements_of(&visited.tensor.flat_gradient(&mut local)?))),
        },
    });
    drop(local);
    let taken = taken.map_err(RanksError::device::<D::Err>(OP))?;
    let sums = match buckets.finish(&taken)? {
        Some(sums) => sums,
        // A gradient changed after it was in a bucket: all are summed again.
        None => Buckets::new(ranks, parameters).finish(&taken)?.expect("nothing was collected before"),
    };
    agree_on_unused(ranks, &sums, parameters, &mut gradients.used, &mut gradients.may_be_unused)?;
    let mut sums = sums.into_iter();
    visit_tensors::<_, E, D, D::Err>(&**model, "", |visited| {
        if visited.is_trained
            && let Some(sum) = sums.next()
        {
            put_gradient(visited.tensor, &mut gradients.gradients, sum)?;
        }
        Ok(())
    })
    .map_err(RanksError::device::<D::Err>(OP))?;
    Ok(Replicated::assume(gradients))
}

/// Lets all ranks know the parameters that the loss of some rank depends on, and those that may be unused on some rank.
/// A rank without rows uses none. A parameter whose summed gradient is not 0 is used. Only for sums of 0 do the ranks
/// send a message.
fn agree_on_unused<E: Element, W: RankAxis>(
    ranks: &Ranks<W>,
    sums: &[Vec<E>],
    parameters: &[(UniqueId, usize)],
    used: &mut HashSet<UniqueId>,
    may_be_unused: &mut HashSet<UniqueId>,
) -> Result<(), RanksError> {
    let parameters = parameters.iter().map(|(id, _)| *id).zip(sums).filter(|(_, sum)| !sum.is_empty());
    let (zeros, others): (Vec<_>, Vec<_>) = parameters.partition(|(_, sum)| sum.iter().all(E::is_zero));
    let zeros: Vec<_> = zeros.into_iter().map(|(id, _)| id).collect();
    let is_in = |ids: &HashSet<UniqueId>| -> Vec<f64> {
        zeros.iter().map(|id| f64::from(u8::from(ids.contains(id)))).collect()
    };
    let mut counts: Vec<f64> = [is_in(used), is_in(may_be_unused)].concat();
    if !counts.is_empty() {
        ranks.all_reduce(&mut counts)?;
    }
    let (counts_of_used, counts_of_allowed) = counts.split_at(zeros.len());
    let on_some_rank = |counts: &[f64]| -> Vec<UniqueId> {
        zeros.iter().zip(counts).filter(|(_, count)| **count > 0.0).map(|(id, _)| *id).collect()
    };
    *used = others.into_iter().map(|(id, _)| id).chain(on_some_rank(counts_of_used)).collect();
    *may_be_unused = on_some_rank(counts_of_allowed).into_iter().collect();
    Ok(())
}

/// The id and the length of each trained parameter.
fn list_parameters<Model: TensorCollection<E, D>, E: Element, D: Backend<E>>(model: &Model) -> Vec<(UniqueId, usize)> {
    map_trained::<_, E, D, _>(model, |parameter| (parameter.id(), parameter.num_elements()))
}
