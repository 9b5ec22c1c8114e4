use super::{OpError, Real, dim_error, elementwise};
use crate::backend::{Arithmetic, Backend, Tape};
use crate::dims::NamedShape;
use dfdx::{shapes::HasShape, tensor::Tensor};

/// `x + f(x)`: adds the output of a sublayer to its input.
///
/// `(..), (..) -> (..)`, for tensors of up to 6 axes.
///
/// ```
/// use typed_transformer::{ops::residual, prelude::*};
/// dims! { pub EmbedDim = 1; pub SeqLen; pub Batch; }
/// let device = Cpu::default();
/// let x = |rows, len| -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
///     device.zeros_like(&(Batch::new(rows), SeqLen::new(len), EmbedDim))
/// };
/// assert_eq!(residual(x(3, 2), x(3, 2))?.as_vec(), [0.0; 6]);
/// assert_eq!(
///     residual(x(3, 2), x(4, 2)).unwrap_err().to_string(),
///     "residual: `Batch` is 3 in the sublayer's input and 4 in its output",
/// );
/// assert!(matches!(residual(x(3, 2), x(3, 3)), Err(OpError::Dim { op: "residual", .. })));
/// # Ok::<(), OpError>(())
/// ```
pub fn residual<Dims: NamedShape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    sublayer_output: Tensor<Dims, E, D, T>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    const OP: &str = "residual";
    let (shape, out_shape) = (*input.shape(), *sublayer_output.shape());
    shape.check_same_sizes("the sublayer's input", out_shape, "its output").map_err(dim_error(OP))?;
    elementwise(OP, Arithmetic::Add, input, sublayer_output)
}
