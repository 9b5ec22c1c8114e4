use super::{OpError, Real, concat_split::slice_axis};
use crate::backend::{Backend, Tape};
use crate::dims::{AxisOf, Dim, HasAxis};
use dfdx::shapes::{Axes, HasShape};
use dfdx::tensor::Tensor;

/// The indices `start..start + part` of the axis `Len`: `(.., Len, ..) -> (.., Part, ..)`.
///
/// It is [`narrow`](super::narrow) for a part that is not bounded by `Len` in its type, such as a part of a run-time
/// axis.
///
/// # Errors
/// [`OpError::Range`] if the part goes past the end.
///
/// ```
/// use typed_transformer::{ops::slice, prelude::*};
/// dims! { pub SeqLen; pub Prompt; }
/// let x: Tensor<(SeqLen,), f32, Cpu> = Cpu::default().tensor((vec![1.0, 2.0, 3.0], (SeqLen::new(3),)));
/// let prompt: Tensor<(Prompt,), f32, Cpu> = slice(x.clone(), axis::<SeqLen>(), 0, Prompt::new(2))?;
/// assert_eq!(prompt.as_vec(), [1.0, 2.0]);
/// assert_eq!(
///     slice(x, axis::<SeqLen>(), 2, Prompt::new(2)).unwrap_err().to_string(),
///     "slice: Prompt=2 from 2 on is not inside SeqLen=3",
/// );
/// # Ok::<(), OpError>(())
/// ```
pub fn slice<Dims, Len: Dim, Part: Dim, WhichAxis: Axes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Len>,
    start: usize,
    part: Part,
) -> Result<Tensor<Dims::Replaced<Part>, E, D, T>, OpError>
where
    Dims: HasAxis<Len, WhichAxis>,
{
    slice_axis("slice", input, start, part)
}

/// The last indices of the axis `Len`, as many as `part` has: `(.., Len, ..) -> (.., Part, ..)`.
///
/// # Errors
/// [`OpError::Range`] if the axis has fewer.
///
/// ```
/// use typed_transformer::{ops::slice_last, prelude::*};
/// dims! { pub SeqLen; pub Next = 2; }
/// let x: Tensor<(SeqLen,), f32, Cpu> = Cpu::default().tensor((vec![1.0, 2.0, 3.0], (SeqLen::new(3),)));
/// let next: Tensor<(Next,), f32, Cpu> = slice_last(x, axis::<SeqLen>(), Next)?;
/// assert_eq!(next.as_vec(), [2.0, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn slice_last<Dims, Len: Dim, Part: Dim, WhichAxis: Axes, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    axis: AxisOf<Len>,
    part: Part,
) -> Result<Tensor<Dims::Replaced<Part>, E, D, T>, OpError>
where
    Dims: HasAxis<Len, WhichAxis>,
{
    let start = input.shape().axis().size().saturating_sub(part.size());
    slice(input, axis, start, part)
}
