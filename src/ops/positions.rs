use super::{OpError, Real, cast, device_error, dim_error, elementwise, gather::gather_runs_by_dfdx, range_error};
use crate::backend::{Arithmetic, Backend, Tape, gather_kernel, run_kernel, weight_on_tape};
use crate::dims::{ConstDim, Dim, Even, LengthOf, MaybeSharded, check_same_size};
use dfdx::shapes::{Axis, HasShape};
use dfdx::{tensor::Tensor, tensor_ops::BroadcastTo};

/// The first `S` rows of a table of learned positions (*The Typed Transformer*, "Embedder").
///
/// `(MaxSeqLen, M) -> (S, M)`, for an `S` that is a [length of](LengthOf) `MaxSeqLen` by type.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub MaxSeqLen = 3; pub EmbedDim = 2; pub SeqLen <= MaxSeqLen; }
/// let table: Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1]);
/// let rows: Tensor<(SeqLen, EmbedDim), f32, Cpu> =
///     learned_positions(&table, SeqLen::new(2)?)?;
/// assert_eq!(rows.as_vec(), [0.0, 0.1, 1.0, 1.1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn learned_positions<
    S: LengthOf<MaxSeqLen>,
    MaxSeqLen: ConstDim,
    M: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    table: &Tensor<(MaxSeqLen, M), E, D>,
    len: S,
) -> Result<Tensor<(S, M), E, D, T>, OpError> {
    learned_positions_from(table, 0, len)
}

/// [`learned_positions`] from position `start` on: `(MaxSeqLen, M) -> (S, M)`. A step of decoding reads those after the
/// positions in its cache.
///
/// # Errors
/// [`OpError::Range`] if the table has fewer rows.
///
/// ```
/// use typed_transformer::{ops::learned_positions_from, prelude::*};
/// dims! { pub MaxSeqLen = 3; pub EmbedDim = 2; pub SeqLen; }
/// let table: Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> =
///     Cpu::default().tensor(vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1]);
/// let rows: Tensor<(SeqLen, EmbedDim), f32, Cpu> = learned_positions_from(&table, 1, SeqLen::new(2))?;
/// assert_eq!(rows.as_vec(), [1.0, 1.1, 2.0, 2.1]);
/// let error = learned_positions_from::<_, _, _, _, _, NoneTape>(&table, 2, SeqLen::new(2)).unwrap_err();
/// assert_eq!(error.to_string(), "learned positions: SeqLen=2 from 2 on is not inside MaxSeqLen=3");
/// # Ok::<(), OpError>(())
/// ```
pub fn learned_positions_from<S: Dim, MaxSeqLen: ConstDim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    table: &Tensor<(MaxSeqLen, M), E, D>,
    start: usize,
    len: S,
) -> Result<Tensor<(S, M), E, D, T>, OpError> {
    const OP: &str = "learned positions";
    if start.saturating_add(len.size()) > MaxSeqLen::SIZE {
        return Err(range_error(OP, &len, start, &MaxSeqLen::default()));
    }
    if D::HAS_KERNELS {
        return run_kernel(OP, (len, M::default()), |tape| {
            gather_kernel(D::read_parameter(table, tape)?, vec![start * M::SIZE], len.size() * M::SIZE)
        });
    }
    let starts = (start..start + len.size()).map(|row| row * M::SIZE).collect();
    gather_runs_by_dfdx(OP, weight_on_tape(table, T::default()), starts, M::SIZE, (len, M::default()))
}

/// Sines and cosines of falling frequency, a row for each position ([*Attention Is All You
/// Need*](https://arxiv.org/abs/1706.03762), 3.5; *Another annotated transformer*, "Positional
/// encoding").
///
/// `-> (S, M)`: row `i` holds `sin(i / 10000^(2j/M))` in column `2j` and the cosine of the same angle
/// in column `2j + 1`, so `M` must be even.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 2; }
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> =
///     sinusoidal_positions(&Cpu::default(), SeqLen, EmbedDim)?;
/// assert_eq!(x.as_vec(), [0.0, 1.0, 1f32.sin(), 1f32.cos()]);
/// # Ok::<(), OpError>(())
/// ```
///
/// The result has no tape. [`add(x, &positions)`](super::add) adds it to a tensor that has one.
pub fn sinusoidal_positions<S: Dim, M: Even, E: Real, D: Backend<E>>(
    device: &D,
    len: S,
    width: M,
) -> Result<Tensor<(S, M), E, D>, OpError> {
    sinusoidal_positions_from(device, 0, len, width)
}

/// [`sinusoidal_positions`] from position `start` on. The caller guarantees by type that `M` is even.
pub(crate) fn sinusoidal_positions_from<S: Dim, M: ConstDim, E: Real, D: Backend<E>>(
    device: &D,
    start: usize,
    len: S,
    width: M,
) -> Result<Tensor<(S, M), E, D>, OpError> {
    let wavelength = |column: usize| 10_000f64.powf((column - column % 2) as f64 / M::SIZE as f64);
    let wavelengths: Vec<f64> = (0..M::SIZE).map(wavelength).collect();
    let element = |i: usize| {
        let (position, column) = (start + i / M::SIZE, i % M::SIZE);
        let angle = position as f64 / wavelengths[column];
        cast(if column % 2 == 0 { angle.sin() } else { angle.cos() })
    };
    let table: Vec<E> = (0..len.size() * M::SIZE).map(element).collect();
    device.try_tensor_from_vec(table, (len, width)).map_err(device_error("sinusoidal positions"))
}

/// `x + p`: the same positions added to every sequence of the batch.
///
/// `(B, S, M), (S, M) -> (B, S, M)`
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub EmbedDim = 2; pub SeqLen = 1; pub Batch = 2; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0, 4.0]);
/// let positions: Tensor<(SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![10.0, 20.0]);
/// assert_eq!(add_positions(x, positions)?.as_vec(), [11.0, 22.0, 13.0, 24.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn add_positions<B: MaybeSharded, S: Dim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, M), E, D, T>,
    positions: Tensor<(S, M), E, D, T>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    const OP: &str = "add positions";
    let shape @ (_, len, _) = *input.shape();
    check_same_size("the input", len, "the positions", positions.shape().0).map_err(dim_error(OP))?;
    let positions = positions.try_broadcast_like::<_, Axis<0>>(&shape).map_err(device_error(OP))?;
    elementwise(OP, Arithmetic::Add, input, positions)
}
