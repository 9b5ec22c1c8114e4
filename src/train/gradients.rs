//! The gradients of a model: those of a pass, the sums of several, and those of a copy in 16 bits.

use super::recording::RecordedModel;
use super::{Parameter, Recording};
use crate::backend::{Backend, Gradients, Leaves, SharedTape, elements_of, tensor_id};
use crate::model_tensors::{AnyTensor, map_trained, visit_tensors};
use crate::ops::{OpError, Real, device_error};
use crate::{dims::name, nn::PartOfModel};
use dfdx::nn::TensorCollection;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Cpu, Gradients as OfDfdx, Storage, Tensor, UniqueId};
use dfdx::tensor_ops::{Backward, Device, SumTo, TryDiv, TryMul};
use std::{collections::HashSet, mem};

/// The gradients of the parameters of a `Model`: what [`update`](super::update) takes.
///
/// The gradients of another type of model, of another element type or of another device do not compile in
/// the place of these.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{GradientsOf, Sgd, update}};
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// let mut model = Layer::build(&Cpu::default());
/// // The loss does not depend on the weight.
/// let gradients =
///     |model: &Layer| sum_over(model.bias.clone().put_tape(model.recording()), axis::<VocabSize>())?.backward();
/// let refused = gradients(&model)?;
/// let error = update(&mut model, refused, &mut Sgd::default(), 0.1, f64::INFINITY).unwrap_err();
/// assert_eq!(error, OpError::Unused { parameters: vec!["weight".into()] });
/// let gradients: GradientsOf<Layer, f32, Cpu> = gradients(&model)?.allow_unused(&model.weight);
/// let norm = update(&mut model, gradients, &mut Sgd::default(), 0.1, f64::INFINITY)?;
/// // The gradient of each of the 28 biases is 1.
/// assert!((norm - 28f64.sqrt()).abs() < 1e-6);
/// # Ok::<(), OpError>(())
/// ```
#[must_use = "gradients change no model before an `update`"]
pub struct GradientsOf<Model, E = f32, D: Storage<E> = Cpu> {
    pub(super) gradients: Gradients<E, D>,
    /// The parameters that the loss depends on, and those that count as used because an operation read them
    /// ([`OpError::Unused`]).
    pub(super) used: HashSet<UniqueId>,
    pub(super) may_be_unused: HashSet<UniqueId>,
    pub(super) model: RecordedModel<Model>,
}

impl<Model, E: Real, D: Device<E>> GradientsOf<Model, E, D> {
    /// Zeros for all parameters of a model, to which [`into_recording`](Self::into_recording) and [`master_gradients`]
    /// add. Only these parameters count as leaves, so a backward pass drops all other gradients.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::GradientsOf};
    /// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
    /// assert_eq!(GradientsOf::zeros(&model).of(&model.bias)?.as_vec(), [0.0; 28]);
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn zeros(model: &Model) -> Self
    where
        Model: TensorCollection<E, D>,
    {
        let gradients = Gradients::of_leaves(&map_trained::<_, E, D, _>(model, |parameter| parameter.id()));
        Self::new(Leaves { gradients, used: HashSet::new() }, RecordedModel::of::<E, D>(model))
    }

    /// The gradient of a parameter or of an input of the pass; zero if it does not affect the loss. It is a constant: a
    /// loss made of it, such as a gradient penalty, trains nothing by it ([`guide::porting`](crate::guide::porting)).
    ///
    /// # Errors
    /// [`OpError::NoGradient`] for a tensor that a kernel of the pass made, and for all tensors but the model's
    /// parameters if the pass adds to [`zeros`](Self::zeros) or if several ranks have summed the gradients.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*};
    /// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
    /// let mut gradients = sum_over(model.bias.clone().put_tape(model.recording()), axis::<VocabSize>())?.backward()?;
    /// assert_eq!(gradients.of(&model.bias)?.as_vec(), [1.0; 28]);
    /// assert_eq!(gradients.of(&model.weight)?.as_vec(), [0.0; 8 * 28]);
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn of<Dims: Shape>(&mut self, parameter: &Tensor<Dims, E, D>) -> Result<Tensor<Dims, E, D>, OpError> {
        if !self.gradients.keeps(tensor_id(parameter)) {
            return Err(OpError::NoGradient { dims: format!("{:?}", parameter.shape()) });
        }
        self.gradients.get(parameter).map_err(device_error("gradient"))
    }

