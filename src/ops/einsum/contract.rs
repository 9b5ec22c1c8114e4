//! The functions that [`einsum!`](crate::einsum!) calls.

use crate::backend::{Backend, Tape};
use crate::dims::{Dim, DimError, MaybeSharded};
use crate::internal::Internal;
use crate::ops::contraction::{Label, Labelled, contract, sum_to};
use crate::ops::operand::{AsWritten, JoinTapes, JoinedTape, OperandTape, TensorOrRef, second_operand};
use crate::ops::views::{NamedAxes, Sizes};
use crate::ops::{OpError, Real, dim_error, ensure_not_empty};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{PutTape, Storage, Tensor};
use std::marker::PhantomData;

const OP: &str = "einsum";

/// A tensor, and what a [`TensorOrRef`] says of its tape.
pub type TensorAndTape<Dims, E, D, Tape> = (Tensor<Dims, E, D>, Tape);

/// The functions of [`einsum!`](crate::einsum!) on tensors over `Dims`.
#[doc(hidden)]
pub struct Over<Dims>(PhantomData<Dims>);

impl<Dims: Shape> Over<Dims> {
    /// The first operand.
    pub fn operand<Found: Shape, E, D: Storage<E>, Tape, X, Inferred>(operand: X) -> TensorAndTape<Dims, E, D, Tape>
    where
        X: TensorOrRef<Found, E, D, Tape> + AsWritten<Dims, Found, Inferred>,
    {
        let (tensor, tape) = operand.split();
        (X::as_written(tensor), tape)
    }

    /// A further operand, of the same dtype and device.
    pub fn operand_beside<Other: Shape, Found: Shape, E, D: Storage<E>, OtherTape, Tape, X, Inferred>(
        _: &TensorAndTape<Other, E, D, OtherTape>,
        operand: X,
    ) -> TensorAndTape<Dims, E, D, Tape>
    where
        X: TensorOrRef<Found, E, D, Tape> + AsWritten<Dims, Found, Inferred>,
    {
        Self::operand(operand)
    }

    /// One operand, with its axes in the order of the result, and summed over the others.
    pub fn contract_one<X, XTape, E, D>(
        (x, tape): TensorAndTape<X, E, D, XTape>,
        [labels, to]: [&[Label]; 2],
    ) -> Result<Tensor<Dims, E, D, XTape::Tape>, OpError>
    where
        X: NamedAxes,
        Dims: NamedAxes,
        XTape: OperandTape<E, D>,
        E: Real,
        D: Backend<E>,
    {
        ensure_not_empty(OP, x.shape())?;
        let x = labelled(tape.put_on(x), labels)?;
        Dims::from_sizes(OP, sum_to(OP, x, to)?, Internal(()))
    }

