use super::{add_assign, gradient, read};
use dfdx::{
    shapes::{ConstDim, Dim, HasShape},
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};

/// Adds row by row, where the definition broadcasts.
pub fn add_positions<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
    input: Tensor<(B, S, M), f32, Cpu, T>,
    positions: Tensor<(S, M), f32, Cpu, T>,
) -> Result<Tensor<(B, S, M), f32, Cpu, T>, CpuError> {
    let shape = *input.shape();
    let (input, tape) = input.try_contiguous()?.split_tape();
    let (positions, positions_tape) = positions.try_contiguous()?.split_tape();
    let mut tape = tape.merge(positions_tape);

    let (mut y, p) = (read(&input), read(&positions));
    let sequence = p.len().max(1);
    y.chunks_exact_mut(sequence)
        .for_each(|sequence| add_assign(sequence, &p));
    let output = input.device().try_tensor_from_vec(y, shape)?;

    if T::OWNS_TAPE {
        let (input, positions, out) = (input.ghost(), positions.ghost(), output.ghost());
        tape.add_backward_op(move |gradients| {
            let dy = std::mem::take(gradient!(gradients, out));
            add_assign(gradient!(gradients, input), &dy);
            let dp = gradient!(gradients, positions);
            dy.chunks_exact(sequence)
                .for_each(|sequence| add_assign(dp, sequence));
            *gradient!(gradients, out) = dy;
            Ok(())
        });
    }
    Ok(output.put_tape(tape))
}
