use crate::{
    autograd::{KernelOutput, Operand, with_backward},
    simd::add_assign,
};
use dfdx::tensor::CpuError;

/// `(N,), (N,) -> (N,)`: `input + sublayer_output` in one pass. The definition needs two, because dfdx cannot add a
/// tensor to itself.
pub fn residual_kernel(input: Operand, sublayer_output: Operand) -> Result<KernelOutput, CpuError> {
    let mut sum = input.alloc_output(input.len())?;
    sum.copy_from_slice(input.elements());
    add_assign(&mut sum, sublayer_output.elements());
    let output = input.new_tensor(sum)?;

    let (input, sublayer_output) = (input.tensor.ghost(), sublayer_output.tensor.ghost());
    Ok(with_backward(output, move |d_out, gradients| {
        add_assign(gradients.get_or_alloc_mut(&input)?, d_out);
        add_assign(gradients.get_or_alloc_mut(&sublayer_output)?, d_out);
        Ok(())
    }))
}
