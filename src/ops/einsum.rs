//! [`einsum!`](crate::einsum!), and the functions that it calls.

use super::contraction::{Label, Labelled, contract, sum_to};
use super::operand::{AsWritten, JoinTapes, JoinedTape, OperandTape, TensorOrRef, second_operand};
use super::views::{NamedAxes, Sizes};
use super::{OpError, Real, dim_error, ensure_not_empty};
use crate::backend::{Backend, Tape};
use crate::dims::{DataDim, Dim, DimError};
use crate::internal::Internal;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{PutTape, Storage, Tensor};
use std::marker::PhantomData;

/// `Σ x · w` over the axes that are not in the result: a contraction of one, two or three tensors, by name.
///
/// ```text
/// einsum!(x: (Batch, SrcLen, EmbedDim), w: (HiddenDim, EmbedDim) -> (Batch, SrcLen, HiddenDim))
/// einsum!(x: (Batch, SrcLen, EmbedDim) -> (EmbedDim, Batch))
/// ```
///
/// Each operand is an expression and the dimensions of its tensor. The compiler compares them with the tensor's type.
/// Operands that name the same axis share it. An axis of two operands that the result does not have is summed over.
/// A single operand is summed over all axes that the result does not have. These do not compile, each with an error at
/// the axis:
///
/// - an axis of the result that is in no operand;
/// - an axis that only one of several operands has, if the result does not have it;
/// - an axis that a tensor has twice.
///
/// Axes are compared by their spelling in this call, so spell an axis the same way everywhere. An operand is a
/// tensor, or a reference to a tensor without a tape ([`TensorOrRef`](crate::ops::TensorOrRef)). Tensors have up to 6
/// axes. Of three operands, the first two are contracted first.
///
/// Which code runs depends on the axes:
///
/// - The operands share axes, and none is summed over: a product of broadcast views, element by element.
/// - `(rows, inner), (columns, inner) -> (rows, columns)`, where each may be several axes: the kernel of
///   [`linear`](crate::ops::linear()). It copies an operand that is not contiguous.
/// - Any other contraction is a batch of products of matrices. In `f32` on the CPU a kernel reads the operands and
///   writes the result by their strides, so it copies nothing, whatever the order of the axes. Elsewhere the definition
///   makes one batched product of views. It copies an operand in which the axes of a block (batch, rows, columns,
///   summed) are not neighbours.
///
/// The name is NumPy's; the form with names is that of
/// [haliax](https://haliax.readthedocs.io) and [einops](https://openreview.net/forum?id=oapKSVM2bcj).
///
/// # Errors
/// [`OpError::Dim`](crate::ops::OpError::Dim) if an axis has two sizes; it names the axis, both operands and both
/// sizes. [`OpError::Empty`](crate::ops::OpError::Empty) if an operand has no elements.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub Batch = 1; pub QLen = 2; pub KLen = 3; pub NumHeads = 1; pub HeadDim = 1; }
/// let device = Cpu::default();
/// let query: Tensor<(Batch, QLen, NumHeads, HeadDim), f32, Cpu> = device.tensor(vec![1.0, 10.0]);
/// let key: Tensor<(Batch, KLen, NumHeads, HeadDim), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0]);
/// let scores: Tensor<(Batch, NumHeads, QLen, KLen), f32, Cpu> = einsum!(
///     query: (Batch, QLen, NumHeads, HeadDim), key: (Batch, KLen, NumHeads, HeadDim)
///     -> (Batch, NumHeads, QLen, KLen)
/// )?;
/// assert_eq!(scores.as_vec(), [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
/// # Ok::<(), OpError>(())
/// ```
///
/// The sum of each column, of one operand:
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub Rows = 2; pub Columns = 3; }
/// let x: Tensor<(Rows, Columns), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
/// let sums: Tensor<(Columns,), f32, Cpu> = einsum!(x: (Rows, Columns) -> (Columns))?;
/// assert_eq!(sums.as_vec(), [11.0, 22.0, 33.0]);
/// # Ok::<(), OpError>(())
/// ```
///
/// It works in functions that are generic in their dimensions, and a call may be an operand:
///
/// ```
/// use typed_transformer::{dims::Dim, prelude::*};
///
/// /// `xᵀ A y`
/// fn bilinear<Left: Dim, Right: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
///     x: Tensor<(Left,), E, D, T>,
///     matrix: &Tensor<(Left, Right), E, D>,
///     y: Tensor<(Right,), E, D, T>,
/// ) -> Result<Tensor<(), E, D, T>, OpError> {
///     einsum!(einsum!(x: (Left), matrix: (Left, Right) -> (Right))?: (Right), y: (Right) -> ())
/// }
///
/// let device = Cpu::default();
/// let (x, y) = (device.tensor([1.0, 2.0]), device.tensor([1.0, 1.0, 1.0]));
/// let matrix = device.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]);
/// assert_eq!(bilinear::<Const<2>, Const<3>, f32, Cpu, NoneTape>(x, &matrix, y)?.array(), 5.0);
/// # Ok::<(), OpError>(())
/// ```
#[doc(inline)]
pub use typed_transformer_macros::einsum;

const OP: &str = "einsum";

/// A tensor, and its [`OperandTape`].
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

    /// The contraction of two operands. `texts` are the operands as the user wrote them. The labels are those of the
    /// axes of the operands and of the result.
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
        check_sizes(&[OperandAxes::of(texts[0], &x, x_labels)?, OperandAxes::of(texts[1], &w, w_labels)?])?;
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
            OperandAxes::of(texts[0], &x, x_labels)?,
            OperandAxes::of(texts[1], &w, w_labels)?,
            OperandAxes::of(texts[2], &v, v_labels)?,
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
pub fn repeated<Axis: DataDim>() {}

/// An operand's axes, for a comparison of sizes.
struct OperandAxes<'a> {
    text: &'static str,
    names: fn() -> Vec<String>,
    sizes: Vec<usize>,
    labels: &'a [Label],
}

impl<'a> OperandAxes<'a> {
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
fn check_sizes(operands: &[OperandAxes]) -> Result<(), OpError> {
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
