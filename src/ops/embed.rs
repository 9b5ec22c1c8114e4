use super::gather::{gather_runs_by_dfdx, run_starts};
use super::{OpError, Real};
use crate::backend::{Backend, Tape, WeightTape, gather_kernel, read_weight, run_kernel, weight_on_tape};
use crate::dims::{ConstDim, Dim, MaybeSharded};
use crate::tokens::TokenIds;
use dfdx::tensor::Tensor;

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
    let ((batch, len), starts) = (ids.shape(), run_starts(1, ids.as_slice(), V::SIZE, M::SIZE));
    let shape = (batch, len, M::default());
    if D::HAS_KERNELS {
        return run_kernel(OP, shape, |out| {
            *out = tape;
            gather_kernel(read_weight(table, out)?, starts, M::SIZE)
        });
    }
    gather_runs_by_dfdx(OP, weight_on_tape(table, tape), starts, M::SIZE, shape)
}
