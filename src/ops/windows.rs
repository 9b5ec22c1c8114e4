use super::concat_split::{outer_len_inner, sizes};
use super::gather::gather_runs;
use super::select::shape_of_sizes;
use super::{OpError, Real, range_error};
use crate::backend::{Backend, Tape};
use crate::dims::{AxisOf, BroadcastFrom, Dim, HasAxis, WindowOf, Windows};
use dfdx::shapes::HasShape;
use dfdx::tensor::Tensor;

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
    let (_, width, after_window) = outer_len_inner(&out, Out::INDEX);
    let offset = |position: usize| {
        let in_window = position / after_window % width;
        // The position without the axis of the window.
        let first = position / (after_window * width) * after_window + position % after_window;
        let (outer, start) = (first / (count * inner), first / inner % count);
        (outer * len + start + in_window) * inner + first % inner
    };
    // The axes after both that of the window and that of its places are a run of the input, too.
    let run = inner.min(after_window).max(1);
    gather_runs(OP, input, (0..out.num_elements()).step_by(run).map(offset).collect(), run, out)
}
