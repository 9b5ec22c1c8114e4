use super::concat_split::slice_axis;
use super::unnamed::reshape_to;
use super::{OpError, Real};
use crate::backend::{Backend, Tape};
use crate::dims::{AxisOf, Const, Dim, HasAxis, name};
use crate::tokens::IndexOf;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;

/// One index of the axis `Name`, which is removed: `(.., Name, ..) -> (.., ..)`.
///
/// The index is a [`Fin<Name>`](crate::tokens::Fin), or a `usize` that is compared with the size of the axis.
/// [`gather`](fn@super::gather) takes a different index for each element.
///
/// # Errors
/// [`OpError::Index`] if the index is not below the size of the axis.
///
/// ```
/// use typed_transformer::{ops::select, prelude::*};
/// dims! { pub EmbedDim = 2; pub NumLayers = 3; pub SeqLen; }
/// let device = Cpu::default();
/// let layers: Tensor<(NumLayers, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// let last: Tensor<(EmbedDim,), f32, Cpu> = select(layers, axis::<NumLayers>(), Fin::<NumLayers>::literal::<2>())?;
/// assert_eq!(last.as_vec(), [5.0, 6.0]);
///
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = device.zeros_like(&(SeqLen::new(4), EmbedDim));
/// let first: Tensor<(EmbedDim,), f32, Cpu> = select(x.clone(), axis::<SeqLen>(), 0)?;
/// let error = select(x, axis::<SeqLen>(), 4).unwrap_err();
/// assert_eq!(error.to_string(), "select: 4 is not an index of SeqLen=4");
/// # Ok::<(), OpError>(())
/// ```
pub fn select<Dims, Name: Dim, I: IndexOf<Name>, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Name>,
    index: I,
) -> Result<Tensor<Dims::Remaining, E, D, T>, OpError>
where
    Dims: HasAxis<Name, WhichAxis>,
{
    const OP: &str = "select";
    let (shape, index) = (*input.shape(), index.index());
    if index >= shape.axis().size() {
        return Err(OpError::Index { op: OP, index, axis: format!("{:?}", shape.axis()) });
    }
    let place = slice_axis(OP, input, index, Const::<1>)?;
    reshape_to(OP, place, shape.remove_axis())
}

pub(super) fn shape_of_sizes<Dims: Shape>(op: &'static str, sizes: &[usize]) -> Result<Dims, OpError> {
    let mut concrete = Dims::Concrete::default();
    sizes.iter().enumerate().for_each(|(axis, &size)| concrete[axis] = size);
    let shape_error = || OpError::Shape { op, from: format!("{sizes:?}"), to: name::<Dims>() };
    Dims::from_concrete(&concrete).ok_or_else(shape_error)
}
