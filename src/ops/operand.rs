use super::{OpError, Real, scale};
use crate::backend::{Backend, Tape, mark_used, tensor_id};
use crate::ranks::Partial;
use dfdx::optim::UnusedTensors;
use dfdx::shapes::{Shape, Unit};
use dfdx::tensor::{Merge, NoneTape, PutTape, SplitTape, Storage, Tensor, UniqueId};

/// A tensor over `Dims`, or a reference to a tensor without a tape, such as a parameter of a model.
///
/// A reference is as good as a clone. It may be either operand, whether or not the other one has a tape.
///
/// ```
/// use typed_transformer::{prelude::*, train::Recording};
/// dims! { pub Batch = 1; pub EmbedDim = 2; pub HiddenDim = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0]);
/// let x = x.put_tape(Recording::<(), f32, Cpu>::default());
/// let weight: Tensor<(HiddenDim, EmbedDim), f32, Cpu> = device.tensor(vec![3.0, 4.0]);
/// let y: Tensor<(Batch, HiddenDim), f32, Cpu, _> = einsum!(
///     &weight: (HiddenDim, EmbedDim), x: (Batch, EmbedDim) -> (Batch, HiddenDim)
/// )?;
/// assert_eq!(y.as_vec(), [11.0]);
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "expected a tensor, or a reference to one without a tape, as an operand",
    label = "`{Self}` is not a tensor of `{E}` over `{Dims}`",
    note = "an operation returns a `Result`, and `?` after it gives the tensor",
    note = "operands have one dtype and one device; a tensor with a tape is passed by value: `x.clone()`; `offset(x, 1.0)` and `scale(x, 2.0)` take numbers, and `full(x.device(), (), 0.0)?`, made before, is one for any other operation"
)]
pub trait TensorOrRef<Dims: Shape, E, D: Storage<E>, Tape> {
    /// The tensor and its tape.
    fn split(self) -> (Tensor<Dims, E, D>, Tape);
}

#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Clone, D: Storage<E>, T: Tape<E, D>> TensorOrRef<Dims, E, D, Taped<T>> for Tensor<Dims, E, D, T> {
    fn split(self) -> (Tensor<Dims, E, D>, Taped<T>) {
        let (tensor, tape) = self.split_tape();
        (tensor, Taped(tape))
    }
}
/// No type implements this trait. It exists for its error message, which rustc shows where a term of a sum over `Axis`
/// stands for a tensor.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tensor over `{Self}` is this rank's term of a sum over `{Axis}`: reduce it before it is used",
    label = "a term of a sum over `{Axis}`, not the sum",
    note = "`all_reduce(terms, &ranks)` makes the sum"
)]
pub trait TensorSumOver<Axis> {}

// Without `do_not_recommend`: an unmet bound here is reported as `TensorSumOver`.
impl<Dims: Shape + TensorSumOver<Axis>, E: Clone, D: Storage<E>, T: Tape<E, D>, Axis> TensorOrRef<Dims, E, D, Taped<T>>
    for Partial<Tensor<Dims, E, D, T>, Axis>
{
    fn split(self) -> (Tensor<Dims, E, D>, Taped<T>) {
        self.into_term().split()
    }
}
#[diagnostic::do_not_recommend]
impl<Dims: Shape, E: Unit, D: Storage<E>> TensorOrRef<Dims, E, D, Untaped> for &Tensor<Dims, E, D> {
    fn split(self) -> (Tensor<Dims, E, D>, Untaped) {
        (self.clone(), Untaped(tensor_id(self)))
    }
}

/// An operand of [`einsum!`](crate::einsum!), a tensor over `Found`, has the axes `Dims` that are written after it.
///
/// rustc suggests no bound that contains an inferred type, so the parameter `Inferred` suppresses that suggestion.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "expected a tensor over `{Dims}`, found one over `{Found}`",
    label = "this operand is a tensor over `{Found}`",
    note = "the axes that are written after an operand are those of its tensor, in their order; `rename` gives an axis another name of its size, such as a `Product`"
)]
pub trait AsWritten<Dims: Shape, Found: Shape, Inferred> {
    /// The same tensor.
    fn as_written<E, D: Storage<E>>(tensor: Tensor<Found, E, D>) -> Tensor<Dims, E, D>;
}

