use super::{OpError, Real, device_error, views::with_shape_type};
use crate::backend::{Backend, Tape, WeightTape, gather_kernel, read_weight, run_kernel, weight_on_tape};
use crate::dims::{ConstDim, Dim, MaybeSharded};
use crate::tokens::TokenIds;
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::GatherTo;

/// The row of `table` for each token id: `table[ids]`.
///
/// `(V, M), (B, S) ids of V -> (B, S, M)`
///
/// `tape` is `model.recording()` to record the operations for gradients, or `NoneTape`.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub VocabSize = 3; pub EmbedDim = 2; pub SeqLen = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let table: Tensor<(VocabSize, EmbedDim), f32, Cpu> =
///     device.tensor(vec![0.0, 0.1, 1.0, 1.1, 2.0, 2.1]);
/// let ids = TokenIds::from_ids(&[2, 0], None, (Batch, SeqLen))?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = embed(&table, &ids, NoneTape)?;
/// assert_eq!(x.as_vec(), [2.0, 2.1, 0.0, 0.1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn embed<
    B: MaybeSharded,
    S: Dim,
    V: ConstDim,
    M: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
    W: WeightTape<T, E, D>,
>(
    table: &Tensor<(V, M), E, D, W>,
    ids: &TokenIds<B, S, V>,
    tape: T,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    const OP: &str = "embed";
    if D::HAS_KERNELS {
        let (batch, len) = ids.shape();
        return run_kernel(OP, (batch, len, M::default()), tape, |tape| {
            Ok(gather_kernel(read_weight(table, tape)?, row_starts(ids.as_slice(), M::SIZE), M::SIZE)?)
        });
    }
    let error = device_error::<D::Err>(OP);
    let shape = (ids.shape().0.size(), ids.shape().1.size());
    let ids: Tensor<(usize, usize), usize, D> =
        table.device().try_tensor_from_vec(ids.as_slice().to_vec(), shape).map_err(&error)?;
    let table: Tensor<(usize, usize), E, D, T> = with_shape_type(OP, weight_on_tape(table, tape))?;
    let output: Tensor<(usize, usize, usize), E, D, T> = table.try_gather(ids).map_err(&error)?;
    with_shape_type(OP, output)
}

/// The places of the first elements of some rows of `width` elements.
fn row_starts(rows: &[usize], width: usize) -> Vec<usize> {
    rows.iter().map(|row| row * width).collect()
}