    /// Lets the parameters of `part` be unused: an [`update`](super::update) does not change those that the loss does
    /// not depend on, as an optimizer of PyTorch leaves a parameter whose `grad` is `None`.
    ///
    /// Without it an update in which a parameter got no gradient is an [`OpError::Unused`]. The permission ends when a
    /// further pass adds [to these gradients](Self::into_recording), so give it after the last one.
    pub fn allow_unused(mut self, part: &impl PartOfModel<E, D>) -> Self {
        self.may_be_unused.extend(map_trained::<_, E, D, _>(part, |parameter| parameter.id()));
        self
    }

    /// These gradients with `change(parameter, gradient)` in place of each: clipped by value, or with noise of
    /// [`Step::rng`](super::Step::rng). Each gradient is a tensor of one axis. A parameter that got no gradient is left
    /// out.
    ///
    /// # Errors
    /// The first error of `change`; [`OpError::Shape`] if it returns another number of elements;
    /// [`OpError::OtherModel`] if the gradients are those of another model.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*};
    /// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
    /// let gradients = sum_over(model.bias.clone().put_tape(model.recording()), axis::<VocabSize>())?.backward()?;
    /// let mut clipped = gradients.map(&model, |_, gradient| Ok(gradient.clamp(-0.5, 0.5)))?;
    /// assert_eq!(clipped.of(&model.bias)?.as_vec(), [0.5; 28]);
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn map(
        mut self,
        model: &Model,
        mut change: impl FnMut(&Parameter, Tensor<(usize,), E, D>) -> Result<Tensor<(usize,), E, D>, OpError>,
    ) -> Result<Self, OpError>
    where
        Model: TensorCollection<E, D>,
        D: Backend<E>,
    {
        const OP: &str = "map gradients";
        let (is_other_model, mut has_changed) = (self.model.is_other_than::<E, D>(model), false);
        visit_tensors::<_, E, D, OpError>(model, "", |visited| {
            let gradient = visited.tensor.flat_gradient(&mut self.gradients).map_err(device_error(OP))?;
            // An update must still name a parameter without a gradient.
            let is_zero = || elements_of(&gradient).iter().all(E::is_zero);
            if !visited.is_trained || !self.used.contains(&visited.tensor.id()) && is_zero() {
                return Ok(());
            }
            has_changed = true;
            let to = *gradient.shape();
            let changed = change(&Parameter { path: visited.path, sizes: visited.tensor.sizes() }, gradient)?;
            if *changed.shape() != to {
                let [from, to] = [*changed.shape(), to].map(|(len,)| format!("({len})"));
                return Err(OpError::Shape { op: OP, from, to });
            }
            replace_gradient(visited.tensor, &mut self.gradients, changed).map_err(device_error(OP))
        })?;
        if is_other_model && !has_changed {
            return Err(OpError::OtherModel { model: name::<Model>() });
        }
        Ok(self)
    }
}

impl<Model, E, D: Storage<E>> GradientsOf<Model, E, D> {
    pub(super) fn new(leaves: Leaves<E, D>, model: RecordedModel<Model>) -> Self {
        let Leaves { gradients, used } = leaves;
        Self { gradients, used, may_be_unused: HashSet::new(), model }
    }

