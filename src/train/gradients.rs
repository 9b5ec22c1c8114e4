use super::{Recording, recording::RecordedModel};
use crate::backend::{Gradients, Leaves, SharedTape, tensor_id};
use crate::model_tensors::map_trained;
use crate::ops::{OpError, Real, device_error};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Cpu, Storage, Tensor, UniqueId};
use dfdx::{nn::TensorCollection, tensor_ops::Device};
use std::collections::HashSet;

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
    /// The tensors between operations, whose gradients are not kept.
    non_leaves: HashSet<UniqueId>,
    /// The parameters that the loss depends on, and those that count as used because an operation read them
    /// ([`OpError::Unused`]).
    pub(super) used: HashSet<UniqueId>,
    pub(super) may_be_unused: HashSet<UniqueId>,
    pub(super) model: RecordedModel<Model>,
}

impl<Model, E: Real, D: Device<E>> GradientsOf<Model, E, D> {
    /// Zeros for all parameters of a model, to which [`into_recording`](Self::into_recording) and
    /// [`master_gradients`](super::master_gradients) add. Only these parameters count as leaves, so a
    /// backward pass drops all other gradients.
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
        Self::new(
            Leaves { gradients, non_leaves: HashSet::new(), reached: HashSet::new() },
            RecordedModel::of::<E, D>(model),
        )
    }

    /// The gradient of a parameter or of an input of the pass; zero if it does not affect the loss.
    ///
    /// # Errors
    /// [`OpError::NoGradient`] for a tensor that an operation of the pass made.
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
        if self.non_leaves.contains(&tensor_id(parameter)) {
            return Err(OpError::NoGradient { dims: format!("{:?}", parameter.shape()) });
        }
        self.gradients.get(parameter).map_err(device_error("gradient"))
    }

    /// Lets the parameters of `part` be unused: an [`update`](super::update) does not change those that the loss does
    /// not depend on, as an optimizer of PyTorch leaves a parameter whose `grad` is `None`.
    ///
    /// Without it an update in which a parameter got no gradient is an [`OpError::Unused`]. The permission ends when a
    /// further pass adds [to these gradients](Self::into_recording), so give it after the last one.
    pub fn allow_unused(mut self, part: &impl TensorCollection<E, D>) -> Self {
        self.may_be_unused.extend(map_trained::<_, E, D, _>(part, |parameter| parameter.id()));
        self
    }
}

impl<Model, E, D: Storage<E>> GradientsOf<Model, E, D> {
    pub(super) fn new(leaves: Leaves<E, D>, model: RecordedModel<Model>) -> Self {
        let Leaves { gradients, non_leaves, reached } = leaves;
        Self { gradients, non_leaves, used: reached, may_be_unused: HashSet::new(), model }
    }

    /// A tape whose backward pass adds to these gradients. So a batch that does not fit into memory can be processed in
    /// parts, with one update for all of them.
    ///
    /// The first part starts from [`zeros`](Self::zeros). Scale the loss of each part by its share of the batch. A pass
    /// adds to one sum: if tensors of two such tapes meet, the backward pass is an [`OpError::TwoAccumulators`].
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
