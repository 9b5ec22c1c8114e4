use crate::{
    backend::gradient_hook,
    ops::{OpError, Real, device_error},
    ranks::failure,
};
use dfdx::{
    nn::{TensorCollection, ZeroGrads},
    shapes::{Rank0, Shape},
    tensor::{Cpu, Gradients, Merge, NoneTape, OwnedTape, PutTape, SplitTape, Storage, Tape, Tensor, Trace},
    tensor_ops::{Backward as _, Device},
};
use std::{fmt, marker::PhantomData, ptr};

/// A tape that records a pass of a `Model`, made by [`recording`](Record::recording). The gradients of its
/// backward pass are [those of this model](GradientsOf).
///
/// It records what dfdx's [`OwnedTape`] records.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::Recording};
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// let model = Layer::build(&Cpu::default());
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().zeros();
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu, Recording<Layer, f32, Cpu>> =
///     model.forward(x.put_tape(model.recording()));
/// ```
pub struct Recording<Model, E = f32, D: Storage<E> = Cpu> {
    tape: OwnedTape<E, D>,
    model: Address<Model>,
}

/// The address of the recorded model. Two models of one type lie at two addresses.
struct Address<Model> {
    address: Option<usize>,
    model: PhantomData<fn() -> Model>,
}

impl<Model> Address<Model> {
    const UNKNOWN: Self = Self { address: None, model: PhantomData };

    fn of(model: &Model) -> Self {
        Self { address: Some(ptr::from_ref(model).addr()), model: PhantomData }
    }
}

impl<Model, E, D: Storage<E>> Default for Recording<Model, E, D> {
    fn default() -> Self {
        Self { tape: OwnedTape::default(), model: Address::UNKNOWN }
    }
}
impl<Model, E, D: Storage<E>> Merge<Self> for Recording<Model, E, D> {
    fn merge(self, other: Self) -> Self {
        let model = if self.model.address.is_some() { self.model } else { other.model };
        Self { tape: self.tape.merge(other.tape), model }
    }
}
impl<Model, E, D: Storage<E>> Merge<NoneTape> for Recording<Model, E, D> {
    fn merge(self, _: NoneTape) -> Self {
        self
    }
}
impl<Model, E, D: Storage<E>> Tape<E, D> for Recording<Model, E, D> {
    const OWNS_TAPE: bool = true;

    fn add_backward_op<F>(&mut self, operation: F)
    where
        F: 'static + FnOnce(&mut Gradients<E, D>) -> Result<(), D::Err>,
    {
        self.tape.add_backward_op(operation);
    }
}
impl<Model, E, D: Storage<E>> fmt::Debug for Recording<Model, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}

/// A model whose passes can be recorded for a backward pass: every model is.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*};
/// let device = Cpu::default();
/// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0; 4 * 8]);
/// let labels = TokenIds::from_ids(&[2; 4], None, (Batch, SeqLen))?;
/// let logits = model.forward(x.put_tape(model.recording()));
/// let gradients = cross_entropy(logits, &labels, Reduction::MeanAll).backward();
/// # let _: typed_transformer::train::GradientsOf<Linear<EmbedDim, VocabSize, f32, Cpu>, f32, Cpu> = gradients;
/// # Ok::<(), TokenError>(())
/// ```
pub trait Record<E, D: Storage<E>>: Sized {
    /// An empty tape, which records one pass of this model.
    fn recording(&self) -> Recording<Self, E, D>;
}
impl<Model: TensorCollection<E, D>, E: Real, D: Device<E>> Record<E, D> for Model {
    fn recording(&self) -> Recording<Self, E, D> {
        gradient_hook::begin_pass();
        Recording { tape: OwnedTape::default(), model: Address::of(self) }
    }
}

/// The gradients of the parameters of a `Model`: what [`update`](super::update) takes.
///
/// The gradients of another type of model, of another element type or of another device do not compile in
/// the place of these.
///
/// ```
/// # use dfdx::tensor_ops::SumTo;
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{GradientsOf, Sgd, update}};
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// let mut model = Layer::build(&Cpu::default());
/// let gradients: GradientsOf<Layer, f32, Cpu> = model.bias.clone().put_tape(model.recording()).sum().backward();
/// let norm = update(&mut model, gradients, &mut Sgd::default(), 0.1, f64::INFINITY)?;
/// // The gradient of each of the 28 biases is 1.
/// assert!((norm - 28f64.sqrt()).abs() < 1e-6);
/// # Ok::<(), OpError>(())
/// ```
pub struct GradientsOf<Model, E = f32, D: Storage<E> = Cpu> {
    pub(super) gradients: Gradients<E, D>,
    model: Address<Model>,
}

