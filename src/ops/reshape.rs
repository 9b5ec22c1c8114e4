use super::{OpError, Real, unnamed::reshape_to};
use crate::backend::{Backend, Tape};
use crate::dims::{SameFactors, num_elements};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;

/// The same elements in the same order, with axes merged to a [`Product`](crate::dims::Product) or split from one.
///
/// For example `(Batch, Product<NumHeads, HeadDim>) -> (Batch, NumHeads, HeadDim)`. The names of the axes and their
/// order stay. [`rearrange!`](crate::rearrange!) also changes the order, [`rename`](crate::ops::rename) the name of an
/// axis.
///
/// ```
/// use typed_transformer::{ops::reshape, prelude::*};
/// dims! { pub NumHeads = 2; pub HeadDim = 2; pub Batch; }
/// let shape = (Batch::new(1), Product::default());
/// let x: Tensor<(Batch, Product<NumHeads, HeadDim>), f32, Cpu> =
///     Cpu::default().tensor((vec![1.0, 2.0, 3.0, 4.0], shape));
/// let heads: Tensor<(Batch, NumHeads, HeadDim), f32, Cpu> =
///     reshape(x.clone(), (Batch::new(1), NumHeads, HeadDim))?;
/// assert_eq!(heads.as_vec(), [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(
///     reshape(x, (Batch::new(2), NumHeads, HeadDim)).err().unwrap().to_string(),
///     "reshape: shape (Batch=1, Product<NumHeads, HeadDim>=4) is not compatible with \
///      (Batch=2, NumHeads=2, HeadDim=2)",
/// );
/// # Ok::<(), OpError>(())
/// ```
pub fn reshape<Dims, To: Shape, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    shape: To,
) -> Result<Tensor<To, E, D, T>, OpError>
where
    Dims: Shape + SameFactors<To>,
{
    const OP: &str = "reshape";
    if input.shape().num_elements() != num_elements(&shape) {
        return Err(OpError::Shape { op: OP, from: format!("{:?}", input.shape()), to: format!("{shape:?}") });
    }
    reshape_to(OP, input, shape)
}
