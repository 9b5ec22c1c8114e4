use super::{add_assign, gradient, read};
use crate::tokens::TokenIds;
use dfdx::{
    shapes::{ConstDim, Dim},
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};

/// Copies whole rows, where the definition finds each element's place by itself.
pub fn embed<B: Dim, S: Dim, V: ConstDim, M: ConstDim, T: Tape<f32, Cpu>>(
    table: &Tensor<(V, M), f32, Cpu>,
    ids: &TokenIds<B, S, V>,
    tape: T,
) -> Result<Tensor<(B, S, M), f32, Cpu, T>, CpuError> {
    let (table, table_tape) = table.retaped::<T>().try_contiguous()?.split_tape();
    let mut tape = tape.merge(table_tape);
    let (batch, len) = ids.shape();

    let rows = read(&table);
    let mut output = Vec::with_capacity(batch.size() * len.size() * M::SIZE);
    for id in ids.as_slice() {
        output.extend_from_slice(&rows[id * M::SIZE..][..M::SIZE]);
    }
    let output = table
        .device()
        .try_tensor_from_vec(output, (batch, len, M::default()))?;

    if T::OWNS_TAPE {
        let (ids, table, out) = (ids.clone(), table.ghost(), output.ghost());
        tape.add_backward_op(move |gradients| {
            let dy = std::mem::take(gradient!(gradients, out));
            let table = gradient!(gradients, table);
            for (id, dy) in ids.as_slice().iter().zip(dy.chunks_exact(M::SIZE.max(1))) {
                add_assign(&mut table[id * M::SIZE..][..M::SIZE], dy);
            }
            *gradient!(gradients, out) = dy;
            Ok(())
        });
    }
    Ok(output.put_tape(tape))
}
