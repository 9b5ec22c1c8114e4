use super::{OpError, Real, unnamed::reshape_to};
use crate::backend::{Backend, Tape};
use crate::dims::{AxisOf, CanBecome, Dim, HasAxis};
use dfdx::{shapes::HasShape, tensor::Tensor};

/// The same tensor with another name for one axis: `(.., From, ..) -> (.., To, ..)`.
///
/// Beside it, only a `slice`, `narrow` or `take` of all indices turns a named axis into another one of the same size.
///
/// ```
/// use typed_transformer::{ops::rename, prelude::*};
/// dims! { pub EmbedDim = 2; pub NumHeads = 2; pub HeadDim = 1; pub QLen; pub KLen; }
/// let x: Tensor<(QLen, EmbedDim), f32, Cpu> = Cpu::default().zeros_like(&(QLen::new(3), EmbedDim));
/// let keys: Tensor<(KLen, EmbedDim), f32, Cpu> = rename(x, axis::<QLen>(), KLen::new(3))?;
/// assert_eq!(
///     rename(keys.clone(), axis::<KLen>(), QLen::new(4)).unwrap_err().to_string(),
///     "rename: shape (KLen=3, EmbedDim=2) is not compatible with (QLen=4, EmbedDim=2)",
/// );
/// let heads: Tensor<(KLen, Product<NumHeads, HeadDim>), f32, Cpu> =
///     rename(keys, axis::<EmbedDim>(), Product::default())?;
/// # Ok::<(), OpError>(())
/// ```
pub fn rename<Dims, From: CanBecome<To>, To: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<From>,
    to: To,
) -> Result<Tensor<Dims::Replaced<To>, E, D, T>, OpError>
where
    Dims: HasAxis<From, WhichAxis>,
{
    const OP: &str = "rename";
    let from = *input.shape();
    let shape = from.replace_axis(to);
    if from.axis().size() != to.size() {
        return Err(OpError::Shape { op: OP, from: format!("{from:?}"), to: format!("{shape:?}") });
    }
    reshape_to(OP, input, shape)
}
