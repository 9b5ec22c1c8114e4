use super::{add_assign, gradient, read};
use dfdx::{
    shapes::{ConstDim, Dim, HasShape},
    tensor::{Cpu, CpuError, PutTape, SplitTape, Tape, Tensor, TensorFromVec},
    tensor_ops::ReshapeTo,
};

/// One pass, where the definition makes two so that a tensor can be added to itself.
pub fn residual<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
    input: Tensor<(B, S, M), f32, Cpu, T>,
    output: Tensor<(B, S, M), f32, Cpu, T>,
) -> Result<Tensor<(B, S, M), f32, Cpu, T>, CpuError> {
    let shape = *input.shape();
    let (input, tape) = input.try_contiguous()?.split_tape();
    let (output, output_tape) = output.try_contiguous()?.split_tape();
    let mut tape = tape.merge(output_tape);

    let mut sum = read(&input);
    add_assign(&mut sum, &read(&output));
    let sum = input.device().try_tensor_from_vec(sum, shape)?;

    if T::OWNS_TAPE {
        let (input, output, out) = (input.ghost(), output.ghost(), sum.ghost());
        tape.add_backward_op(move |gradients| {
            let dy = std::mem::take(gradient!(gradients, out));
            add_assign(gradient!(gradients, input), &dy);
            add_assign(gradient!(gradients, output), &dy);
            *gradient!(gradients, out) = dy;
            Ok(())
        });
    }
    Ok(sum.put_tape(tape))
}