#[diagnostic::do_not_recommend]
impl<Operand, Dims: Shape> AsWritten<Dims, Dims, ()> for Operand {
    fn as_written<E, D: Storage<E>>(tensor: Tensor<Dims, E, D>) -> Tensor<Dims, E, D> {
        tensor
    }
}

/// The tape of a tensor that is passed by value.
pub struct Taped<T>(T);
/// A tensor that is passed by reference has no tape. Its id is kept, so that the other operand's tape can note that it
/// was read.
pub struct Untaped(UniqueId);

/// [`Taped`] or [`Untaped`].
pub trait OperandTape<E, D: Storage<E>> {
    /// The tape that a result gets.
    type Tape: Tape<E, D>;
    /// A tensor with that tape.
    fn put_on<Dims: Shape>(self, tensor: Tensor<Dims, E, D>) -> Tensor<Dims, E, D, Self::Tape>;
}
impl<E, D: Storage<E>, T: Tape<E, D>> OperandTape<E, D> for Taped<T> {
    type Tape = T;
    fn put_on<Dims: Shape>(self, tensor: Tensor<Dims, E, D>) -> Tensor<Dims, E, D, T> {
        tensor.put_tape(self.0)
    }
}
impl<E, D: Storage<E>> OperandTape<E, D> for Untaped {
    type Tape = NoneTape;
    fn put_on<Dims: Shape>(self, tensor: Tensor<Dims, E, D>) -> Tensor<Dims, E, D> {
        tensor
    }
}

/// The tapes of two operands of one result.
#[diagnostic::on_unimplemented(
    message = "the tapes of the operands do not join",
    label = "the operand before this one has no tape, or that of another model",
    note = "pass an operand that has no tape by reference, such as `&weight`; a sum that begins with zeros begins with `zeros.retaped::<T>()`; no operation joins passes of two models"
)]
pub trait JoinTapes<Other, E, D: Storage<E>> {
    /// Both tapes as one.
    type Joined: OperandTape<E, D>;
    fn join(self, other: Other) -> Self::Joined;
}

#[diagnostic::do_not_recommend]
impl<E, D: Storage<E>, T: Tape<E, D> + Merge<R>, R> JoinTapes<Taped<R>, E, D> for Taped<T> {
    type Joined = Self;
    fn join(self, other: Taped<R>) -> Self {
        Self(self.0.merge(other.0))
    }
}
#[diagnostic::do_not_recommend]
impl<E, D: Storage<E>, T: Tape<E, D>> JoinTapes<Untaped, E, D> for Taped<T> {
    type Joined = Self;
    fn join(mut self, Untaped(id): Untaped) -> Self {
        mark_used(id, &mut self.0);
        self
    }
}
#[diagnostic::do_not_recommend]
impl<E, D: Storage<E>, T: Tape<E, D>> JoinTapes<Taped<T>, E, D> for Untaped {
    type Joined = Taped<T>;
    fn join(self, other: Taped<T>) -> Taped<T> {
        other.join(self)
    }
}
#[diagnostic::do_not_recommend]
impl<E, D: Storage<E>> JoinTapes<Untaped, E, D> for Untaped {
    type Joined = Self;
    fn join(self, _: Untaped) -> Self {
        self
    }
}

/// The tape of the result of two operands.
pub type JoinedTape<One, Other, E, D> = <<One as JoinTapes<Other, E, D>>::Joined as OperandTape<E, D>>::Tape;

/// Gives `w` an empty tape, and copies `w` if it is `x` itself. The tape of `x` already joins the tapes of both.
pub fn second_operand<X: Shape, W: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: &Tensor<X, E, D, T>,
    w: Tensor<W, E, D>,
) -> Result<Tensor<W, E, D, T>, OpError> {
    copied_if_same(x, w.put_tape(T::default()))
}

/// `w`, copied if it is `x` itself: dfdx cannot hold two gradients of one tensor at once.
pub fn copied_if_same<X: Shape, W: Shape, E: Real, D: Backend<E>, T: Tape<E, D>, R: Tape<E, D>>(
    x: &Tensor<X, E, D, T>,
    w: Tensor<W, E, D, R>,
) -> Result<Tensor<W, E, D, R>, OpError> {
    let mut tensors = UnusedTensors::default();
    tensors.add(x);
    tensors.add(&w);
    if T::OWNS_TAPE && tensors.ids[0] == tensors.ids[1] { scale(w, 1.0) } else { Ok(w) }
}
