mod contract;

pub(super) use contract::TensorAndTape;
#[doc(hidden)]
pub use contract::{Over, repeated, summed};

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
/// Axes are compared by their spelling in this call, so an axis has the same spelling in all places. An operand is a
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