    /// Gradient accumulation: a tape whose backward pass adds to these gradients. Each part of a batch has a pass, and
    /// the batch one update. The first part starts from [`zeros`](Self::zeros). Scale the loss of each part by its
    /// share of the rows, or with [`MeanTokens`](crate::ops::Reduction::MeanTokens) of the labels that are not padding.
    /// A pass adds to one sum: if tensors of two such tapes meet, the backward pass is an [`OpError::TwoAccumulators`].
    ///
    /// ```
    /// use typed_transformer::{nn::Linear, ops::scale, prelude::*, train::{Adam, GradientsOf, update}};
    /// dims! { pub EmbedDim = 2; pub VocabSize = 3; pub SeqLen = 1; pub PartBatch = 1; }
    /// let device = Cpu::default();
    /// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
    /// let mut gradients = GradientsOf::zeros(&model);
    /// for (input, label) in [([1.0, 0.0], 0), ([0.0, 1.0], 2)] {
    ///     let input: Tensor<(PartBatch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(input.to_vec());
    ///     let labels = LabelIds::from_ids(&[label], None, (PartBatch, SeqLen))?;
    ///     let logits = model.forward(input.put_tape(gradients.into_recording()))?;
    ///     let loss = cross_entropy(logits, &labels, Reduction::MeanAll)?;
    ///     gradients = scale(loss, 1.0 / 2.0)?.backward()?;
    /// }
    /// update(&mut model, gradients, &mut Adam::default(), 1e-3, 1.0)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_recording(self) -> Recording<Model, E, D> {
        Recording { tape: SharedTape::adding_to(self.gradients, self.used), model: self.model }
    }
}

crate::error::debug_as!([Model, E, D: Storage<E>] GradientsOf<Model, E, D>, |_, f| f.write_str("GradientsOf"));

const OP: &str = "master gradients";

/// `accumulated + gradients / loss_scale`: the gradients of a model from those of its copy in 16 bits.
/// This is mixed precision with master weights and loss scaling ([Micikevicius et al.,
/// 2018](https://arxiv.org/abs/1710.03740), 3.1 and 3.2).
///
/// dfdx's `ToDtype` makes the copy, anew for each step: `AMP<f16>` (feature `f16`) for mixed precision.
/// The optimizer and the files hold the model itself. 16 bits have four limits:
///
/// - A gradient below 3e-8 becomes 0 and one above 65,520 infinite. Scale the loss so that the gradients lie
///   between. If one is infinite anyway, [`update`](super::update) returns an error and leaves the model
///   unchanged, so the step can be repeated with a smaller scale.
/// - The loss scale has 16 bits too: it is at most 65,504.
/// - A sum above 65,504 is infinite ([`guide::cuda`](crate::guide::cuda)).
/// - dfdx sums the gradients of biases, norms and embeddings position by position in 16 bits, which loses
///   the small ones in a pass of more than a few hundred positions. Divide a larger batch into parts and sum
///   their gradients here: `accumulated` is the result for the parts before.
///
/// `accumulated` starts as [`GradientsOf::zeros`].
///
/// ```
/// use dfdx::nn::ToDtype;
/// use typed_transformer::{nn::Linear, ops::scale, prelude::*, train::{Adam, GradientsOf, master_gradients, update}};
/// dims! { pub EmbedDim = 2; pub VocabSize = 3; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let mut model = Linear::<EmbedDim, VocabSize, f64, Cpu>::build(&device);
/// let labels = LabelIds::from_ids(&[2], None, (Batch, SeqLen))?;
///
/// let half_model = model.to_dtype::<f32>(); // `AMP<f16>` for mixed precision
/// let input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 0.0]);
/// let loss = cross_entropy(half_model.forward(input.put_tape(half_model.recording()))?, &labels, Reduction::MeanAll)?;
/// let (gradients, zeros) = (scale(loss, 1024.0)?.backward()?, GradientsOf::zeros(&model));
/// let gradients = master_gradients(&model, &half_model, gradients, 1024.0, zeros)?;
/// update(&mut model, gradients, &mut Adam::default(), 1e-3, 1.0)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn master_gradients<Model, Half, E, D>(
    model: &Model,
    half_model: &Model::To<Half, D>,
    gradients: GradientsOf<Model::To<Half, D>, Half, D>,
    loss_scale: f64,
    mut accumulated: GradientsOf<Model, E, D>,
) -> Result<GradientsOf<Model, E, D>, OpError>
where
    Model: TensorCollection<E, D>,
    Model::To<Half, D>: TensorCollection<Half, D>,
    Half: Real,
    E: Real,
    D: Backend<E> + Backend<Half> + Backend<f64>,
{
    // One flat tensor per trained parameter, in the order of the fields.
    let GradientsOf { gradients: mut half_gradients, used, may_be_unused, .. } = gradients;
    let mut unscaled = Vec::<(Tensor<(usize,), E, D>, UniqueId)>::new();
    visit_tensors::<_, Half, D, D::Err>(half_model, "", |visited| {
        if visited.is_trained {
            let gradient = visited.tensor.flat_gradient(&mut half_gradients)?;
            // The quotient may not fit into 16 bits.
            let quotient = gradient.try_to_dtype::<f64>()?.try_div(loss_scale)?;
            unscaled.push((quotient.try_to_dtype::<E>()?, visited.tensor.id()));
            // Frees the memory of this gradient.
            *visited.tensor.stored_gradient(half_gradients.for_dfdx()?)? =
                Storage::<Half>::try_alloc_len(visited.tensor.device(), 1)?;
        }
        Ok(())
    })
    .map_err(device_error(OP))?;
    let mut unscaled = unscaled.into_iter();
    visit_tensors::<_, E, D, D::Err>(model, "", |visited| {
        if visited.is_trained
            && let Some((gradient, half_id)) = unscaled.next()
            && gradient.shape().0 > 0
        {
            let id = visited.tensor.id();
            accumulated.used.extend(used.contains(&half_id).then_some(id));
            accumulated.may_be_unused.extend(may_be_unused.contains(&half_id).then_some(id));
            add_gradient(visited.tensor, &mut accumulated.gradients, gradient)?;
        }
        Ok(())
    })
    .map_err(device_error(OP))?;
    Ok(accumulated)
}

