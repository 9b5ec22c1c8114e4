use crate::{
    autograd::{KernelOutput, Operand, with_backward},
    simd::add_assign,
};
use dfdx::tensor::CpuError;

/// `(N,), (N,) -> (N,)`: `input + branch` in one pass. The definition needs two, because dfdx cannot add a
/// tensor to itself.
pub fn residual_kernel(input: Operand, branch: Operand) -> Result<KernelOutput, CpuError> {
    let mut sum = input.alloc_output(input.len())?;
    sum.copy_from_slice(input.elements());
    add_assign(&mut sum, branch.elements());
    let output = input.new_tensor(sum)?;

    let (input, branch) = (input.tensor.ghost(), branch.tensor.ghost());
    Ok(with_backward(output, move |d_out, gradients| {
        add_assign(gradients.get_or_alloc_mut(&input)?, d_out);
        add_assign(gradients.get_or_alloc_mut(&branch)?, d_out);
        Ok(())
    }))
}
