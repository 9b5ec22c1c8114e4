use super::{Backend, Operand, Tape, tensor_id};
use crate::real::Real;
use dfdx::shapes::Shape;
use dfdx::tensor::{CpuError, Merge, NoneTape, PutTape, SplitTape, Storage, Tensor, UniqueId};

/// The tape that a weight may have if the input has the tape `T`: `NoneTape` or `T`.
///
/// A parameter of a model has `NoneTape`. A weight that is computed from parameters has the tape of the input, so that
/// its gradient reaches the parameters. The computation begins with `parameter.retaped::<T>()`.
///
/// ```
/// use typed_transformer::{ops::offset, prelude::*, train::Recording};
/// type Pass = Recording<(), f32, Cpu>;
/// dims! { pub EmbedDim = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let weight: Tensor<(EmbedDim,), f32, Cpu> = device.tensor(vec![0.0, 1.0]);
/// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, -1.0]);
/// // Gemma's norm: it scales by 1 + w.
/// let scale = offset(weight.retaped::<Pass>(), 1.0)?;
/// assert_eq!(rms_norm(x.put_tape(Pass::default()), &scale, 0.0)?.as_vec(), [1.0, -2.0]);
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the weight has a tape that the input does not have",
    label = "the weight has the tape `{Self}`, the input has `{T}`",
    note = "a parameter has no tape; the weight that is computed from it has the tape of the input: \
            `parameter.retaped::<T>()`"
)]
pub trait WeightTape<T, E, D: Storage<E>>: Tape<E, D> {
    /// A tape of the input's type, with what this one has recorded.
    #[doc(hidden)]
    fn into_type_of_input(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<W: Tape<E, D>, T: Tape<E, D> + Merge<W>, E, D: Storage<E>> WeightTape<T, E, D> for W {
    fn into_type_of_input(self) -> T {
        T::default().merge(self)
    }
}

/// A weight on `tape`, with what its own tape has recorded.
pub(crate) fn weight_on_tape<Dims: Shape, E: Real, D: Storage<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    weight: &Tensor<Dims, E, D, W>,
    tape: T,
) -> Tensor<Dims, E, D, T> {
    let (weight, weight_tape) = weight.clone().split_tape();
    let mut tape = tape.merge(weight_tape.into_type_of_input());
    if !W::OWNS_TAPE {
        mark_used(tensor_id(&weight), &mut tape);
    }
    weight.put_tape(tape)
}

/// [`SharedTape::mark_used`](super::SharedTape::mark_used), if `tape` records.
pub(crate) fn mark_used<E, D: Storage<E>, T: Tape<E, D>>(parameter: UniqueId, tape: &mut T) {
    if let Some(tape) = tape.shared() {
        tape.mark_used(parameter);
    }
}

/// A weight as the operand of a kernel.
pub(crate) fn read_weight<Dims: Shape, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    weight: &Tensor<Dims, E, D, W>,
    tape: &mut T,
) -> Result<Operand, CpuError> {
    match W::OWNS_TAPE {
        true => D::read(weight_on_tape(weight, T::default()), tape),
        false => D::read_parameter(&weight.retaped::<NoneTape>(), tape),
    }
}
