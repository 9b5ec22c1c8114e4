use crate::{
    autograd::{KernelOutput, Operand, with_backward},
    simd::{add_assign, row_chunks, row_chunks_mut},
};
use dfdx::tensor::CpuError;

/// `(B, S, M), (S, M) -> (B, S, M)`: adds the position encodings to each sequence. The definition first
/// broadcasts them to the whole batch.
pub fn positions_kernel(input: Operand, positions: Operand) -> Result<KernelOutput, CpuError> {
    let sequence_len = positions.len();
    let mut y = input.alloc_output(input.len())?;
    y.copy_from_slice(input.elements());
    for sequence in row_chunks_mut(&mut y, sequence_len) {
        add_assign(sequence, positions.elements());
    }
    let output = input.new_tensor(y)?;

    let (input, positions) = (input.tensor.ghost(), positions.tensor.ghost());
    Ok(with_backward(output, move |dy, gradients| {
        add_assign(gradients.get_or_alloc_mut(&input)?, dy);
        let d_positions = gradients.get_or_alloc_mut(&positions)?;
        for d_sequence in row_chunks(dy, sequence_len) {
            add_assign(d_positions, d_sequence);
        }
        Ok(())
    }))
}