    /// The contraction of two operands. `texts` are the operands as the user wrote them, and `labels` those of the
    /// operands and of the result.
    pub fn contract_two<X, W, XTape, WTape, E, D>(
        (x, x_tape): TensorAndTape<X, E, D, XTape>,
        (w, w_tape): TensorAndTape<W, E, D, WTape>,
        texts: [&'static str; 2],
        [x_labels, w_labels, to]: [&[Label]; 3],
    ) -> Result<Tensor<Dims, E, D, JoinedTape<XTape, WTape, E, D>>, OpError>
    where
        X: NamedAxes,
        W: NamedAxes,
        Dims: NamedAxes,
        XTape: JoinTapes<WTape, E, D>,
        E: Real,
        D: Backend<E>,
    {
        check_sizes(&[Axes::of(texts[0], &x, x_labels)?, Axes::of(texts[1], &w, w_labels)?])?;
        let x = x_tape.join(w_tape).put_on(x);
        let w = second_operand(&x, w)?;
        let product = contract(OP, labelled(x, x_labels)?, labelled(w, w_labels)?, to);
        Dims::from_sizes(OP, product?, Internal(()))
    }

    /// The contraction of three operands. `FirstTwo` is the type of the sizes of the product of the first
    /// two; its value is not read.
    #[allow(clippy::type_complexity)]
    pub fn contract_three<X, W, V, FirstTwo, XTape, WTape, VTape, E, D>(
        (x, x_tape): TensorAndTape<X, E, D, XTape>,
        (w, w_tape): TensorAndTape<W, E, D, WTape>,
        (v, v_tape): TensorAndTape<V, E, D, VTape>,
        _: FirstTwo,
        texts: [&'static str; 3],
        [x_labels, w_labels, v_labels, to]: [&[Label]; 4],
    ) -> Result<Tensor<Dims, E, D, JoinedTape<XTape::Joined, VTape, E, D>>, OpError>
    where
        X: NamedAxes,
        W: NamedAxes,
        V: NamedAxes,
        FirstTwo: Sizes,
        Dims: NamedAxes,
        XTape: JoinTapes<WTape, E, D, Joined: JoinTapes<VTape, E, D>>,
        E: Real,
        D: Backend<E>,
    {
        check_sizes(&[
            Axes::of(texts[0], &x, x_labels)?,
            Axes::of(texts[1], &w, w_labels)?,
            Axes::of(texts[2], &v, v_labels)?,
        ])?;
        let x = x_tape.join(w_tape).join(v_tape).put_on(x);
        let (w, v) = (second_operand(&x, w)?, v.put_tape(Default::default()));

        let of_w = w_labels.iter().filter(|label| !x_labels.contains(label));
        let kept = x_labels.iter().chain(of_w).filter(|label| v_labels.contains(label) || to.contains(label));
        let kept: Vec<Label> = kept.copied().collect();
        let product: Tensor<FirstTwo, E, D, _> = contract(OP, labelled(x, x_labels)?, labelled(w, w_labels)?, &kept)?;
        let product = contract(OP, Labelled::new(product, &kept), labelled(v, v_labels)?, to);
        Dims::from_sizes(OP, product?, Internal(()))
    }
}

/// A contraction sums over this axis.
#[doc(hidden)]
pub fn summed<Axis: Dim>() {}

/// An operand lacks this axis of the result, so its gradient is a sum over the axis.
#[doc(hidden)]
pub fn repeated<Axis: MaybeSharded>() {}

/// An operand's axes, for a comparison of sizes.
struct Axes<'a> {
    text: &'static str,
    names: fn() -> Vec<String>,
    sizes: Vec<usize>,
    labels: &'a [Label],
}

impl<'a> Axes<'a> {
    fn of<Dims: NamedAxes, E: Real, D: Backend<E>>(
        text: &'static str,
        operand: &Tensor<Dims, E, D>,
        labels: &'a [Label],
    ) -> Result<Self, OpError> {
        ensure_not_empty(OP, operand.shape())?;
        Ok(Self { text, names: Dims::names, sizes: operand.shape().concrete().into(), labels })
    }
}

/// Refuses operands in which an axis has two sizes.
fn check_sizes(operands: &[Axes]) -> Result<(), OpError> {
    for (i, right) in operands.iter().enumerate() {
        for left in &operands[..i] {
            for (axis, label) in left.labels.iter().enumerate() {
                let Some(other) = right.labels.iter().position(|other| other == label) else { continue };
                let (expected, found) = (left.sizes[axis], right.sizes[other]);
                if expected != found {
                    let (dim, left, right) = ((left.names)().swap_remove(axis), left.text, right.text);
                    return Err(dim_error(OP)(DimError::Mismatch { dim, left, expected, right, found }));
                }
            }
        }
    }
    Ok(())
}

fn labelled<Dims: NamedAxes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    tensor: Tensor<Dims, E, D, T>,
    labels: &[Label],
) -> Result<Labelled<'_, Dims::Plain, E, D, T>, OpError> {
    Ok(Labelled::new(Dims::into_sizes(OP, tensor, Internal(()))?, labels))
}