/// Sets the gradient of a parameter, which has none yet or zeros.
pub(super) fn put_gradient<E: Real, D: Backend<E>>(
    parameter: &dyn AnyTensor<E, D>,
    gradients: &mut Gradients<E, D>,
    gradient: Vec<E>,
) -> Result<(), D::Err> {
    if let Some(stored) = parameter.row_major_gradient(gradients)? {
        stored.copy_from_slice(&gradient);
        return Ok(());
    }
    let len = gradient.len();
    add_gradient(parameter, gradients, parameter.device().try_tensor_from_vec(gradient, (len,))?)
}

fn replace_gradient<E: Real, D: Backend<E>>(
    parameter: &dyn AnyTensor<E, D>,
    gradients: &mut Gradients<E, D>,
    gradient: Tensor<(usize,), E, D>,
) -> Result<(), D::Err> {
    if parameter.row_major_gradient(gradients)?.is_none() {
        let stored = parameter.stored_gradient(gradients.for_dfdx()?)?;
        *stored = Storage::<E>::try_alloc_grad(parameter.device(), stored)?;
    }
    put_gradient(parameter, gradients, elements_of(&gradient))
}

/// Adds to the gradient of `parameter`, on every device, by the backward pass of `Σ gradient · parameter`.
fn add_gradient<E: Real, D: Device<E>>(
    parameter: &dyn AnyTensor<E, D>,
    gradients: &mut Gradients<E, D>,
    gradient: Tensor<(usize,), E, D>,
) -> Result<(), D::Err> {
    let gradients = gradients.for_dfdx()?;
    let parameter = parameter.flat_with_tape(mem::replace(gradients, OfDfdx::leaky()))?;
    *gradients = parameter.try_mul(gradient)?.try_sum::<(), _>()?.try_backward()?;
    Ok(())
}
