use super::{
    OpError, Real,
    contraction::{Label, Labelled, contract, label_array},
    dim_error, ensure_not_empty,
    operand::{JoinTapes, JoinedTape, OperandTape, TensorOrRef, distinct_from},
    views::{NamedAxes, Sizes},
};
use crate::{
    backend::Backend,
    dims::{AxisOf, Dim, FollowedBy, HasAxis, check_same_size},
};
use dfdx::{
    shapes::HasShape,
    tensor::{PutTape, Tensor},
};
use std::array;
use typed_transformer_macros::panicking;

/// `Σ x · w` over the axis `Name`: the contraction of two tensors along one axis.
///
/// `(.., Name, ..), (.., Name, ..) -> (..)`: the other axes of `x`, and then those of `w`
///
/// It is a short form of [`einsum!`](crate::einsum!), which also takes tensors that share more than one axis.
///
/// # Errors
/// [`OpError::Dim`] if the axis has two sizes; [`OpError::Empty`] if an operand has no elements;
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::dot, prelude::*};
/// dims! { pub EmbedDim = 2; pub HiddenDim = 3; pub SeqLen = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0]);
/// let weight: Tensor<(HiddenDim, EmbedDim), f32, Cpu> =
///     device.tensor(vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
/// let y: Tensor<(SeqLen, HiddenDim), f32, Cpu> = dot(x, &weight, axis::<EmbedDim>());
/// assert_eq!(y.as_vec(), [1.0, 2.0, 3.0]);
/// ```
#[panicking]
pub fn try_dot<
    Dims,
    Other,
    Name: Dim,
    WhichAxis,
    WhichOtherAxis,
    E: Real,
    D: Backend<E>,
    T,
    OtherTape,
    const N: usize,
    const OTHER_N: usize,
    const BOTH_N: usize,
>(
    x: impl TensorOrRef<Dims, E, D, T>,
    w: impl TensorOrRef<Other, E, D, OtherTape>,
    _: AxisOf<Name>,
) -> Result<
    Tensor<<Dims::Remaining as FollowedBy<Other::Remaining>>::Both, E, D, JoinedTape<T, OtherTape, E, D>>,
    OpError,
>
where
    Dims: NamedAxes<N> + HasAxis<Name, WhichAxis, Remaining: FollowedBy<Other::Remaining, Both: NamedAxes<BOTH_N>>>,
    Other: NamedAxes<OTHER_N> + HasAxis<Name, WhichOtherAxis>,
    T: JoinTapes<OtherTape, E, D>,
    [usize; N]: Sizes,
    [usize; OTHER_N]: Sizes,
    [usize; BOTH_N]: Sizes,
{
    const OP: &str = "dot";
    let ((x, tape), (w, other_tape)) = (x.split(), w.split());
    check_same_size("the first operand", x.shape().axis(), "the second", w.shape().axis()).map_err(dim_error(OP))?;
    ensure_not_empty(OP, x.shape())?;
    ensure_not_empty(OP, w.shape())?;
    let x = x.put_tape(tape.join(other_tape).into_tape());
    let w = distinct_from(&x, w.put_tape(Default::default()))?;

    let labels: [Label; N] = array::from_fn(|axis| axis as Label);
    let other_labels: [Label; OTHER_N] = array::from_fn(|axis| match axis == Other::INDEX {
        true => labels[Dims::INDEX],
        false => (N + axis) as Label,
    });
    let rest = labels.iter().chain(&other_labels).filter(|label| **label != labels[Dims::INDEX]);
    let to = label_array(&rest.copied().collect::<Vec<_>>());
    let x = Labelled { tensor: Dims::into_sizes(OP, x)?, labels };
    let w = Labelled { tensor: Other::into_sizes(OP, w)?, labels: other_labels };
    NamedAxes::from_sizes(OP, contract(OP, x, w, to)?)
}