impl<Model, E: Real, D: Device<E>> GradientsOf<Model, E, D> {
    /// Zeros for all parameters of a model, to which [`accumulate_gradients`](super::accumulate_gradients)
    /// and [`master_gradients`](super::master_gradients) add. They hold the model's parameters only, so a
    /// backward pass keeps no other gradients.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::GradientsOf};
    /// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
    /// assert_eq!(GradientsOf::zeros(&model)?.of(&model.bias)?.as_vec(), [0.0; 28]);
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn zeros(model: &Model) -> Result<Self, OpError>
    where
        Model: TensorCollection<E, D>,
    {
        let gradients = model.try_alloc_grads().map_err(device_error("zeros"))?;
        Ok(Self { gradients, model: Address::of(model) })
    }

    /// Gradients that dfdx computed on a tape of its own. Nothing checks that they are those of a `Model`.
    #[must_use]
    pub fn unchecked(gradients: Gradients<E, D>) -> Self {
        Self { gradients, model: Address::UNKNOWN }
    }

    /// The gradient of a parameter; zero if the parameter does not affect the loss.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*};
    /// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
    /// # use dfdx::tensor_ops::SumTo;
    /// let mut gradients = model.bias.clone().put_tape(model.recording()).sum().backward();
    /// assert_eq!(gradients.of(&model.bias)?.as_vec(), [1.0; 28]);
    /// assert_eq!(gradients.of(&model.weight)?.as_vec(), [0.0; 8 * 28]);
    /// # Ok::<(), OpError>(())
    /// ```
    pub fn of<Dims: Shape>(&mut self, parameter: &Tensor<Dims, E, D>) -> Result<Tensor<Dims, E, D>, OpError> {
        self.gradients.try_alloc_for(parameter).map_err(device_error("gradient"))?;
        Ok(self.gradients.get(parameter))
    }

    /// Whether the gradients were recorded for a model at another address: another model, or this one before it was moved.
    pub(super) fn belong_to_other(&self, model: &Model) -> bool {
        self.model.address.is_some_and(|address| address != ptr::from_ref(model).addr())
    }

    /// A tape whose backward pass adds to these gradients.
    pub(super) fn into_recording(self, device: &D) -> Result<Recording<Model, E, D>, D::Err> {
        // dfdx only starts a tape with given gradients at a tensor.
        let unused: Tensor<Rank0, E, D> = device.try_zeros()?;
        let (_, tape) = unused.traced(self.gradients).split_tape();
        Ok(Recording { tape, model: self.model })
    }
}

impl<Model, E, D: Storage<E>> fmt::Debug for GradientsOf<Model, E, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GradientsOf")
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
///     loss.try_backward()
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
    fn run(self, loss: Tensor<Rank0, E, D>) -> Result<Self::Gradients, D::Err>;
}
impl<Model, E: Real, D: Device<E>> GradientTape<E, D> for Recording<Model, E, D> {
    type Gradients = GradientsOf<Model, E, D>;

    fn run(self, loss: Tensor<Rank0, E, D>) -> Result<Self::Gradients, D::Err> {
        let gradients = loss.put_tape(self.tape).try_backward()?;
        Ok(GradientsOf { gradients, model: self.model })
    }
}

/// The backward pass of a loss.
///
/// ```
/// # use dfdx::tensor_ops::SumTo;
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*};
/// let model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// let loss = model.bias.clone().put_tape(model.recording()).sum();
/// let mut gradients = loss.try_backward()?;
/// assert_eq!(gradients.of(&model.bias)?.as_vec(), [1.0; 28]);
/// # Ok::<(), OpError>(())
/// ```
pub trait Backpropagate<E, D: Storage<E>> {
    /// The tape of the loss.
    type Tape;

    /// The gradients of the recorded model's parameters.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    fn try_backward(self) -> Result<<Self::Tape as GradientTape<E, D>>::Gradients, OpError>
    where
        Self::Tape: GradientTape<E, D>;

    /// [`try_backward`](Self::try_backward), but panics with the text of the error.
    fn backward(self) -> <Self::Tape as GradientTape<E, D>>::Gradients
    where
        Self: Sized,
        Self::Tape: GradientTape<E, D>,
    {
        self.try_backward().unwrap_or_else(|error| panic!("{error}"))
    }
}

macro_rules! backpropagate {
    ($tape:ty, $($Model:ident)?) => {
        impl<$($Model,)? E: Real, D: Device<E>> Backpropagate<E, D> for Tensor<Rank0, E, D, $tape> {
            type Tape = $tape;

            fn try_backward(self) -> Result<<$tape as GradientTape<E, D>>::Gradients, OpError>
            where
                $tape: GradientTape<E, D>,
            {
                let (loss, tape) = self.split_tape();
                let gradients = tape.run(loss).map_err(device_error("backward"));
                failure::report().map_err(|source| OpError::Ranks { op: "backward", source })?;
                gradients
            }
        }
    };
}
backpropagate!(Recording<Model, E, D>, Model);
// A loss without a tape has the method too, so that the error names what is missing.
backpropagate!(NoneTape,);
