use super::GradientsOf;
use crate::backend::{BackwardError, GradientHook, SharedTape, Tape};
use crate::model_tensors::visit_tensors;
use crate::ops::{OpError, Real, device_error};
use crate::ranks::failure;
use dfdx::nn::TensorCollection;
use dfdx::shapes::Shape;
use dfdx::tensor::{Cpu, Gradients, Merge, NoneTape, SplitTape, Storage, Tensor, UniqueId};
use dfdx::tensor_ops::{Device, ReshapeTo};
use std::{marker::PhantomData, rc::Rc};

const OP: &str = "backward";

/// A tape that records a pass of a `Model`, made by [`recording`](Record::recording). The gradients of its
/// backward pass are [those of this model](GradientsOf).
///
/// A clone of a tape that has recorded something records to the same pass. Clones of an empty one become one pass when
/// tensors of both meet. So clone a value that is used twice. What a pass has recorded goes through one `backward`; a
/// second one is an error.
pub struct Recording<Model, E = f32, D: Storage<E> = Cpu> {
    pub(super) tape: SharedTape<E, D>,
    pub(super) model: RecordedModel<Model>,
}

/// Which model was recorded. A model that has moved in memory is the same.
pub(super) struct RecordedModel<Model> {
    /// The id of its first tensor; `None` if it has no tensor, or if the model is not known.
    first_tensor: Option<UniqueId>,
    model: PhantomData<fn() -> Model>,
}

crate::dims::copied_and_compared!(RecordedModel<Model> by first_tensor);

impl<Model> RecordedModel<Model> {
    pub(super) const UNKNOWN: Self = Self { first_tensor: None, model: PhantomData };

    pub(super) fn of<E: Real, D: Device<E>>(model: &Model) -> Self
    where
        Model: TensorCollection<E, D>,
    {
        let first = visit_tensors::<_, E, D, _>(model, "", |first| Err(first.tensor.id()));
        Self { first_tensor: first.err(), model: PhantomData }
    }

    /// Whether it is known to be another one than `model`.
    pub(super) fn is_other_than<E: Real, D: Device<E>>(&self, model: &Model) -> bool
    where
        Model: TensorCollection<E, D>,
    {
        self.first_tensor.is_some() && *self != Self::of::<E, D>(model)
    }
}

crate::dims::cloned!([Model, E, D: Storage<E>] Recording<Model, E, D> { tape, model });
impl<Model, E, D: Storage<E>> Default for Recording<Model, E, D> {
    fn default() -> Self {
        Self { tape: SharedTape::default(), model: RecordedModel::UNKNOWN }
    }
}
impl<Model, E, D: Storage<E>> Merge<Self> for Recording<Model, E, D> {
    fn merge(self, other: Self) -> Self {
        let model = if self.model.first_tensor.is_some() { self.model } else { other.model };
        Self { tape: self.tape.merge(other.tape), model }
    }
}
impl<Model, E, D: Storage<E>> Merge<NoneTape> for Recording<Model, E, D> {
    fn merge(self, _: NoneTape) -> Self {
        self
    }
}
impl<Model, E, D: Storage<E>> dfdx::tensor::Tape<E, D> for Recording<Model, E, D> {
    const OWNS_TAPE: bool = true;

    fn add_backward_op<F: 'static + FnOnce(&mut Gradients<E, D>) -> Result<(), D::Err>>(&mut self, operation: F) {
        self.tape.add_backward_of_dfdx(Box::new(operation));
    }
}
impl<Model, E, D: Storage<E>> Tape<E, D> for Recording<Model, E, D> {
    fn shared(&mut self) -> Option<&mut SharedTape<E, D>> {
        Some(&mut self.tape)
    }
}
crate::error::debug_as!([Model, E, D: Storage<E>] Recording<Model, E, D>, |_, f| f.write_str("Recording"));

/// Makes the tape that records a pass of a model. Every model implements it.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{GradientsOf, Recording}};
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// let model = Layer::build(&Cpu::default());
/// let recording: Recording<Layer, f32, Cpu> = model.recording();
/// let loss = sum_over(model.bias.clone().put_tape(recording), axis::<VocabSize>())?;
/// let gradients: GradientsOf<Layer, f32, Cpu> = loss.backward()?;
/// # Ok::<(), OpError>(())
/// ```
pub trait Record<E, D: Storage<E>>: Sized {
    /// An empty tape, which records one pass of this model.
    fn recording(&self) -> Recording<Self, E, D>;
}
impl<Model: TensorCollection<E, D>, E: Real, D: Device<E>> Record<E, D> for Model {
    fn recording(&self) -> Recording<Self, E, D> {
        Recording { tape: SharedTape::default(), model: RecordedModel::of::<E, D>(self) }
    }
}

