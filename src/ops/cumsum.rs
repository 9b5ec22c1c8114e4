use super::{OpError, Real, concat_split::outer_len_inner, device_error, ensure_not_empty, unnamed::reshape_to};
use crate::backend::{Backend, MiddleAxis, Tape, cumsum_kernel, run_kernel};
use crate::dims::{AxisOf, Dim, HasAxis};
use dfdx::shapes::{Axis, HasShape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{TryAdd, TryConcatAlong, TryMul};

/// The cumulative sums along the axis `Name`: `out[.., n, ..] = Σ input[.., i, ..]` over `i <= n`. The shape stays the
/// same.
///
/// ```
/// use typed_transformer::{ops::cumsum, prelude::*};
/// dims! { pub EmbedDim = 2; pub SeqLen = 3; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
/// assert_eq!(cumsum(x, axis::<SeqLen>())?.as_vec(), [1.0, 10.0, 3.0, 30.0, 6.0, 60.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn cumsum<Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "cumsum";
    let shape = *input.shape();
    ensure_not_empty(OP, &shape)?;
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    if D::HAS_KERNELS {
        let axis = MiddleAxis { outer, len, inner };
        return run_kernel(OP, shape, |tape| cumsum_kernel(D::read(input, tape)?, axis));
    }
    let mut sums = reshape_to(OP, input, (outer, len, inner))?;
    let compute = || {
        // Each sum of `width` elements and the one before it make a sum of twice as many.
        let mut width = 1;
        while width < len {
            // The backward pass of dfdx's slice overwrites the gradient of its input, and a scaled tensor is a new one.
            let all = sums.clone().try_mul(E::one())?;
            let before = D::reshape(all.try_slice((.., ..len - width, ..))?, (outer, len - width, inner))?;
            let nothing: Tensor<_, E, D> = sums.device().try_zeros_like(&(outer, width, inner))?;
            sums = sums.try_add((nothing.retaped::<T>(), before).try_concat_along(Axis::<1>)?)?;
            width *= 2;
        }
        Ok(sums)
    };
    reshape_to(OP, compute().map_err(device_error::<D::Err>(OP))?, shape)
}
