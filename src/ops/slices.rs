//! Parts of an axis: slices, one index, and windows of neighbours.

use super::gather::{gather_runs, run_starts};
use super::unnamed::reshape_to;
use super::views::{outer_len_inner, shape_of_sizes, sizes};
use super::{OpError, Real, device_error, ensure_not_empty, range_error, scale};
use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, AxisOf, BroadcastFrom, Const, Dim, HasAxis, WindowOf, Windows};
use crate::tokens::IndexOf;
use dfdx::shapes::HasShape;
use dfdx::tensor::Tensor;

/// A slice of the axis `Len`: `(.., Len, ..) -> (.., Part, ..)`. It begins at index `start`, and the type bounds
/// `Part` by `Len`.
///
/// # Errors
/// [`OpError::Range`] if the part goes past the end.
///
/// ```
/// use typed_transformer::{ops::narrow, prelude::*};
/// dims! { pub Len = 4; pub Part = 2; }
/// let x: Tensor<(Len,), f32, Cpu> = Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0]);
/// let last: Tensor<(Part,), f32, Cpu> = narrow(x.clone(), axis::<Len>(), 2, Part)?;
/// assert_eq!(last.as_vec(), [3.0, 4.0]);
/// assert_eq!(
///     narrow(x, axis::<Len>(), 3, Part).unwrap_err().to_string(),
///     "narrow: Part=2 from 3 on is not inside Len=4",
/// );
/// # Ok::<(), OpError>(())
/// ```
pub fn narrow<Dims, Len: Dim, Part: AtMost<Len>, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Len>,
    start: usize,
    part: Part,
) -> Result<Tensor<Dims::Replaced<Part>, E, D, T>, OpError>
where
    Dims: HasAxis<Len, WhichAxis>,
{
    slice_axis("narrow", input, start, part)
}

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
pub fn slice<Dims, Len: Dim, Part: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
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
pub fn slice_last<Dims, Len: Dim, Part: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
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

/// One index of the axis `Name`, which is removed: `(.., Name, ..) -> (.., ..)`.
///
/// The index is a [`Fin<Name>`](crate::tokens::Fin), or a `usize` that is compared with the size of the axis.
/// [`gather`](fn@super::gather) takes a different index for each element, [`unstack`](super::unstack) all indices.
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

/// The windows of `Window` neighbours along the axis `Len`: `out[.., n, .., w, ..] = input[.., n + w, ..]`.
///
/// `(.., Len, ..) -> (.., Windows<Len, Window>, .., Window, ..)`. The type of the result says where the axis `Window`
/// is. It is PyTorch's `unfold` with a step of 1.
///
/// # Errors
/// [`OpError::Range`] if the window is longer than a run-time axis.
///
/// ```
/// use typed_transformer::{dims::Windows, ops::windows, prelude::*};
/// dims! { pub SeqLen; pub Width = 2; }
/// let x: Tensor<(SeqLen,), f32, Cpu> = Cpu::default().tensor((vec![1.0, 2.0, 3.0], (SeqLen::new(3),)));
/// let pairs: Tensor<(Windows<SeqLen, Width>, Width), f32, Cpu> = windows(x, axis::<SeqLen>(), Width)?;
/// assert_eq!(pairs.as_vec(), [1.0, 2.0, 2.0, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn windows<
    Dims,
    Len: Dim,
    Window: WindowOf<Len>,
    Out,
    WhichAxis,
    WhichOutAxis,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    input: Tensor<Dims, E, D, T>,
    _: AxisOf<Len>,
    window: Window,
) -> Result<Tensor<Out, E, D, T>, OpError>
where
    Dims: HasAxis<Len, WhichAxis>,
    Out: BroadcastFrom<Dims::Replaced<Windows<Len, Window>>, Window, WhichOutAxis>,
{
    const OP: &str = "windows";
    let shape = *input.shape();
    let (_, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    if window.size() > len {
        return Err(range_error(OP, &window, 0, &shape.axis()));
    }
    let count = len - window.size() + 1;
    let mut out_sizes = sizes(&shape);
    out_sizes[Dims::INDEX] = count;
    out_sizes.insert(Out::INDEX, window.size());
    let out: Out = shape_of_sizes(OP, &out_sizes)?;
    // A step along the window is one along its axis. The axes after both are a run of the input, too.
    let mut strides: Vec<usize> = (0..Dims::NUM_DIMS).map(|axis| outer_len_inner(&shape, axis).2).collect();
    strides.insert(Out::INDEX, inner);
    let num_axes = 1 + Out::INDEX.max(Dims::INDEX + usize::from(Out::INDEX <= Dims::INDEX));
    let first = vec![0; usize::from(out.num_elements() > 0)];
    let starts = out_sizes.iter().zip(strides).take(num_axes).fold(first, |starts, (&size, stride)| {
        starts.iter().flat_map(|start| (0..size).map(move |index| start + index * stride)).collect()
    });
    let run = out_sizes[num_axes..].iter().product::<usize>().max(1);
    gather_runs(OP, input, starts, run, out)
}

/// The indices `start..start + part` of an axis.
pub(super) fn slice_axis<Dims, Len: Dim, Part: Dim, WhichAxis, E: Real, D: Backend<E>, T: Tape<E, D>>(
    op: &'static str,
    input: Tensor<Dims, E, D, T>,
    start: usize,
    part: Part,
) -> Result<Tensor<Dims::Replaced<Part>, E, D, T>, OpError>
where
    Dims: HasAxis<Len, WhichAxis>,
{
    let shape = *input.shape();
    let (outer, len, inner) = outer_len_inner(&shape, Dims::INDEX);
    let end = start.saturating_add(part.size());
    if end > len {
        return Err(range_error(op, &part, start, &shape.axis()));
    }
    let to = shape.replace_axis(part);
    ensure_not_empty(op, &to)?;
    // dfdx's gather of one index does not copy the other elements, and adds to the gradient of its input.
    if D::HAS_KERNELS || part.size() == 1 {
        return gather_runs(op, input, run_starts(outer, &[start], len, inner), part.size() * inner, to);
    }
    // The backward pass of dfdx's slice overwrites the gradient of its input, so the input is a copy.
    let input = if T::OWNS_TAPE { scale(input, 1.0)? } else { input };
    let blocks = reshape_to(op, input, (outer, len, inner))?;
    reshape_to(op, blocks.try_slice((.., start..end, ..)).map_err(device_error(op))?, to)
}
