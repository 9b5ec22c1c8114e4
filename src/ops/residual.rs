use super::{OpError, Real, dim_error, try_scale, unnamed::try_zip};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim, MaybeSharded, check_same_size},
};
use dfdx::{
    shapes::HasShape,
    tensor::{Tape, Tensor},
    tensor_ops::TryAdd,
};
use typed_transformer_macros::panicking;

/// `x + f(x)`: adds the output of a sublayer to its input.
///
/// `(B, S, M), (B, S, M) -> (B, S, M)`
///
/// # Errors
/// [`OpError::Dim`] if two sizes of `B` or of `S` differ; [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{ops::try_residual, prelude::*};
/// dims! { pub EmbedDim = 2; pub SeqLen = 1; pub Batch; }
/// let device = Cpu::default();
/// let batch = |rows| device.zeros_like(&(Batch::new(rows), SeqLen, EmbedDim));
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = batch(3);
/// assert_eq!(residual(x.clone(), batch(3)).as_vec(), [0.0; 6]);
/// assert_eq!(
///     try_residual(x, batch(4)).unwrap_err().to_string(),
///     "residual: `Batch` is 3 in the sublayer's input and 4 in its output",
/// );
/// ```
///
/// ```
/// use typed_transformer::{ops::try_residual, prelude::*};
/// dims! { pub EmbedDim = 1; pub SeqLen; pub Batch = 1; }
/// let device = Cpu::default();
/// let x = |len| -> Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> {
///     device.zeros_like(&(Batch, SeqLen::new(len), EmbedDim))
/// };
/// assert!(try_residual(x(2), x(2)).is_ok());
/// assert!(matches!(try_residual(x(2), x(3)), Err(OpError::Dim { op: "residual", .. })));
/// ```
#[panicking]
pub fn try_residual<B: MaybeSharded, S: Dim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, M), E, D, T>,
    output: Tensor<(B, S, M), E, D, T>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    const OP: &str = "residual";
    let ((batch, len, _), (out_batch, out_len, _)) = (*input.shape(), *output.shape());
    check_same_size("the sublayer's input", batch, "its output", out_batch).map_err(dim_error(OP))?;
    check_same_size("the sublayer's input", len, "its output", out_len).map_err(dim_error(OP))?;
    if D::HAS_KERNELS {
        return D::fused_residual(input, output);
    }
    // dfdx refuses to add a tensor to itself, and a scaled tensor is a new one.
    try_zip(OP, input, try_scale(output, 1.0)?, |x, y| x.try_add(y))
}