/// The tape of a loss that a backward pass can run.
///
/// ```
/// use typed_transformer::{prelude::*, train::GradientTape};
/// fn gradients<T: GradientTape<f32, Cpu>>(loss: Tensor<(), f32, Cpu, T>) -> Result<T::Gradients, OpError>
/// where
///     Tensor<(), f32, Cpu, T>: Backpropagate<f32, Cpu, Tape = T>,
/// {
///     loss.backward()
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a loss without a tape has no gradients",
    label = "nothing recorded how the loss depends on the model",
    note = "give the forward pass a tape in place of `NoneTape`: `model.recording()`"
)]
pub trait GradientTape<E, D: Storage<E>>: Tape<E, D> {
    /// The value that the backward pass returns.
    type Gradients;

    #[doc(hidden)]
    fn run(self, loss: &Tensor<(), E, D>) -> Result<Self::Gradients, OpError>;
}
impl<Model, E: Real, D: Device<E>> GradientTape<E, D> for Recording<Model, E, D> {
    type Gradients = GradientsOf<Model, E, D>;

    fn run(self, loss: &Tensor<(), E, D>) -> Result<Self::Gradients, OpError> {
        self.run_with_hook(loss, None)
    }
}
impl<Model, E: Real, D: Device<E>> Recording<Model, E, D> {
    /// Runs the backward pass of a loss. Calls `hook` with each gradient that is complete.
    pub(super) fn run_with_hook(
        self,
        loss: &Tensor<(), E, D>,
        hook: Option<Rc<dyn GradientHook>>,
    ) -> Result<GradientsOf<Model, E, D>, OpError> {
        let leaves = self.tape.run(loss, hook);
        failure::take_error().map_err(|source| OpError::Ranks { op: OP, source })?;
        let leaves = leaves.map_err(|error| match error {
            BackwardError::HasRun => OpError::Backward,
            BackwardError::TwoAccumulators => OpError::TwoAccumulators,
            BackwardError::Device(error) => device_error(OP)(error),
        })?;
        Ok(GradientsOf::new(leaves, self.model))
    }
}

/// A loss is a tensor without axes.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a loss is one number, and this is a tensor over `{Dims}`",
    label = "the backward pass begins at a tensor without axes",
    note = "`mean_over` and `sum_over` remove an axis, `ops::mean` and `Reduction::MeanAll` all of them"
)]
pub trait Loss<Dims> {}
#[diagnostic::do_not_recommend]
impl<E, D: Storage<E>, T> Loss<()> for Tensor<(), E, D, T> {}

/// The backward pass of a loss. The example of [`Record`] has one.
pub trait Backpropagate<E, D: Storage<E>> {
    /// The tape of the loss.
    type Tape;

    /// The gradients of the recorded model's parameters.
    ///
    /// # Errors
    /// [`OpError::Backward`] if the backward pass of this recording has run; [`OpError::TwoAccumulators`] if two
    /// recordings were joined that each add to gradients of their own; [`OpError::Ranks`] if a collective operation of
    /// the pass failed.
    fn backward(self) -> Result<<Self::Tape as GradientTape<E, D>>::Gradients, OpError>
    where
        Self::Tape: GradientTape<E, D>;
}

macro_rules! backpropagate {
    ($tape:ty, $($Model:ident)?) => {
        impl<Dims: Shape, $($Model,)? E: Real, D: Device<E>> Backpropagate<E, D> for Tensor<Dims, E, D, $tape>
        where
            Self: Loss<Dims>,
        {
            type Tape = $tape;

            fn backward(self) -> Result<<$tape as GradientTape<E, D>>::Gradients, OpError>
            where
                $tape: GradientTape<E, D>,
            {
                let (loss, tape) = self.split_tape();
                // `Dims` is `()`: this changes nothing.
                tape.run(&loss.try_reshape_like(&()).map_err(device_error(OP))?)
            }
        }
    };
}
backpropagate!(Recording<Model, E, D>, Model);
// A loss without a tape has the method too, so that the error names what is missing.
backpropagate!(NoneTape,);
