use crate::{
    autograd::{Buffer, KernelOutput, Operand, Partition, with_backward},
    simd::{add_assign, row_chunks, row_chunks_mut},
};
use dfdx::tensor::CpuError;

/// The cost of an element, in multiply-adds.
const MACS_PER_ELEMENT: usize = 16;

/// `(B, S, M), (S, M) -> (B, S, M)`: adds the position encodings to each sequence. The definition first
/// broadcasts them to the whole batch.
pub fn positions_kernel(input: Operand, positions: Operand) -> Result<KernelOutput, CpuError> {
    let sequence_len = positions.len();
    let mut y = input.alloc_output(input.len())?;
    let partition = Partition::new(input.len() / sequence_len.max(1), MACS_PER_ELEMENT * sequence_len, usize::MAX);
    let chunks = partition.ranges().zip(partition.split_mut(&mut y, sequence_len));
    partition.map_chunks(chunks, |(sequences, y)| {
        y.copy_from_slice(sequences.slice(input.elements(), sequence_len));
        for sequence in row_chunks_mut(y, sequence_len) {
            add_assign(sequence, positions.elements());
        }
    });
    let output = input.new_tensor(y)?;

    let (input, positions) = (input.gradient, positions.gradient);
    Ok(with_backward(output, move |dy, gradients| {
        let mut d_positions = Buffer::zeros(sequence_len);
        for d_sequence in row_chunks(&dy, sequence_len) {
            add_assign(&mut d_positions, d_sequence);
        }
        positions.add(gradients, d_positions)?;
        input.add(gradients, dy)
    }))
}
